import PQueue from "p-queue";
import { ByteBudget } from "../byte_budget.ts";
import type { Clock } from "../clock.ts";
import { createCeiling, type Outcome } from "./adaptive_concurrency.ts";

/** What the limiter is doing; `limitedBy` is what keeps requests from going faster, in the words of the progress line. */
export interface LimiterState {
  readonly inFlight: number;
  readonly ceiling: number;
  readonly maximum: number;
  readonly waiting: number;
  /** Moment (ms since the epoch) until which every request waits after a 429. */
  readonly pausedUntil: number | undefined;
  readonly pauseReason: string | undefined;
  readonly limitedBy: "latency" | "in flight" | "ceiling" | "429";
  readonly limited: number;
}

/** One gate for every stream's requests: in flight, per second, and a pause for all. */
export interface Limiter {
  /** Runs the task when its turn comes, higher priority first; an abort while it waits rejects with the signal's reason. */
  run<T>(task: () => Promise<T>, priority?: number, signal?: AbortSignal): Promise<T>;
  /** Nothing starts for `ms`; the longest of several pauses counts. */
  pause(ms: number, reason: string): void;
  observe(outcome: Outcome): void;
  readonly state: LimiterState;
  /** What answers and the rows made of them may take, of all gates of a run together. */
  readonly memory: ByteBudget;
}

const lateMs = 10;

/** `maxConcurrency` in flight at most, begun with 2; `requestsPerSecond` spaces the starts evenly. Without `memory` there is no end to it. */
export function createLimiter(settings: {
  readonly maxConcurrency: number;
  readonly requestsPerSecond?: number | undefined;
  readonly clock: Clock;
  readonly memory?: ByteBudget;
}): Limiter {
  const { clock, maxConcurrency, requestsPerSecond, memory = new ByteBudget(Number.POSITIVE_INFINITY) } = settings;
  const ceiling = createCeiling(maxConcurrency);
  const queue = new PQueue({ concurrency: ceiling.now });
  const spacing = requestsPerSecond === undefined ? 0 : 1000 / requestsPerSecond;
  let nextStart = Number.NEGATIVE_INFINITY;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let pausedFor = 0;
  let pauseReason: string | undefined;
  let limited = 0;
  let timer: AbortController | undefined;

  function arm(): void {
    if (timer !== undefined || queue.size === 0) return;
    const now = clock.now();
    // A clock that was set back must not turn a wait of seconds into one of hours.
    const wait = Math.max(Math.min(pausedUntil - now, pausedFor), Math.min(nextStart - now, spacing));
    if (wait <= 0) {
      open();
      return;
    }
    const armed = new AbortController();
    timer = armed;
    clock.sleep(Math.ceil(wait), armed.signal).then(
      () => {
        timer = undefined;
        arm();
      },
      () => {},
    );
  }

  function open(): void {
    if (pauseReason !== undefined) ceiling.resume();
    pauseReason = undefined;
    pausedFor = 0;
    queue.start();
  }

  // A long pause must not keep the process alive once nobody waits for its end.
  function disarm(): void {
    if (queue.size > 0) return;
    timer?.abort();
    timer = undefined;
  }

  function space(): void {
    const now = clock.now();
    // A timer that came late is made up for; time nobody used is not.
    const due = nextStart <= now && now - nextStart <= lateMs ? nextStart : now;
    nextStart = due + spacing;
    if (nextStart <= now) return;
    queue.pause();
    arm();
  }

  return {
    memory,
    run(task, priority = 0, signal) {
      const paced = () => {
        if (spacing > 0) space();
        return task();
      };
      const result = queue.add(paced, signal === undefined ? { priority } : { priority, signal });
      if (queue.isPaused) arm();
      if (signal !== undefined) result.catch(disarm);
      return result as ReturnType<typeof task>;
    },
    pause(ms, reason) {
      pausedUntil = Math.max(pausedUntil, clock.now() + ms);
      pausedFor = Math.max(pausedFor, ms);
      pauseReason = reason;
      queue.pause();
      arm();
    },
    observe(outcome) {
      if (outcome.limited) limited += 1;
      ceiling.observe(outcome);
      if (queue.concurrency !== ceiling.now) queue.concurrency = ceiling.now;
    },
    get state() {
      const paused = pauseReason !== undefined && pausedUntil > clock.now();
      const limitedBy = (): LimiterState["limitedBy"] => {
        if (paused) return "429";
        if (queue.size === 0) return "latency";
        if (queue.isPaused) return "ceiling";
        if (ceiling.cause === "429") return "429";
        return ceiling.cause === "slow" ? "latency" : "in flight";
      };
      return {
        inFlight: queue.pending,
        ceiling: ceiling.now,
        maximum: maxConcurrency,
        waiting: queue.size,
        pausedUntil: paused ? pausedUntil : undefined,
        pauseReason: paused ? pauseReason : undefined,
        limitedBy: limitedBy(),
        limited,
      };
    },
  };
}
