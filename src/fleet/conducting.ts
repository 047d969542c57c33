import { type Ends, StoppedError, TributaryError } from "../errors.ts";
import type { SyncContext } from "../sync/context.ts";
import { type CompanyRun, type RunSource, relatedLists, runCompany, skip, whyWithout } from "../sync/run/jobs.ts";
import type { Service } from "../sync/run/service.ts";
import type { PartOutcome } from "../sync/run/streams.ts";
import { lastStreamRuns } from "../warehouse/state/run_log.ts";
import { Awaiting, unlessLeft } from "./awaiting.ts";
import type { PartData, RunData, StopData } from "./job_data.ts";
import { partsOf, type RunPart } from "./parts.ts";
import { listPriority } from "./priority.ts";
import { type JobQueue, type JobState, jobId } from "./queue.ts";

interface Conducting {
  readonly queue: JobQueue;
  readonly data: RunData;
  /** Aborted when this process has to leave the run to another one, which goes on with it. */
  readonly leaving: AbortSignal;
}

/** A run whose streams other processes work on. What it knows is in the queue and the warehouse: should this process die, another takes it up. */
export function conducted(conducting: Conducting): RunSource {
  let shared: Shared | undefined;
  return {
    ...{ asksService: true, givesWay: false, isShared: true },
    runCompany(context, service, run) {
      shared ??= {
        awaiting: new Awaiting(conducting.queue, context.clock, "parts"),
        last: lastStreamRuns(context.destination, conducting.data.runId),
      };
      return conductCompany({ ...conducting, ...shared }, context, service, run);
    },
  };
}

/** What all companies of a run need: one look at the queue serves all, and one at the runs before. */
interface Shared {
  readonly awaiting: Awaiting;
  readonly last: ReturnType<typeof lastStreamRuns>;
}

async function conductCompany(
  conducting: Conducting & Shared,
  context: SyncContext,
  service: Service,
  run: CompanyRun,
): Promise<void> {
  if (service.failure !== undefined) return runCompany(context, service, run);
  const { queue, data, leaving, awaiting } = conducting;
  const { company, policy, signal } = context;
  const last = await conducting.last;
  const requests = new Map(last.filter(row => row.company === company).map(row => [row.stream, Number(row.requests)]));
  const related = await relatedLists(context, run.jobs, new Set(requests.keys()));
  const parts = partsOf(run.jobs, context.streams.catalogue, policy, requests, related);
  const idOf = ({ name }: RunPart) => jobId("part", data.runId, company, name);
  const added = new Set<RunPart>();
  const done = new Map<RunPart, Promise<void>>();
  const stop = () => void stopParts(conducting, context, [...added].map(idOf)).catch(run.stopRun);
  signal.addEventListener("abort", stop, { once: true });
  const work = async (part: RunPart): Promise<void> => {
    for (const job of part.jobs) job.progress.activity.waitingFor = undefined;
    if (signal.aborted) return skipAll(part);
    const others = run.jobs.filter(job => !part.jobs.includes(job));
    const lacking = part.jobs.map(job => whyWithout(job, others));
    if (lacking.every(why => why !== undefined)) {
      for (const [nth, job] of part.jobs.entries()) skip(job, lacking[nth]!);
      return;
    }
    added.add(part);
    await queue.add("parts", [
      {
        id: idOf(part),
        data: partData(data, service, part, context),
        priority: listPriority(parts.indexOf(part), data),
      },
    ]);
    takeOver(await awaiting.endOf(idOf(part)), part, run);
  };
  try {
    const begin = (part: RunPart): Promise<void> => {
      const own = done.get(part) ?? Promise.all(part.after.map(begin)).then(() => work(part));
      done.set(part, own);
      return own;
    };
    for (const { jobs, after } of parts)
      for (const { progress } of jobs) progress.activity.waitingFor = after[0]?.name ?? "a worker";
    await unlessLeft(leaving, Promise.all(parts.map(begin)));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function partData(
  { selection: _, maxTimeMs: __, ...data }: RunData,
  { company, companyId }: Service,
  { name, jobs }: RunPart,
  { streams }: SyncContext,
): PartData {
  return {
    ...{ ...data, company: company.name, part: name, streams: jobs.map(({ stream }) => stream.name) },
    named: [...streams.named],
    ...(companyId === undefined ? {} : { companyId }),
  };
}

/** Withdraws the parts that wait, and says to the workers that have the others that they are to end. */
async function stopParts({ queue, data }: Conducting, { signal, company }: SyncContext, ids: readonly string[]) {
  await addStop(queue, stopOf(data.runId, signal.reason, company));
  await queue.withdraw("parts", ids);
}

const stopOf = (runId: string, reason: unknown, company: string): StopData => ({
  ...{ runId, company },
  reason: reason instanceof Error ? reason.message : String(reason),
  exitCode:
    reason instanceof StoppedError && (reason.exitCode === 130 || reason.exitCode === 143) ? reason.exitCode : 5,
});

/** Says that a run, or its work for one company, is to end. */
export const addStop = (queue: JobQueue, stop: StopData): Promise<void> =>
  queue.add("stops", [{ id: jobId("stop", stop.runId, stop.company ?? ""), data: stop, priority: 0 }]);

function skipAll({ jobs }: RunPart): void {
  for (const job of jobs) skip(job, "the run was ending");
}

/** What the part did becomes what the run did. */
function takeOver({ state, output }: JobState, part: RunPart, run: CompanyRun): void {
  if (state !== "completed") return skipAll(part);
  const { streams, failures } = output as PartOutcome;
  for (const job of part.jobs) {
    const outcome = streams.find(({ stream }) => stream === job.stream.name);
    if (outcome === undefined) skip(job, failures[0]?.message ?? "the run was ending");
    else job.progress.takeOver(outcome);
  }
  for (const { exitCode, ends, ...message } of failures) {
    const failure = new PartFailure(message, exitCode);
    run.errors.push(failure);
    run.failed(failure, { part: part.name });
    end(run, ends, failure);
  }
}

function end(run: CompanyRun, ends: Ends, failure: Error): void {
  if (ends === "run") run.stopRun(failure);
  else if (ends === "company") run.stopCompany(failure);
}

/** A failure as another process told it. */
class PartFailure extends TributaryError {}
