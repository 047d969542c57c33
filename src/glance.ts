import type { Clock } from "./clock.ts";
import type { Status } from "./status.ts";

/** What can be seen of the warehouse at this moment; `trouble` says for the log why nothing can. */
export type Glance = { readonly status: Status } | { readonly status: undefined; readonly trouble: string };

/** So many looks a second as strangers like cost no more than one in this time. */
const KEPT_MS = 2_000;
/** Prometheus gives a scrape 10 s. */
const PATIENCE_MS = 5_000;

/** Looks at the warehouse for whoever asks: at most one look at a time, and its answer serves a moment longer. Never rejects. */
export function createGlance(read: () => Promise<Status>, clock: Clock): () => Promise<Glance> {
  let kept: { readonly glance: Glance; readonly at: number } | undefined;
  let looking: Promise<Glance> | undefined;

  const look = async (): Promise<Glance> => {
    const glance = await read().then(
      (status): Glance => ({ status }),
      (error: unknown): Glance => ({
        status: undefined,
        trouble: error instanceof Error ? error.message : String(error),
      }),
    );
    kept = { glance, at: clock.now() };
    looking = undefined;
    return glance;
  };

  return async () => {
    if (kept !== undefined && clock.now() - kept.at < KEPT_MS) return kept.glance;
    looking ??= look();
    const seen = new AbortController();
    const late = clock.sleep(PATIENCE_MS, seen.signal).then(
      (): Glance => ({ status: undefined, trouble: `the warehouse did not answer within ${PATIENCE_MS / 1_000} s` }),
      () => looking as Promise<Glance>,
    );
    try {
      return await Promise.race([looking, late]);
    } finally {
      seen.abort();
    }
  };
}
