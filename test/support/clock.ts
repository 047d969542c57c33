import type { Clock } from "../../src/clock.ts";

/** Time that stands still unless it is moved. */
export interface StillClock extends Clock {
  advance(ms: number): void;
  date(): Date;
}

/** Pauses up to this long take a tenth of it and then move the time; longer ones wait for `advance`. */
const SHORT_MS = 120_000;

export function stillClock(at = "2026-03-15T12:00:00.000Z"): StillClock {
  let now = Date.parse(at);
  const waiting = new Set<() => void>();
  const advance = (ms: number) => {
    now += ms;
    for (const look of [...waiting]) look();
  };
  return {
    now: () => now,
    date: () => new Date(now),
    advance,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const until = now + ms;
        const end = () => {
          waiting.delete(look);
          signal?.removeEventListener("abort", abort);
        };
        const abort = () => {
          end();
          reject(signal?.reason);
        };
        const look = () => {
          if (now < until) return;
          end();
          resolve();
        };
        signal?.addEventListener("abort", abort, { once: true });
        waiting.add(look);
        if (ms <= SHORT_MS) setTimeout(() => waiting.has(look) && advance(Math.max(0, until - now)), ms / 10);
      });
    },
  };
}
