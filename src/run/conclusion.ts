import type { Destination, Shown } from "../destinations/destination.ts";
import { endRun, runBefore } from "../destinations/run_log.ts";
import { DestinationError, HeldError } from "../errors.ts";
import type { Log } from "../sync/context.ts";
import { exitCodeOf, failureText, type Job, notesOf, type RunReport, statusOf, warningsOf } from "./report.ts";

/** A published file that says nothing new is renewed all the same when it is this old, so that its age tells of a living sync. */
const STALE_MS = 20 * 3_600_000;

/** A run whose streams are done. */
export interface Concluding {
  readonly tools: { readonly clock: { now(): number }; readonly log: Log; readonly redact: (text: string) => string };
  readonly destination: Destination;
  readonly runId: string;
  readonly startedAt: string;
  readonly jobs: readonly Job[];
  /** About the warehouse, not a stream. */
  readonly warnings: readonly string[];
}

/** Makes what is committed visible to readers. */
export async function show(destination: Destination, log: Log): Promise<Shown> {
  log.debug({}, "showing");
  const shown = await destination.show();
  log.debug(shown, "shown");
  return shown;
}

/** Closes the run's row, shows readers the result and reports; a failure of its own joins the `errors`. */
export async function conclude(run: Concluding, errors: unknown[]): Promise<RunReport> {
  const { tools, destination, runId, jobs } = run;
  const finishedAt = new Date(tools.clock.now()).toISOString();
  const warnings = [...run.warnings, ...warningsOf(jobs)];
  /** Writes down how the run ended, as far as is known by now. */
  const end = async (): Promise<RunReport["status"]> => {
    const exitCode = exitCodeOf(errors);
    const first = errors.find(each => exitCodeOf([each]) === exitCode);
    const status = statusOf(exitCode, warnings);
    await endRun(destination.db, runId, {
      status,
      exit_code: exitCode,
      finished_at: finishedAt,
      warnings: JSON.stringify(warnings),
      error: first === undefined ? null : failureText(first, jobs, tools.redact),
    });
    return status;
  };
  try {
    if (await isWorthShowing(run, await end())) {
      const { note } = await show(destination, tools.log);
      if (note !== undefined) warnings.push(note);
    }
  } catch (failure) {
    // The destination's own failure may be why the run failed: then it has been told already.
    if (!errors.some(known => known instanceof DestinationError || known instanceof HeldError)) {
      errors.push(failure);
      // What was stored and could not be shown is no success. A destination that is lost can't be told.
      await end().catch(() => undefined);
    }
  }
  return reportOf(run, errors, warnings, finishedAt);
}

/** New rows, a failure or the recovery from one, and a sign of life each day; not each quiet run. */
async function isWorthShowing(
  { tools, destination, runId }: Concluding,
  status: RunReport["status"],
): Promise<boolean> {
  const { owed, shownAt } = await destination.unshown();
  if (owed || shownAt === undefined || tools.clock.now() - shownAt.getTime() > STALE_MS) return true;
  const quiet = (outcome: string | undefined) =>
    outcome === undefined || outcome === "succeeded" || outcome === "warning";
  return !quiet(status) || !quiet(await runBefore(destination.db, runId));
}

/** The report of a run that has come to its end. */
export function reportOf(
  { runId, startedAt, jobs, tools }: Omit<Concluding, "destination" | "warnings">,
  failures: readonly unknown[],
  warnings: readonly string[],
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
    errors: [...new Set(failures.map(failure => failureText(failure, jobs, tools.redact)))],
    streams: jobs.map(({ company, stream, tally }) => ({ run_id: runId, company, stream: stream.name, ...tally.run })),
  };
}
