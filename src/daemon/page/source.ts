import type { StreamGroup } from "../../catalog/stream.ts";
import type { Config } from "../../config/config.ts";
import { LockedError } from "../../errors.ts";
import type { Status } from "../../operations/status.ts";
import { looking, type WarehouseReading } from "../../warehouse/connect/reading.ts";
import { type History, historyOf } from "../../warehouse/read/run_history.ts";
import { type StreamRecord, streamRecordOf } from "../../warehouse/read/stream_record.ts";
import { RECENT_RUNS } from "../../warehouse/state/run_log.ts";
import type { StatusCache } from "../cached_status.ts";
import type { Daemon } from "../schedule/events.ts";

export interface PageSource {
  lateAfterMs(): number;
  /** The same object until it is read again. */
  status(): Promise<Status>;
  /** Undefined where nothing can be read at this moment. */
  history(): Promise<History | undefined>;
  /** Undefined where nothing can be read at this moment. */
  record(company: string, stream: string): Promise<StreamRecord | undefined>;
  readonly groups: readonly Subject[];
  /** Undefined where the page is served without a daemon. */
  readonly daemon: Pick<Daemon, "live" | "nextRuns" | "last" | "refusal" | "listen"> | undefined;
}

export interface Subject {
  readonly title: string;
  readonly streams: readonly { readonly name: string }[];
}

export interface Shown {
  readonly company: string | undefined;
  readonly groups: readonly StreamGroup[];
}

/** The warehouse of the configuration as it is at each look: a daemon may load another one meanwhile. */
export function warehouseSource(
  config: () => Config,
  status: StatusCache,
  { company, groups }: Shown,
  daemon: PageSource["daemon"],
): PageSource {
  return {
    lateAfterMs: () => config().freshness.lateAfterMs,
    status: status.read,
    history: async () => {
      const history = await readHistory(config().destination);
      return company === undefined ? history : history && ofCompany(history, company);
    },
    record: (of, stream) => lookingIfFree(config().destination, reading => streamRecordOf(reading, of, stream)),
    groups,
    daemon,
  };
}

function ofCompany(history: History, company: string): History {
  const own = (part: { readonly company: string }) => part.company === company;
  return {
    runs: history.runs.map(run => ({ ...run, streams: run.streams.filter(own) })),
    streams: history.streams.filter(own),
  };
}

/** Reads the last so many runs without a lock; undefined where nothing can be read at this moment. @throws DestinationError, ConfigError */
export const readHistory = (where: Parameters<typeof looking>[0], count = RECENT_RUNS): Promise<History | undefined> =>
  lookingIfFree(where, reading => historyOf(reading, count));

/** Undefined where nothing was loaded yet, or a run has a DuckDB file with `readers: direct`. */
async function lookingIfFree<T>(
  where: Parameters<typeof looking>[0],
  look: (reading: WarehouseReading) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await looking(where, look);
  } catch (error) {
    if (error instanceof LockedError) return undefined;
    throw error;
  }
}
