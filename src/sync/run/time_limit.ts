import type { Clock } from "../../clock.ts";
import { timespan } from "../../duration.ts";
import { StoppedError } from "../../errors.ts";

export interface TimeLimit {
  readonly maxTimeMs: number | undefined;
  readonly spentMs: number;
  /** What becomes of the work so far, for the message. */
  readonly outcome: string;
}

/** Calls `stop` with a StoppedError when what is left of --max-time is over, unless the signal comes first. */
export function limitTime(
  { maxTimeMs, spentMs, outcome }: TimeLimit,
  clock: Clock,
  signal: AbortSignal,
  stop: (error: unknown) => void,
): void {
  if (maxTimeMs === undefined) return;
  const over = `--max-time is over after ${timespan(maxTimeMs)}: ${outcome}`;
  clock.sleep(Math.max(0, maxTimeMs - spentMs), signal).then(
    () => stop(new StoppedError(over, 5)),
    () => undefined,
  );
}
