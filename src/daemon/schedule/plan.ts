import type { Config, HooksConfig, Schedule } from "../../config/config.ts";
import { type Timetable, timetableOf } from "../../config/cron.ts";
import { HOOK } from "../../config/schedules.ts";
import type { NamedRows } from "../../operations/refresh.ts";
import type { RunReport } from "../../sync/run/run.ts";
import { type Turn, turnOf } from "./order.ts";
import type { PastRun } from "./past_runs.ts";
import { RefreshQueue } from "./refresh_queue.ts";

/** One schedule: its next regular start, what waits for the run before it to end, and its next retry. */
interface Line {
  readonly schedule: Schedule;
  readonly timetable: Timetable;
  regular: number | undefined;
  waiting: Turn | undefined;
  retry: Turn | undefined;
}

// Smaller corrections of the machine's clock are normal and change nothing.
const BACKWARDS_MS = 60_000;
/** From the first hint to its run; further hints until then change nothing. */
const DEBOUNCE_MS = 60_000;
/** From the start of one run of a hint to the next one's; a run of a hint waits as long for another run. */
const AT_MOST_EVERY_MS = 300_000;

/** Which run starts next, and when. It has no clock: callers pass the time. */
export class Plan {
  readonly #lateMs: number;
  #lines: readonly Line[] = [];
  #hooks: HooksConfig | undefined;
  /** The streams of a hint's run. */
  #hinted: readonly string[] = [];
  #hint: Turn | undefined;
  #lastHint: number | undefined;
  #lastLook: number;
  readonly #refreshes = new RefreshQueue();

  /** An occurrence that is noticed more than `lateMs` late counts as missed. */
  constructor(now: number, lateMs: number) {
    this.#lateMs = lateMs;
    this.#lastLook = now;
  }

