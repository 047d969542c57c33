import { setImmediate as turn } from "node:timers/promises";
import { type Clock, systemClock } from "../../../src/clock.ts";

/** Time that only the test moves: months of it pass in seconds, and nobody sleeps past his hour. */
export interface VirtualClock {
  readonly now: () => number;
  readonly date: () => Date;
  /** For the daemon. Its sleeps end when `pass` comes to their end, and a machine that sleeps lengthens them. */
  readonly daemon: Clock;
  /** For its runs. A pause between requests costs no real time: it moves the hour. */
  readonly runs: Clock;
  /** To be called as a run begins, and at its first request. */
  readonly ran: { begins(): void; asks(): void };
  /** Lets time pass; whoever sleeps wakes at his moment, and `settle` waits until what he does then is done. It is told how many sleeps had begun before. */
  pass(until: number, settle: (sleepsBefore: number) => Promise<void>): Promise<void>;
  /** The machine sleeps: its clock jumps, and its timers stand still meanwhile, as those of Linux do. */
  suspend(until: number): void;
  /** How many sleeps the daemon has begun so far. */
  readonly sleeps: () => number;
  /** How many of them last. */
  readonly sleepers: () => number;
}

/** A run's longer sleeps are limits (--max-time, publish_every) and end only when so much time has passed. */
const PAUSE_MS = 120_000;

interface Sleeper {
  until: number;
  readonly wake: () => void;
}

/** `slept` is called whenever the daemon has begun to sleep. */
export function virtualClock(start: number, slept: () => void): VirtualClock {
  let now = start;
  let sleeps = 0;
  let asking = false;
  const asleep = new Set<Sleeper>();

  /** Whether somebody woke. */
  const moveTo = (moment: number): boolean => {
    now = Math.max(now, moment);
    const due = [...asleep].filter(sleeper => sleeper.until <= now).sort((a, b) => a.until - b.until);
    for (const sleeper of due) sleeper.wake();
    return due.length > 0;
  };
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const over = (): void => {
        asleep.delete(sleeper);
        signal?.removeEventListener("abort", aborted);
      };
      const aborted = (): void => {
        over();
        reject(signal?.reason);
      };
      const wake = (): void => {
        over();
        resolve();
      };
      const sleeper = { until: now + ms, wake };
      signal?.addEventListener("abort", aborted, { once: true });
      asleep.add(sleeper);
    });
  const pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
    const until = now + ms;
    // Before its first request a run waits for the database, which knows real time only.
    if (asking) await turn(undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
    else await systemClock.sleep(ms, signal);
    signal?.throwIfAborted();
    moveTo(until);
  };
  return {
    now: () => now,
    date: () => new Date(now),
    daemon: {
      now: () => now,
      sleep(ms, signal) {
        const ending = sleep(ms, signal);
        sleeps++;
        slept();
        return ending;
      },
    },
    runs: { now: () => now, sleep: (ms, signal) => (ms > PAUSE_MS ? sleep : pause)(ms, signal) },
    ran: {
      begins: () => {
        asking = false;
      },
      asks: () => {
        asking = true;
      },
    },
    async pass(until, settle) {
      for (;;) {
        const first = [...asleep].reduce((soonest, { until: end }) => Math.min(soonest, end), until);
        const before = sleeps;
        if (moveTo(first)) await settle(before);
        if (first >= until) return;
      }
    },
    suspend(until) {
      for (const sleeper of asleep) sleeper.until += until - now;
      now = until;
    },
    sleeps: () => sleeps,
    sleepers: () => asleep.size,
  };
}
