import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../src/clock.ts";

/** A clock that only `advance` moves; sleepers wake in order, each seeing its own moment. */
export interface ManualClock extends Clock {
  advance(ms: number): Promise<void>;
  readonly sleepers: number;
}

export function manualClock(start = 1_000_000): ManualClock {
  let now = start;
  const sleeping = new Set<{ at: number; wake: () => void }>();
  return {
    now: () => now,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        const sleeper = { at: now + ms, wake: resolve };
        sleeping.add(sleeper);
        signal?.addEventListener("abort", () => {
          sleeping.delete(sleeper);
          reject(signal.reason);
        });
      });
    },
    get sleepers() {
      return sleeping.size;
    },
    async advance(ms) {
      const until = now + ms;
      for (;;) {
        await setImmediate();
        const next = [...sleeping].sort((a, b) => a.at - b.at)[0];
        if (next === undefined || next.at > until) break;
        sleeping.delete(next);
        now = Math.max(now, next.at);
        next.wake();
      }
      now = until;
    },
  };
}

/** A clock on which every sleep is over at once, and noted in `waits`. */
export function hastyClock(start = Date.now()): Clock & { readonly waits: number[] } {
  let now = start;
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      waits.push(ms);
      now += ms;
      await setImmediate();
    },
  };
}
