import { vi } from "vitest";
import type { Clock } from "../../../src/clock.ts";

/** Time that moves only when the test says so. */
export interface HandClock extends Clock {
  advance(ms: number): void;
  /** The pauses that are being waited for, in ms. */
  pauses(): readonly number[];
}

export function handClock(at = "2026-03-15T02:30:00.000Z"): HandClock {
  let now = Date.parse(at);
  const sleepers = new Set<{ readonly ms: number; readonly until: number; readonly wake: () => void }>();
  return {
    now: () => now,
    pauses: () => [...sleepers].map(sleeper => sleeper.ms),
    advance(ms) {
      now += ms;
      for (const sleeper of [...sleepers]) if (sleeper.until <= now) sleeper.wake();
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { ms, until: now + ms, wake: () => end(resolve) };
        const end = (settle: () => void) => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", abort);
          settle();
        };
        const abort = () => end(() => reject(signal?.reason));
        signal?.addEventListener("abort", abort, { once: true });
        sleepers.add(sleeper);
      }),
  };
}

/** Waits for something that takes real time: a connection, a child process. Fails with the last complaint. */
export const eventually = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: 120_000, interval: 10 });
