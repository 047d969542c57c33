import { LockedError } from "../../errors.ts";
import { openReading, type WarehouseReading } from "../../warehouse/connect/reading.ts";
import { type History, historyOf } from "../../warehouse/read/run_history.ts";
import { RECENT_RUNS } from "../../warehouse/state/run_log.ts";

export type { History, PastRun, PastStreamRun, StreamHistory } from "../../warehouse/read/run_history.ts";

/**
 * Reads the last so many runs without a lock; undefined where nothing can be read at this moment: nothing was loaded yet, or a run
 * has a DuckDB file with `readers: direct`. @throws DestinationError, ConfigError
 */
export async function readHistory(
  where: Parameters<typeof openReading>[0],
  count = RECENT_RUNS,
): Promise<History | undefined> {
  let reading: WarehouseReading | undefined;
  try {
    reading = await openReading(where);
  } catch (error) {
    if (error instanceof LockedError) return undefined;
    throw error;
  }
  if (reading === undefined) return undefined;
  try {
    return await historyOf(reading, count);
  } finally {
    await reading.close();
  }
}
