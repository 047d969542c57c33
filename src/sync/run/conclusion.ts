import { isDeepStrictEqual } from "node:util";
import type { Stream } from "../../catalog/stream.ts";
import { isWithin } from "../../clock.ts";
import { DestinationError, LockedError, StoppedError } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import { type Message, textsOf } from "../../message.ts";
import type { Destination, Release } from "../../warehouse/destination.ts";
import { keptNewRejects } from "../../warehouse/state/rejects.ts";
import { pruneRecords } from "../../warehouse/state/retention.ts";
import { endRun, lastStreamRuns, runBefore, storedMessages } from "../../warehouse/state/run_log.ts";
import type { Announcements } from "./announcements.ts";
import type { PlannedRun } from "./opening.ts";
import {
  distinct,
  exitCodeOf,
  type Job,
  messageInReport,
  notesOf,
  type RunReport,
  statusOf,
  warningsOf,
} from "./report.ts";

/** A published file that says nothing new is renewed all the same when it is this old, so that its age tells of a living sync. */
const STALE_MS = 20 * 3_600_000;
/** What a file of that age leaves until its data is late; where `freshness.late_after` leaves less, readers must not wait so long. */
const SLACK_MS = 6 * 3_600_000;

/** A run whose streams are, or will be, done. */
export interface WorkedRun extends Pick<PlannedRun, "order" | "tools" | "runId" | "startedAt"> {
  readonly destination: Destination;
  readonly catalogue: readonly Stream[];
  readonly jobs: readonly Job[];
}

interface Concluding extends WorkedRun {
  readonly warnings: readonly Message[];
  readonly announcements: Announcements;
}

export async function release(destination: Destination, log: Log): Promise<Release> {
  log.debug("releasing to readers");
  const released = await destination.releaseToReaders();
  log.debug("released", released);
  return released;
}

/** Closes the run's row, shows readers the result and reports; a failure of its own joins the `errors`. */
export async function conclude(run: Concluding, errors: unknown[]): Promise<RunReport> {
  const { tools, destination, runId, jobs } = run;
  const finishedAt = new Date(tools.clock.now()).toISOString();
  const ofStreams = warningsOf(jobs);
  const warnings = [...run.warnings, ...ofStreams];
  /** Writes down how the run ended, as far as is known by now. */
  const end = async () => {
    const exitCode = exitCodeOf(errors);
    const first = errors.find(each => exitCodeOf([each]) === exitCode);
    await endRun(destination.db, runId, {
      status: statusOf(exitCode, warnings),
      exit_code: exitCode,
      finished_at: finishedAt,
      warnings: JSON.stringify(warnings),
      error: first === undefined ? null : messageInReport(first, jobs, tools.redact).message,
      snapshot: (await destination.lastSnapshot?.()) ?? null,
    });
  };
  try {
    await end();
    const ended = { status: statusOf(exitCodeOf(errors), warnings), warnings };
    await pruneRecords(destination, run.order.config.retentionMs, tools.clock.now());
    if (await isWorthShowing(run, ended)) {
      const { note } = await release(destination, tools.log);
      if (note !== undefined) warnings.push(note);
    }
  } catch (failure) {
    // The destination's own failure may be why the run failed: then it has been told already.
    if (!errors.some(known => known instanceof DestinationError || known instanceof LockedError)) {
      errors.push(failure);
      // What was stored and could not be shown is no success. A destination that is lost can't be told.
      await end().catch(() => undefined);
    }
  }
  announceEnd(run, errors, warnings.slice(run.warnings.length + ofStreams.length));
  return reportOf(run, errors, warnings, finishedAt);
}

/** What has not been said yet; `more`: warnings of the end itself. */
function announceEnd({ announcements, jobs }: Concluding, errors: readonly unknown[], more: readonly Message[]): void {
  const unsaid = warningsOf(jobs, ({ warnings, announced }) =>
    warnings.filter(each => !textsOf(announced).includes(each.message)),
  );
  announcements.warn([...unsaid, ...more]);
  // Whoever sent a signal knows of it.
  for (const error of errors) if (!(error instanceof StoppedError && error.exitCode !== 5)) announcements.failed(error);
  announcements.end();
}

