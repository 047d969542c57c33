import { unlessAborted } from "../clock.ts";
import type { Company } from "../config/config.ts";
import { StoppedError, TributaryError } from "../errors.ts";
import { textsOf } from "../message.ts";
import type { SyncContext } from "../sync/context.ts";
import { type CompanyRun, leaveOut, type RunSource, runCompany, skip } from "../sync/run/jobs.ts";
import { keyLockOf, type Service } from "../sync/run/service.ts";
import type { CompanyOutcome } from "../sync/run/streams.ts";
import { lastStreamRuns } from "../warehouse/state/run_log.ts";
import { Awaiting } from "./awaiting.ts";
import { companyDataOf, type RunData, type StopData, stopData } from "./job_data.ts";
import { workersMessages } from "./messages.ts";
import { companyPriority } from "./priority.ts";
import { type JobQueue, type JobState, jobId } from "./queue.ts";

interface Conducting {
  readonly queue: JobQueue;
  readonly data: RunData;
  readonly companies: readonly Company[];
  /** Aborted when this process has to leave the run to another one, which goes on with it. */
  readonly leaving: AbortSignal;
}

/** A run whose companies other processes work on. What it knows is in the queue and the warehouse: should this process die, another takes it up. */
export function conducted(conducting: Conducting): RunSource {
  let shared: Shared | undefined;
  return {
    ...{ asksService: false, givesWay: false, isShared: true },
    runCompany(context, service, run) {
      shared ??= {
        awaiting: new Awaiting(conducting.queue, context.clock, "companies"),
        order: longestFirst(conducting.companies, context),
        turns: new Map(),
      };
      return conductCompany({ ...conducting, ...shared }, context, service, run);
    },
  };
}

/** What all companies of a run need. */
interface Shared {
  /** One look at the queue serves all. */
  readonly awaiting: Awaiting;
  /** Their names, in the order in which they are begun. */
  readonly order: Promise<readonly string[]>;
  /** Companies with one key go one after another: by its lock, the end of the last one. */
  readonly turns: Map<string, Promise<void>>;
}

/** By the requests that they took the last time; one that was never worked on is the longest. */
async function longestFirst(
  companies: readonly Company[],
  { destination, runId }: SyncContext,
): Promise<readonly string[]> {
  const rows = Map.groupBy(await lastStreamRuns(destination, runId), row => row.company);
  const weigh = (name: string) =>
    rows.get(name)?.reduce((sum, { requests }) => sum + Number(requests), 0) ?? Number.MAX_SAFE_INTEGER;
  return companies.map(({ name }) => name).toSorted((a, b) => weigh(b) - weigh(a));
}

async function conductCompany(
  { queue, data, leaving, awaiting, order, turns }: Conducting & Shared,
  context: SyncContext,
  service: Service,
  run: CompanyRun,
): Promise<void> {
  if (service.failure !== undefined) return runCompany(context, service, run);
  const { signal } = context;
  const { company } = service;
  const id = jobId("company", data.runId, company.name);
  for (const { progress } of run.jobs) progress.activity.waitingFor = "a worker";
  const stop = async () => {
    await addStop(queue, stopOf(data.runId, signal.reason));
    await queue.withdraw("companies", [id]);
  };
  const stopping = () => void stop().catch(run.stopRun);
  signal.addEventListener("abort", stopping, { once: true });
  const [keyLock] = keyLockOf(company);
  const work = async (): Promise<void> => {
    if (signal.aborted) return run.jobs.forEach(leaveOut);
    const priority = companyPriority((await order).indexOf(company.name), data);
    await queue.add("companies", [{ id, data: companyDataOf(data, company.name, keyLock), priority }]);
    takeOver(await awaiting.endOf(id), run, company.name);
    // Its worker may have heard before this process that the run is to end.
    const stop = signal.aborted ? undefined : stopFor(await openStops(queue), data.runId);
    if (stop !== undefined) run.stopRun(stop);
  };
  const own = (turns.get(keyLock) ?? Promise.resolve()).then(work);
  turns.set(
    keyLock,
    own.catch(() => undefined),
  );
  try {
    await unlessAborted(leaving, own);
  } finally {
    signal.removeEventListener("abort", stopping);
  }
}

const stopOf = (runId: string, reason: unknown): StopData => ({
  runId,
  reason: reason instanceof Error ? reason.message : String(reason),
  exitCode:
    reason instanceof StoppedError && (reason.exitCode === 130 || reason.exitCode === 143) ? reason.exitCode : 5,
});

/** Says that a run is to end. */
export const addStop = (queue: JobQueue, stop: StopData): Promise<void> =>
  queue.add("stops", [{ id: jobId("stop", stop.runId), data: stop, priority: 0 }]);

export const openStops = async (queue: JobQueue): Promise<readonly StopData[]> =>
  (await queue.open("stops")).map(({ data }) => stopData.parse(data));

/** Why a run is to end; undefined: it may go on. */
export function stopFor(stops: readonly StopData[], runId: string): StoppedError | undefined {
  const stop = stops.find(each => each.runId === runId);
  return stop && new StoppedError(workersMessages.stopped({ reason: stop.reason }), stop.exitCode);
}

/** What the worker did for the company becomes what the run did. */
function takeOver({ state, output }: JobState, run: CompanyRun, company: string): void {
  if (state !== "completed") return run.jobs.forEach(leaveOut);
  const { streams, failures, warnings } = output as CompanyOutcome;
  const known = new Set(textsOf(run.warnings));
  run.warnings.push(...warnings.filter(({ message }) => !known.has(message)));
  for (const job of run.jobs) {
    const outcome = streams.find(({ stream }) => stream === job.stream.name);
    const [failure] = failures;
    if (outcome !== undefined) job.progress.takeOver(outcome);
    else if (failure === undefined) leaveOut(job);
    else skip(job, failure.message);
  }
  for (const { exitCode, ends, ...message } of failures) {
    const failure = new CompanyFailure(message, exitCode);
    run.errors.push(failure);
    run.failed(failure, { company });
    if (ends === "run") run.stopRun(failure);
  }
}

/** A failure as another process told it. */
class CompanyFailure extends TributaryError {}
