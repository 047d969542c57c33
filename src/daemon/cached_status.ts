import { type Clock, isWithin } from "../clock.ts";
import type { Status } from "../operations/status.ts";
import type { Daemon } from "./schedule/events.ts";

/** What can be seen of the warehouse at this moment; `trouble` says for the log why nothing can. */
export type CachedStatus = { readonly status: Status } | { readonly status: undefined; readonly trouble: string };

export interface StatusSources {
  readonly read: () => Promise<Status>;
  readonly clock: Clock;
  /** Its runs change what there is to see. */
  readonly daemon: Pick<Daemon, "listen">;
  /**
   * How long one look serves. Short where looking costs nobody anything; longer for a file that readers and runs have to share
   * (`readers: direct`), where every look is in the way of a run for a moment.
   */
  readonly keptMs: number;
}

/** Prometheus gives a scrape 10 s. */
const PATIENCE_MS = 5_000;

/** Looks at the warehouse for whoever asks: at most one look at a time, however many ask. Never rejects. */
export function createCachedStatus({ read, clock, daemon, keptMs }: StatusSources): () => Promise<CachedStatus> {
  let kept: { readonly cachedStatus: CachedStatus; readonly at: number } | undefined;
  let looking: Promise<CachedStatus> | undefined;

  // What was seen before a run ended, or is being looked at right now, is no longer how it is.
  daemon.listen(event => {
    if (event.kind !== "finished") return;
    kept = undefined;
    looking = undefined;
  });

  function look(): Promise<CachedStatus> {
    const mine: Promise<CachedStatus> = read()
      .then(
        (status): CachedStatus => ({ status }),
        (error: unknown): CachedStatus => ({
          status: undefined,
          trouble: error instanceof Error ? error.message : String(error),
        }),
      )
      .then(cachedStatus => {
        if (looking === mine) {
          kept = { cachedStatus, at: clock.now() };
          looking = undefined;
        }
        return cachedStatus;
      });
    return mine;
  }

  return async () => {
    if (kept !== undefined && isWithin(clock, kept.at, keptMs)) return kept.cachedStatus;
    looking ??= look();
    const mine = looking;
    const seen = new AbortController();
    const late = clock.sleep(PATIENCE_MS, seen.signal).then(
      (): CachedStatus => ({
        status: undefined,
        trouble: `the warehouse did not answer within ${PATIENCE_MS / 1_000} s`,
      }),
      () => mine,
    );
    try {
      return await Promise.race([mine, late]);
    } finally {
      seen.abort();
    }
  };
}
