import { DestinationError, type ExitCode, LockedError } from "../errors.ts";
import { ASIDE_MS, givingWay, LONGEST_TURN_MS } from "../sync/run/giving_way.ts";
import { exitCodeOf, messageFor, type RunReport } from "../sync/run/report.ts";
import { beginNow, runSync } from "../sync/run/run.ts";
import type { Attempt } from "../sync/run/run_order.ts";
import { conducted } from "./conducting.ts";
import { backfillOf, orderOfRun, type RunData, readStopData } from "./job_data.ts";
import type { JobTools } from "./part_job.ts";
import { runPriority } from "./priority.ts";
import { type JobQueue, jobId } from "./queue.ts";

interface RunJobTools extends JobTools {
  readonly attempt: (end: Attempt["end"]) => Attempt;
}

/** How a run ended, as its job keeps it: with a report, or with what kept it from beginning. `goesOn`: the job of the run that goes on with a backfill which let another one go first. */
export type RunOutput =
  | { readonly report: RunReport; readonly goesOn?: string }
  | { readonly thrown: { readonly message: string; readonly exitCode: ExitCode } };

/** Conducts a run. @throws what another try may mend */
export async function workOnRunJob(data: RunData, tools: RunJobTools): Promise<RunOutput> {
  const { queue, config, defaults, run, attempt, isRetry, leaving } = tools;
  const giving = data.backfill && givingWay(backfillOf(data.backfill), run.clock);
  const { wanted, end, ...source } = { ...conducted({ queue, data, leaving }), ...giving };
  const asked = orderOfRun(data, config, defaults, isRetry);
  // Its time limit began when it was first conducted.
  const spentMs = isRetry ? Math.max(0, run.clock.now() - Date.parse(data.startedAt)) : 0;
  const order = { ...asked, source, limits: { ...asked.limits, spentMs } };
  const signal = wanted === undefined ? run.signal : AbortSignal.any([run.signal, wanted]);
  let lost: unknown;
  const note: Attempt["end"] = failures => {
    lost = failures.map(({ error }) => error).find(isPassing);
  };
  try {
    const report = await runSync(order, { ...run, signal }, attempt(note));
    // What it was about to write down stands nowhere: the next one concludes it.
    if (lost !== undefined) throw lost;
    await forgetStops(queue, data.runId);
    const isAsked = wanted?.aborted === true && report.exit_code !== 0 && !run.signal.aborted;
    const goesOn = isAsked ? await goOnLater(data, tools) : undefined;
    return { report, ...(goesOn === undefined ? {} : { goesOn }) };
  } catch (error) {
    const isOwn = error instanceof LockedError && error.runId === data.runId;
    if (leaving.aborted || isPassing(error) || isOwn) throw error;
    return { thrown: { message: run.redact(messageFor(error).message), exitCode: exitCodeOf([error]) as ExitCode } };
  } finally {
    end?.();
  }
}

const isPassing = (error: unknown) => error instanceof DestinationError && error.passing;

/** Asks for the run that goes on with a backfill once the others have ended. Answers its job; undefined: its time is over. */
async function goOnLater(data: RunData, { queue, run }: RunJobTools): Promise<string | undefined> {
  const { backfill, startedAt, maxTimeMs } = data;
  // Who waited finds the locks free.
  await run.clock.sleep(ASIDE_MS, run.signal).catch(() => undefined);
  const leftMs = maxTimeMs === undefined ? undefined : maxTimeMs - (run.clock.now() - Date.parse(startedAt));
  if (backfill === undefined || run.signal.aborted || (leftMs ?? 1) <= 0) return undefined;
  const next: RunData = {
    ...{ ...data, ...beginNow(run), waitMs: Math.min(LONGEST_TURN_MS, leftMs ?? LONGEST_TURN_MS) },
    backfill: { ...backfill, continued: true, restart: false },
    ...(leftMs === undefined ? {} : { maxTimeMs: leftMs }),
  };
  const id = jobId("run", data.runId, "goes on");
  await queue.add("runs", [{ id, data: next, priority: runPriority(next) }]);
  return id;
}

/** A run that has ended is not to be stopped any more. */
async function forgetStops(queue: JobQueue, runId: string): Promise<void> {
  for (const { id, data } of await queue.open("stops"))
    if (readStopData(data).runId === runId) await queue.remove("stops", id);
}
