import { Cron } from "croner";

/** A cron expression of five or six fields (seconds first) and the IANA zone whose clock it speaks of. */
export interface CronTime {
  readonly cron: string;
  readonly timezone: string;
}

/** The occurrences of a schedule, in ms since the epoch. */
export interface Timetable {
  /** The first occurrence after a moment; undefined when there is none. */
  next(after: number): number | undefined;
  /** The last occurrence not after a moment; undefined when there was none. */
  last(until: number): number | undefined;
}

/**
 * The occurrences of an expression. A time that the change to summer time skips is due right after the jump, one that the
 * change back repeats is due once; expressions with * or steps in their hours and minutes go by real time instead.
 * @throws Error that says what is wrong with the expression
 */
export function timetableOf(time: CronTime): Timetable {
  const expression = expressionOf(time);
  return {
    next: after => expression.nextRun(new Date(after))?.getTime(),
    // previousRuns leaves out the second that it is given.
    last: until => expression.previousRuns(1, new Date(until + 1_000))[0]?.getTime(),
  };
}

const expressionOf = ({ cron, timezone }: CronTime): Cron =>
  new Cron(cron, { timezone, paused: true, mode: "5-or-6-parts", fixedTimeRule: "no-wildcard" });

/** What is wrong with an expression; undefined for one that has an occurrence after `now`. */
export function cronFault(time: CronTime, now: number): string | undefined {
  try {
    if (timetableOf(time).next(now) !== undefined) return undefined;
    return "expected a time that comes, but the calendar has no such day";
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error);
    return `expected a cron expression such as "0 2 * * *" (minute hour day month weekday; seconds may stand before them), but: ${why}`;
  }
}

/** The next `count` occurrences after a moment, soonest first. @throws Error like `timetableOf` */
export function nextTimes(time: CronTime, after: number, count: number): readonly number[] {
  return expressionOf(time)
    .nextRuns(count, new Date(after))
    .map(at => at.getTime());
}

/** The schedule that is due first after a moment; undefined without one. Expressions that nobody can read are left out. */
export function soonest(
  schedules: readonly (CronTime & { readonly name: string })[],
  after: number,
): { readonly schedule: string; readonly at: number } | undefined {
  return schedules
    .flatMap(schedule => {
      if (cronFault(schedule, after) !== undefined) return [];
      return nextTimes(schedule, after, 1).map(at => ({ schedule: schedule.name, at }));
    })
    .sort((a, b) => a.at - b.at)[0];
}