/** New rows, a failure or the recovery from one, anything else that status and rejects tell, and a sign of life each day; not each quiet run. */
async function isWorthShowing(run: Concluding, end: Pick<RunReport, "status" | "warnings">): Promise<boolean> {
  const { order, tools, destination, runId } = run;
  const { isPending, releasedAt } = await destination.releaseState();
  const { lateAfterMs } = order.config.freshness;
  const quietMs = lateAfterMs < STALE_MS + SLACK_MS ? lateAfterMs / 3 : STALE_MS;
  if (isPending || releasedAt === undefined || !isWithin(tools.clock, releasedAt.getTime(), quietMs)) return true;
  const before = await runBefore(destination.db, runId);
  if (before === undefined || !isGood(end.status) || !isGood(before.status)) return true;
  return !isDeepStrictEqual(textsOf(storedMessages(before.warnings)), textsOf(end.warnings)) || (await tellsNews(run));
}

const isGood = (status: string): boolean => status === "succeeded" || status === "warning";

/** Whether a stream stands otherwise than after its run before, which readers know or have seen the like of. */
async function tellsNews({ destination, runId, jobs }: Concluding): Promise<boolean> {
  const before = await lastStreamRuns(destination, runId);
  const known = new Map(before.map(row => [JSON.stringify([row.company, row.stream]), row]));
  const worked = jobs.filter(({ progress }) => progress.run.status !== "skipped");
  const differs = ({ company, stream, progress: { run } }: Job): boolean => {
    const row = known.get(JSON.stringify([company, stream.name]));
    return row === undefined || factsOf(row) !== factsOf(run);
  };
  return (
    worked.some(differs) ||
    (worked.some(({ progress }) => progress.run.rejected + progress.run.repeated > 0) &&
      keptNewRejects(destination, runId))
  );
}

/** What `status` tells of a stream's run. Errors by their being there alone: their text may name the request. */
function factsOf(run: Awaited<ReturnType<typeof lastStreamRuns>>[number] | Job["progress"]["run"]): string {
  const { status, error, rejected, problems, service_rows, difference, difference_reason } = run;
  const counts = [rejected, problems, service_rows ?? null, difference ?? null].map(String);
  return JSON.stringify([status, error === null, ...counts, difference_reason ?? null]);
}

/** The report of a run that has come to its end. */
export function reportOf(
  { runId, startedAt, jobs, tools }: Pick<WorkedRun, "runId" | "startedAt" | "jobs" | "tools">,
  failures: readonly unknown[],
  warnings: readonly Message[],
  finishedAt: string,
): RunReport {
  const exitCode = exitCodeOf(failures);
  return {
    run_id: runId,
    status: statusOf(exitCode, warnings),
    exit_code: exitCode,
    started_at: startedAt,
    finished_at: finishedAt,
    warnings,
    notes: notesOf(jobs),
    errors: distinct(failures.map(failure => messageInReport(failure, jobs, tools.redact))),
    streams: jobs.map(({ company, stream, progress }) => ({
      run_id: runId,
      company,
      stream: stream.name,
      ...progress.run,
    })),
  };
}

/** Between two looks at a first load: a publish of a small file takes a fifth of a second. */
const FIRST_LOOK_MS = 5_000;

/** A first load is usable early: its lists are shown once they are read, unless that was a moment ago. Whether it is the first is asked late: most runs end sooner. */
export function firstLook({ destination, tools }: Pick<WorkedRun, "destination" | "tools">): () => Promise<void> {
  const { clock, log } = tools;
  let isFirst: boolean | undefined;
  let last = clock.now();
  return async () => {
    if (isFirst === false || clock.now() - last < FIRST_LOOK_MS) return;
    last = clock.now();
    const { isPending, releasedAt } = await destination.releaseState();
    isFirst ??= releasedAt === undefined;
    if (isFirst && isPending) await release(destination, log);
  };
}

/** While a long run lasts, readers are shown what has been published so far. */
export async function releaseEvery(
  { destination, tools }: Pick<WorkedRun, "destination" | "tools">,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await tools.clock.sleep(everyMs, signal).catch(() => undefined);
    if (!signal.aborted && (await destination.releaseState()).isPending) await release(destination, tools.log);
  }
}
