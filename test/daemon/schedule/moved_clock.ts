import type { Clock } from "../../../src/clock.ts";

/** Time that goes by only when it is told to, and then as fast as the sleepers let it. */
export interface MovedClock extends Clock {
  /** Lets time go by up to a moment (ISO 8601), waking every sleeper on the way. */
  until(moment: string): Promise<void>;
  /** The wall clock jumps while sleepers notice nothing, as when a machine sleeps; a negative time sets it back. */
  jump(ms: number): void;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
}

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

export function movedClock(start: string): MovedClock {
  // What sleepers wait for never jumps; the wall clock is it and an offset.
  let steady = 0;
  let offset = Date.parse(start);
  const sleepers = new Set<Sleeper>();
  const settle = async () => {
    for (let turn = 0; turn < 8; turn++) await new Promise<void>(resolve => setImmediate(resolve));
  };
  return {
    now: () => steady + offset,
    settle,
    jump(ms) {
      offset += ms;
    },
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const abort = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        const wake = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", abort);
          resolve();
        };
        const sleeper = { until: steady + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", abort, { once: true });
      });
    },
    async until(moment) {
      const target = Date.parse(moment) - offset;
      for (;;) {
        await settle();
        const next = [...sleepers].sort((a, b) => a.until - b.until)[0];
        if (next === undefined || next.until > target) break;
        steady = Math.max(steady, next.until);
        next.wake();
      }
      steady = Math.max(steady, target);
    },
  };
}
