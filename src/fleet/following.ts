import { isWithin } from "../clock.ts";
import { ConfigError, DestinationError, StoppedError, TributaryError } from "../errors.ts";
import type { RunReport, RunSnapshot } from "../sync/run/report.ts";
import { beginNow } from "../sync/run/run.ts";
import type { RunTools } from "../sync/run/run_order.ts";
import { companyData, runData, runDataOf, type SharedOrder } from "./job_data.ts";
import { workersMessages } from "./messages.ts";
import { runPriority } from "./priority.ts";
import { type JobQueue, jobId } from "./queue.ts";
import type { RunOutput } from "./run_job.ts";
import type { WorkerDoing } from "./worker_row.ts";

interface FollowTools extends Pick<RunTools, "clock" | "random" | "log" | "watch"> {
  readonly queue: JobQueue;
  /** The workers that are up, as they say. */
  readonly workers: () => Promise<readonly { readonly doing: WorkerDoing }[]>;
  /** Ends the following, not the run. */
  readonly signal: AbortSignal;
}

const LOOK_MS = 500;
/** Workers say what they do every two seconds. */
const SHOW_MS = 2_000;
/** How long the queue may be out of reach: longer than a server needs to restart, or to fail over. */
const PATIENCE_MS = 300_000;
/** Without a worker nothing happens: that is said once it has lasted so long. */
const ALONE_MS = 15_000;

/**
 * Has the workers do a run, and waits until it has ended. `occurrence`: what must not be done twice, such as a schedule's turn; where that
 * is there already, or the turn before it goes on, it is followed. @throws what kept the run from beginning; StoppedError when the following was ended
 */
export async function runOnWorkers(
  order: SharedOrder,
  tools: FollowTools,
  occurrence?: readonly string[],
): Promise<RunReport> {
  if (order.limits.maxRequests !== undefined) throw new ConfigError(workersMessages.max_requests());
  const begun = order.begun ?? beginNow(tools);
  if (occurrence !== undefined) {
    const open = await tools.queue.open("runs");
    const same = open.find(({ data }) => runData.parse(data).command === order.command);
    if (same !== undefined) return follow(same.id, begun.runId, Number.POSITIVE_INFINITY, tools);
  }
  const job = jobId("run", ...(occurrence ?? [begun.runId]));
  await tools.queue.add("runs", [{ id: job, data: runDataOf(order, begun), priority: runPriority(order) }]);
  const { startWithinMs = Number.POSITIVE_INFINITY } = order.config.workers ?? {};
  // A schedule's turn waits for as long as it takes: the one after it follows the same run.
  const takenBy = occurrence === undefined ? tools.clock.now() + startWithinMs : Number.POSITIVE_INFINITY;
  return follow(job, begun.runId, takenBy, tools);
}

/** Follows a run. `takenBy`: by when, in ms of the clock, a worker has to have taken it. */
async function follow(job: string, begun: string, takenBy: number, tools: FollowTools): Promise<RunReport> {
  const { queue, workers, clock, log, signal, watch } = tools;
  let runId = begun;
  let snapshot = nothing;
  let aloneSince: number | undefined = clock.now();
  let lostSince: number | undefined;
  let refusal: string | undefined;
  let shownAt = Number.NEGATIVE_INFINITY;
  watch({ snapshot: () => snapshot });
  for (;;) {
    try {
      const state = await queue.stateOf("runs", job);
      if (state === undefined || state.state === "cancelled" || state.state === "failed")
        throw new TributaryError(workersMessages.run_removed({ run_id: runId }), 1);
      if (state.state === "completed") return reportOf(state.output as RunOutput);
      // Another one may have asked for it first.
      runId = runData.parse(state.data).runId;
      if (!isWithin(clock, shownAt, SHOW_MS)) {
        shownAt = clock.now();
        const up = await workers();
        snapshot = snapshotOf(runId, up, await queue.open("companies"));
        refusal = up[0]?.doing.refusal;
        aloneSince = up.some(({ doing }) => doing.refusal === undefined) ? undefined : (aloneSince ?? clock.now());
      }
      if (state.state === "created" && clock.now() >= takenBy && (await queue.withdraw("runs", [job])).size > 0)
        throw new TributaryError(workersMessages.not_taken({ run_id: runId, reason: refusal }), 1);
      lostSince = undefined;
    } catch (error) {
      if (!(error instanceof DestinationError)) throw error;
      if (lostSince === undefined) log.warn(workersMessages.followed_again({ reason: error.message }));
      lostSince ??= clock.now();
      if (clock.now() - lostSince >= PATIENCE_MS) throw error;
    }
    if (aloneSince !== undefined && clock.now() - aloneSince >= ALONE_MS) {
      log.warn(
        refusal === undefined ? workersMessages.none_up() : workersMessages.none_takes_jobs({ reason: refusal }),
      );
      aloneSince = Number.POSITIVE_INFINITY;
    }
    try {
      await clock.sleep(LOOK_MS, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      throw notFollowed(runId, signal.reason);
    }
  }
}

const notFollowed = (runId: string, reason: unknown): StoppedError =>
  new StoppedError(
    workersMessages.not_followed({ run_id: runId }),
    reason instanceof StoppedError ? reason.exitCode : 130,
  );

/** What the run came to. */
function reportOf(output: RunOutput): RunReport {
  if ("report" in output) return output.report;
  const { exitCode, ...message } = output.thrown;
  throw new TributaryError(message, exitCode);
}

const nothing: RunSnapshot = { streams: [], limitedBy: "latency", inFlight: 0, ceiling: 0, limited429: 0 };

/** What all workers do for a run, and what of it waits in the queue. */
function snapshotOf(
  runId: string,
  workers: readonly { readonly doing: WorkerDoing }[],
  queued: Awaited<ReturnType<JobQueue["open"]>>,
): RunSnapshot {
  const jobs = workers
    .flatMap(({ doing }) => doing.jobs)
    .filter(job => job.runId === runId && job.kind === "companies");
  const waiting = queued
    .filter(({ state }) => state !== "active")
    .map(({ data }) => companyData.parse(data))
    .filter(each => each.runId === runId);
  const several = new Set([...jobs, ...waiting].map(({ company }) => company)).size > 1;
  const nameOf = (company: string | undefined, stream: string) => (several ? `${company}/${stream}` : stream);
  const busiest = jobs.toSorted((a, b) => b.inFlight - a.inFlight)[0];
  return {
    streams: [
      ...jobs.flatMap(({ company, streams }) =>
        streams.map(line => ({ ...line, stream: nameOf(company, line.stream) })),
      ),
      ...waiting.map(({ company }) => ({
        ...{ stream: company, state: "waiting" as const, pages: 0, rows: 0, waitingFor: "a worker" },
      })),
    ],
    limitedBy: (busiest?.limitedBy as RunSnapshot["limitedBy"] | undefined) ?? nothing.limitedBy,
    inFlight: jobs.reduce((sum, job) => sum + job.inFlight, 0),
    ceiling: Math.max(0, ...jobs.map(job => job.ceiling)),
    limited429: jobs.reduce((sum, job) => sum + job.limited429, 0),
  };
}
