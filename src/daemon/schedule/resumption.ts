import type { Schedule } from "../../config/config.ts";
import type { Timetable } from "../../config/cron.ts";
import type { PastRun } from "./past.ts";
import { retryTime, worthRetrying } from "./retry.ts";

/** The run that makes up for what happened while no daemon was up. */
export interface Resumption {
  readonly at: number;
  readonly cause: "missed" | "retry";
  readonly failures: number;
}

/**
 * What a schedule owes when the daemon comes up, by its runs, newest first: one run where an occurrence lies between the
 * last one's start and now; the rest of one that was stopped; the next try of one that failed or was killed.
 * Undefined where nothing is owed, and where the schedule never ran.
 */
export function resumption(
  schedule: Schedule,
  timetable: Timetable,
  past: readonly PastRun[],
  { now, regular }: { readonly now: number; readonly regular: number | undefined },
): Resumption | undefined {
  const last = past[0];
  if (last === undefined) return undefined;
  // One that began later than now did so by a clock that has been set right since: nobody knows what came after it.
  const isOver = ({ startedAt }: PastRun) =>
    startedAt > now || (timetable.next(startedAt) ?? Number.POSITIVE_INFINITY) <= now;
  if (isOver(last)) return { at: now, cause: "missed", failures: 0 };
  const failed = past.filter(run => !isOver(run) && isFailure(run)).length;
  if (last.exitCode === 130 || last.exitCode === 143) return { at: now, cause: "retry", failures: failed };
  if (!isFailure(last)) return undefined;
  const at = retryTime(schedule, failed, last.finishedAt ?? now, regular);
  return at === undefined ? undefined : { at: Math.max(at, now), cause: "retry", failures: failed };
}

// A killed run has no exit code, and may have been what brought the machine down: its next try waits like any other.
const isFailure = ({ exitCode }: PastRun): boolean => exitCode === undefined || worthRetrying(exitCode);
