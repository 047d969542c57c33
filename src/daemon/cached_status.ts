import type { Stream } from "../catalog/stream.ts";
import { type Clock, isWithin, withTimeLimit } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { isShared } from "../config/destination.ts";
import { readStatus, type Status } from "../operations/status.ts";
import type { Daemon } from "./schedule/events.ts";

/** The warehouse's status, or in `trouble` why it cannot be read. */
export type CachedStatus = { readonly status: Status } | { readonly status: undefined; readonly trouble: string };

/** The warehouse's status for page, metrics, health and notifications, which share one reading. */
export interface StatusCache {
  /** Waits for the reading, and rejects where it fails. */
  read(): Promise<Status>;
  /** Takes 5 s at most, and never rejects. */
  look(): Promise<CachedStatus>;
}

export interface StatusSources {
  readonly read: () => Promise<Status>;
  readonly clock: Clock;
  /** The end of its runs, and another configuration, make a kept reading invalid. */
  readonly daemon: Pick<Daemon, "listen"> | undefined;
  readonly keptMs: () => number;
}

/** Prometheus gives a scrape 10 s. */
const PATIENCE_MS = 5_000;

export function createStatusCache({ read, clock, daemon, keptMs }: StatusSources): StatusCache {
  let kept: { readonly reading: Promise<Status>; at?: number } | undefined;

  // Also a reading that is under way is outdated.
  daemon?.listen(event => {
    if (event.kind === "finished" || event.kind === "reloaded") kept = undefined;
  });

  function latest(): Promise<Status> {
    if (kept !== undefined && (kept.at === undefined || isWithin(clock, kept.at, keptMs()))) return kept.reading;
    const mine: typeof kept = { reading: read() };
    const end = () => {
      mine.at = clock.now();
    };
    mine.reading.then(end, end);
    kept = mine;
    return mine.reading;
  }

  return {
    read: latest,
    look() {
      const found = latest().then(
        (status): CachedStatus => ({ status }),
        (error: unknown) => unknownStatus(error instanceof Error ? error.message : String(error)),
      );
      const late = unknownStatus(`the warehouse did not answer within ${PATIENCE_MS / 1_000} s`);
      return withTimeLimit(clock, PATIENCE_MS, found, late);
    },
  };
}

const unknownStatus = (trouble: string): CachedStatus => ({ status: undefined, trouble });

/** Each reading of a shared file (`readers: direct`) blocks a run for a moment. */
const KEPT_MS = { shared: 60_000, other: 1_000 } as const;

/** The status of the configuration's warehouse: a daemon may load another configuration meanwhile. */
export function statusCacheOf(
  config: () => Config,
  catalogue: readonly Stream[],
  company: string | undefined,
  { clock, daemon }: Pick<StatusSources, "clock" | "daemon">,
): StatusCache {
  const keptMs = () => (isShared(config().destination) ? KEPT_MS.shared : KEPT_MS.other);
  return createStatusCache({ read: () => readStatus(config(), catalogue, company), clock, daemon, keptMs });
}
