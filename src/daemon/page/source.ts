import type { Config } from "../../config/config.ts";
import { LockedError } from "../../errors.ts";
import type { Status } from "../../operations/status.ts";
import { looking } from "../../warehouse/connect/reading.ts";
import { type History, historyOf } from "../../warehouse/read/run_history.ts";
import { RECENT_RUNS } from "../../warehouse/state/run_log.ts";
import type { StatusCache } from "../cached_status.ts";
import type { Daemon } from "../schedule/events.ts";

export interface PageSource {
  /** Data older than this is late. */
  lateAfterMs(): number;
  /** The same object until it is read again. */
  status(): Promise<Status>;
  /** Undefined where nothing can be read at this moment. */
  history(): Promise<History | undefined>;
  /** Undefined where the page is served without a daemon. */
  readonly daemon: Pick<Daemon, "live" | "nextRuns" | "last" | "refusal" | "listen"> | undefined;
}

/** The warehouse of the configuration as it is at each look: a daemon may load another one meanwhile. */
export function warehouseSource(
  config: () => Config,
  status: StatusCache,
  company: string | undefined,
  daemon: PageSource["daemon"],
): PageSource {
  return {
    lateAfterMs: () => config().freshness.lateAfterMs,
    status: status.read,
    history: async () => {
      const history = await readHistory(config().destination);
      return company === undefined ? history : history && ofCompany(history, company);
    },
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

/**
 * Reads the last so many runs without a lock; undefined where nothing can be read at this moment: nothing was loaded yet, or a run
 * has a DuckDB file with `readers: direct`. @throws DestinationError, ConfigError
 */
export async function readHistory(
  where: Parameters<typeof looking>[0],
  count = RECENT_RUNS,
): Promise<History | undefined> {
  try {
    return await looking(where, reading => historyOf(reading, count));
  } catch (error) {
    if (error instanceof LockedError) return undefined;
    throw error;
  }
}
