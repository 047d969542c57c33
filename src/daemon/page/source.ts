import type { Config } from "../../config/config.ts";
import type { Status } from "../../operations/status.ts";
import type { StatusCache } from "../cached_status.ts";
import type { Daemon } from "../schedule/events.ts";
import { type History, readHistory } from "./history.ts";

/** Where the page gets what it shows. */
export interface PageSource {
  /** Data older than this is late. */
  lateAfterMs(): number;
  /** The same object until it is read again. */
  status(): Promise<Status>;
  /** Undefined where nothing can be read at this moment. */
  history(): Promise<History | undefined>;
  /** What a daemon knows beside the warehouse; undefined where the page is served without one. */
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
