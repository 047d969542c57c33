import type { Stream } from "../../catalog/stream.ts";
import type { Config } from "../../config/config.ts";
import { readStatus, type Status } from "../../operations/status.ts";
import type { Daemon } from "../schedule/events.ts";
import { type History, readHistory } from "./history.ts";

/** Where the page gets what it shows. */
export interface PageSource {
  /** Data older than this is late. */
  lateAfterMs(): number;
  /** How long one look at the warehouse serves, in ms. */
  keptMs(): number;
  status(): Promise<Status>;
  /** Undefined where nothing can be read at this moment. */
  history(): Promise<History | undefined>;
  /** What a daemon knows beside the warehouse; undefined where the page is served without one. */
  readonly daemon: Pick<Daemon, "live" | "nextRuns" | "last" | "listen"> | undefined;
}

/** A file that readers and runs have to share is in the way of a run for a moment whenever it is looked at. */
const KEPT_MS = { shared: 60_000, other: 1_000 } as const;

const isShared = ({ destination }: Config): boolean =>
  destination.type === "duckdb" && destination.readers === "direct";

/** The warehouse of the configuration as it is at each look: a daemon may load another one meanwhile. */
export function warehouseSource(
  config: () => Config,
  catalogue: readonly Stream[],
  company: string | undefined,
  daemon: PageSource["daemon"],
): PageSource {
  return {
    lateAfterMs: () => config().freshness.lateAfterMs,
    keptMs: () => (isShared(config()) ? KEPT_MS.shared : KEPT_MS.other),
    status: () => readStatus(config(), catalogue, company),
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
