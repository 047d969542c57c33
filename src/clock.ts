import { setTimeout as wait } from "node:timers/promises";

/** Time as a collaborator, so that tests can decide it. `now` is ms since the epoch; an aborted `sleep` rejects with the signal's reason. */
export interface Clock {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
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
