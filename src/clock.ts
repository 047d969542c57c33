import { addAbortListener } from "node:events";
import { setTimeout as wait } from "node:timers/promises";

/** Time as a collaborator, so that tests can decide it. `now` is ms since the epoch; an aborted `sleep` rejects with the signal's reason. */
export interface Clock {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Whether less than `ms` has passed since a moment. One that lies ahead is of a clock that was set back since: nobody knows how long ago it was. */
export function isWithin(clock: Pick<Clock, "now">, since: number, ms: number): boolean {
  const age = clock.now() - since;
  return age >= 0 && age < ms;
}

// A longer Node timer fires at once.
const longestTimerMs = 2_147_483_647;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    try {
      for (let left = ms; left > 0; left -= longestTimerMs) {
        await wait(Math.min(left, longestTimerMs), undefined, signal ? { signal } : undefined);
      }
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};

/** What `work` resolves to, or `late` where that takes longer than `ms`; `work` itself goes on. */
export async function withTimeLimit<T, L>(clock: Clock, ms: number, work: Promise<T>, late: L): Promise<T | L> {
  const over = new AbortController();
  const timer = clock.sleep(ms, over.signal).then(
    () => late,
    () => late,
  );
  try {
    return await Promise.race([work, timer]);
  } finally {
    over.abort();
  }
}

/** What the work comes to, unless the signal is aborted first; the work itself goes on. @throws the signal's reason */
export async function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  using _listening = addAbortListener(signal, () => reject(signal.reason));
  return await Promise.race([work, promise]);
}