  /** Takes over a new configuration; what is waiting or to be retried stays, where its schedule does. */
  replace({ schedules, hooks }: Pick<Config, "schedules" | "hooks">, hinted: readonly string[], now: number): void {
    this.#lines = schedules.map(schedule => this.#lineOf(schedule, now));
    this.#hooks = hooks;
    this.#hinted = hinted;
    if (this.#hint !== undefined)
      this.#hint = hooks === undefined || hinted.length === 0 ? undefined : this.#hintAt(this.#hint.at);
  }

  /** Notes what has become due, without taking it. */
  look(now: number): void {
    if (now < this.#lastLook - BACKWARDS_MS) this.#startOver(now);
    for (const line of this.#lines) {
      if (line.regular !== undefined && line.regular <= now) {
        const cause = now - line.regular > this.#lateMs ? "missed" : "schedule";
        line.waiting ??= turnOf(line.schedule, line.regular, cause);
        line.retry = undefined;
        line.regular = line.timetable.next(now);
      }
      if (line.retry !== undefined && line.retry.at <= now) {
        line.waiting ??= line.retry;
        line.retry = undefined;
      }
    }
    this.#lastLook = now;
  }

  /** Takes the turn that is due; of several the one that has been due longest. */
  take(now: number): Turn | undefined {
    this.look(now);
    const hint = this.#hint;
    const due = [
      ...this.#lines.flatMap(line => line.waiting ?? []),
      ...(hint && hint.at <= now ? [hint] : []),
      ...this.#refreshes.waiting.filter(({ at }) => at <= now),
    ];
    const first = due.toSorted((a, b) => a.at - b.at)[0];
    if (first !== undefined && first === hint) {
      this.#hint = undefined;
      this.#lastHint = now;
    }
    if (first !== undefined) this.#refreshes.take(first);
    for (const line of this.#lines) if (line.waiting === first) line.waiting = undefined;
    return first;
  }

  /** What will run, soonest first. */
  upcoming(): readonly Turn[] {
    const regular = this.#lines.flatMap(({ schedule, regular: at }) =>
      at === undefined ? [] : turnOf(schedule, at, "schedule"),
    );
    const others = this.#lines.flatMap(({ waiting, retry }) => [waiting, retry]);
    return [...others, this.#hint, ...this.#refreshes.waiting, ...regular]
      .filter(turn => turn !== undefined)
      .sort((a, b) => a.at - b.at);
  }

  /** Records how a turn ended; returns when it is tried again, if it is. */
  ended(turn: Turn, outcome: RunReport | { readonly exit_code: number }, now: number): number | undefined {
    if (turn.rows !== undefined && worthRetrying(outcome.exit_code)) return this.#refreshes.retry(turn, now);
    const line = this.#lineNamed(turn.schedule);
    if (line === undefined || !worthRetrying(outcome.exit_code)) return undefined;
    this.look(now);
    // A run of the schedule is due already and does the same work.
    if (line.waiting !== undefined) return undefined;
    const failures = turn.failures + 1;
    const at = retryTime(line.schedule, failures, now, line.regular);
    if (at === undefined) return undefined;
    const left = "streams" in outcome ? unsuccessful(outcome) : { names: [] };
    const names = left.names.length > 0 ? left.names : turn.names;
    line.retry = turnOf(line.schedule, at, "retry", { failures, names, company: left.company ?? turn.company });
    return at;
  }

  /** Makes up for what was missed or cut short while no daemon was up. `past` is the schedule's, newest first. */
  resume(schedule: string, past: readonly PastRun[], now: number): Turn | undefined {
    const line = this.#lineNamed(schedule);
    if (line === undefined || line.waiting !== undefined || line.retry !== undefined) return undefined;
    const found = resumption(line, past, now);
    if (found === undefined) return undefined;
    const turn = turnOf(line.schedule, found.at, found.cause, { failures: found.failures });
    if (found.at <= now) line.waiting = turn;
    else line.retry = turn;
    return turn;
  }

  /** Plans a run of the hinted streams soon; false where the configuration has no hooks or nothing to run for them. */
  hint(now: number): boolean {
    if (this.#hooks === undefined || this.#hinted.length === 0) return false;
    // Too soon after the last run of a hook it is delayed, not dropped.
    this.#hint ??= this.#hintAt(
      Math.max(now + DEBOUNCE_MS, (this.#lastHint ?? Number.NEGATIVE_INFINITY) + AT_MOST_EVERY_MS),
    );
    return true;
  }

  /** Plans a run that fetches the details of these rows, now or behind the run under way; false where too many wait. */
  refresh(rows: NamedRows, now: number): boolean {
    return this.#refreshes.add(rows, now, AT_MOST_EVERY_MS);
  }

  unrefreshed(): readonly NamedRows[] {
    return this.#refreshes.waiting.map(({ rows }) => rows);
  }

  #lineNamed(name: string): Line | undefined {
    return this.#lines.find(line => line.schedule.name === name);
  }

  #lineOf(schedule: Schedule, now: number): Line {
    const timetable = timetableOf(schedule);
    const before = this.#lineNamed(schedule.name);
    const same = before?.schedule.cron === schedule.cron && before.schedule.timezone === schedule.timezone;
    return {
      schedule,
      timetable,
      regular: same ? before.regular : timetable.next(now),
      waiting: before?.waiting && renewed(before.waiting, schedule),
      retry: before?.retry && renewed(before.retry, schedule),
    };
  }

  #hintAt(at: number): Turn {
    const limits = { company: undefined, maxTimeMs: undefined, waitMs: AT_MOST_EVERY_MS };
    return { schedule: HOOK, at, cause: "hint", failures: 0, names: this.#hinted, ...limits };
  }

  /** After the clock was set back the planned starts are too far ahead. */
  #startOver(now: number): void {
    for (const line of this.#lines) line.regular = line.timetable.next(now);
    this.#lastHint = undefined;
    this.#refreshes.startOver(now);
    if (this.#hint !== undefined) this.#hint = this.#hintAt(now + DEBOUNCE_MS);
  }
}

/** A turn with its schedule's new settings; a retry keeps the streams that failed. */
function renewed({ at, cause, failures, names, company }: Turn, schedule: Schedule): Turn {
  return turnOf(schedule, at, cause, { failures, ...(cause === "retry" && { names, company }) });
}

/**
 * What a schedule owes when the daemon comes up, by its runs, newest first: one run where an occurrence lies between the
 * last one's start and now; the rest of one that was stopped; the next try of one that failed or was killed.
 * Undefined where nothing is owed, and where the schedule never ran.
 */
function resumption(
  { schedule, timetable, regular }: Line,
  past: readonly PastRun[],
  now: number,
): Pick<Turn, "at" | "cause" | "failures"> | undefined {
  const last = past[0];
  if (last === undefined) return undefined;
  const isOver = ({ startedAt }: PastRun) => (timetable.next(startedAt) ?? Number.POSITIVE_INFINITY) <= now;
  if (isOver(last)) return { at: now, cause: "missed", failures: 0 };
  const failed = past.filter(run => !isOver(run) && isFailure(run)).length;
  if (last.exitCode === 130 || last.exitCode === 143) return { at: now, cause: "retry", failures: failed };
  if (!isFailure(last)) return undefined;
  const at = retryTime(schedule, failed, last.finishedAt ?? now, regular);
  return at === undefined ? undefined : { at: Math.max(at, now), cause: "retry", failures: failed };
}

// A killed run has no exit code. It may have brought the machine down, so that its next try waits like any other.
const isFailure = ({ exitCode }: PastRun): boolean => exitCode === undefined || worthRetrying(exitCode);

/**
 * Whether trying again soon can help, by exit code: a stream, the destination, another run in the way, a bug that met
 * special circumstances. Not a configuration (2) or a key (3), which a person mends; not a limit (5), because time and
 * plan limits are there to be kept and the next run goes on anyway; not a stop by a signal.
 */
function worthRetrying(exitCode: number): boolean {
  return [1, 4, 6, 70].includes(exitCode);
}

/**
 * When the try after `failures` failed ones begins: `retry_after` from the end of the last, doubled with each.
 * Undefined after the last one allowed, and where the next regular run begins no later.
 */
function retryTime(
  { retries, retryAfterMs }: Pick<Schedule, "retries" | "retryAfterMs">,
  failures: number,
  from: number,
  regular: number | undefined,
): number | undefined {
  if (failures > retries) return undefined;
  const at = from + retryAfterMs * 2 ** (failures - 1);
  return regular === undefined || at < regular ? at : undefined;
}

/** What a retry works on: the streams that did not succeed, and their company if it is one. Nothing named: everything again. */
function unsuccessful(report: RunReport): { readonly names: readonly string[]; readonly company?: string } {
  const left = report.streams.filter(({ status }) => status !== "succeeded" && status !== "warning");
  if (left.length === 0 || left.length === report.streams.length) return { names: [] };
  const companies = [...new Set(left.map(({ company }) => company))];
  const names = [...new Set(left.map(({ stream }) => stream))];
  return companies.length === 1 && companies[0] !== undefined ? { names, company: companies[0] } : { names };
}
