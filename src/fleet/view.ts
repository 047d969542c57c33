import { systemClock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { TributaryError } from "../errors.ts";
import { budgetState } from "../source/budget/budget.ts";
import { openSharedState, type SharedState } from "../warehouse/postgres/shared_state.ts";
import { queueSchema } from "../warehouse/shared_tables.ts";
import { readPartData, readRunData } from "./job_data.ts";
import { budgetKeyOf, SILENT_MS, sharedPlace } from "./opening.ts";
import { jobTable, type OpenJob, openJobs } from "./queue.ts";
import type { WorkerDoing } from "./worker_row.ts";

/** What `status --json` says of the workers. Moments are ISO 8601; those of workers, jobs apart, are by PostgreSQL's clock. */
export interface FleetStatus {
  /** Why nothing of this can be read at this moment; null: it was. */
  readonly note: string | null;
  readonly workers: readonly WorkerStatus[];
  readonly queue: {
    /** Parts of runs: those that no worker has begun, and those that one works on. */
    readonly waiting_parts: number;
    readonly active_parts: number;
    readonly runs: readonly QueuedRun[];
  };
  /** One of each key with which requests were sent. */
  readonly budgets: readonly BudgetStatus[];
}

export interface WorkerStatus {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly started_at: string;
  readonly seen_at: string;
  readonly seen_seconds_ago: number;
  /** False: silent for 15 s or longer, so that others have its jobs. */
  readonly up: boolean;
  /** Whether it leaves once it is done with what it has. */
  readonly draining: boolean;
  /** Why it takes no jobs; null: it does. */
  readonly refusal: string | null;
  readonly jobs: readonly WorkerJob[];
}

/** What a worker works on; one without company and part conducts a run. */
export interface WorkerJob {
  readonly run_id: string;
  readonly company: string | null;
  readonly part: string | null;
  /** By the worker's clock. */
  readonly since: string;
  readonly streams: readonly {
    readonly stream: string;
    readonly state: WorkerDoing["jobs"][number]["streams"][number]["state"];
    readonly rows: number;
    /** Rows that there are, as the service says; null where it does not. */
    readonly total: number | null;
  }[];
}

interface QueuedRun {
  readonly run_id: string;
  readonly command: string;
  readonly state: "waiting" | "active";
  /** The worker that conducts it, once it has said so; null: none. */
  readonly conductor: string | null;
  /** Those that any worker may take. */
  readonly waiting_parts: readonly { readonly company: string; readonly part: string }[];
  /** Streams whose part is not in the queue yet, and what they wait for, in words. */
  readonly waiting_streams: readonly { readonly stream: string; readonly waiting_for: string }[];
}

/** What all workers together may ask of the service with a key, and have asked. */
export interface BudgetStatus {
  /** Those of the configuration that have the key. */
  readonly companies: readonly string[];
  /** Requests that workers have in flight, or may begin without asking again. */
  readonly in_flight: number;
  /** How many there may be at this moment, and at most. */
  readonly ceiling: number;
  readonly max_concurrency: number;
  /** Null without a limit. */
  readonly requests_per_second: number | null;
  /** Of this UTC day. */
  readonly requests_today: number;
  /** Null without a limit. */
  readonly requests_per_day: number | null;
  /** While the service wants no requests. */
  readonly pause: { readonly until: string; readonly reason: string } | null;
}

const DAY_MS = 86_400_000;

/** Looks at what the workers of a configuration do, with rights to read alone; of one company, or of all. */
export async function readFleet(config: Config, company?: string): Promise<FleetStatus> {
  try {
    const place = sharedPlace(config);
    await using state = await openSharedState({ ...place, clock: systemClock, readsOnly: true });
    const { stateSchema } = place;
    const tables = [`${stateSchema}.workers`, `${stateSchema}.budgets`, `${queueSchema(stateSchema)}.job`] as const;
    const there = await state.present(tables);
    const [workers, budgets, jobs] = tables.map(table => there.has(table));
    const isAbout = (job: { readonly company?: string | null }) =>
      company === undefined || job.company == null || job.company === company;
    const seen = workers ? await readWorkers(state) : [];
    return {
      note: null,
      workers: seen.map(({ doing, ...worker }) => ({
        ...{ ...worker, refusal: doing.refusal ?? null },
        jobs: doing.jobs.map(statusOfJob).filter(isAbout),
      })),
      queue: queueOf(jobs ? await openJobs(state, jobTable(stateSchema), ["runs", "parts"]) : [], seen, isAbout),
      budgets: budgets ? await readBudgets(state, config, company) : [],
    };
  } catch (error) {
    if (!(error instanceof TributaryError)) throw error;
    return { note: error.message, workers: [], queue: queueOf([], [], () => true), budgets: [] };
  }
}

type Seen = Awaited<ReturnType<typeof readWorkers>>;

/** Those that did not end by themselves; of those that were killed the ones of the last day. */
async function readWorkers(state: SharedState) {
  const rows = await state.workers();
  return rows
    .filter(({ stoppedAt, ageMs }) => stoppedAt === null && ageMs < DAY_MS)
    .map(({ id, host, pid, version, startedAt, seenAt, ageMs, draining, doing }) => ({
      ...{ id, host, pid, version, started_at: startedAt.toISOString(), seen_at: seenAt.toISOString() },
      ...{ seen_seconds_ago: Math.round(ageMs / 100) / 10, up: ageMs < SILENT_MS, draining },
      doing: doing as WorkerDoing,
    }));
}

const statusOfJob = ({ kind, runId, company, part, since, streams }: WorkerDoing["jobs"][number]): WorkerJob => ({
  ...{ run_id: runId, company: company ?? null, part: part ?? null, since },
  // Of a run that it conducts others work on the streams.
  streams:
    kind === "parts" ? streams.map(({ stream, state, rows, total = null }) => ({ stream, state, rows, total })) : [],
});

function queueOf(
  jobs: readonly OpenJob[],
  workers: Seen,
  isAbout: (part: { readonly company: string }) => boolean,
): FleetStatus["queue"] {
  const parts = jobs
    .filter(({ kind }) => kind === "parts")
    .map(({ state, data }) => ({ ...readPartData(data), isActive: state === "active" }))
    .filter(isAbout);
  const runs = jobs.filter(({ kind }) => kind === "runs");
  const waiting = parts.filter(({ isActive }) => !isActive);
  return {
    waiting_parts: waiting.length,
    active_parts: parts.length - waiting.length,
    runs: runs.map(({ state, data }) => {
      const { runId, command } = readRunData(data);
      const conducts = ({ kind, runId: id }: WorkerDoing["jobs"][number]) => kind === "runs" && id === runId;
      const conductor = workers.find(({ up, doing }) => up && doing.jobs.some(conducts));
      const streams = conductor?.doing.jobs.find(conducts)?.streams ?? [];
      return {
        ...{ run_id: runId, command, conductor: conductor?.id ?? null },
        state: state === "active" ? "active" : "waiting",
        waiting_parts: waiting
          .filter(part => part.runId === runId)
          .map(part => ({ company: part.company, part: part.part })),
        waiting_streams: streams.flatMap(({ stream, state, waitingFor }) =>
          state === "waiting" && waitingFor !== undefined ? { stream, waiting_for: waitingFor } : [],
        ),
      };
    }),
  };
}

async function readBudgets(
  state: SharedState,
  { companies, api }: Config,
  company: string | undefined,
): Promise<readonly BudgetStatus[]> {
  const found: BudgetStatus[] = [];
  for (const [key, sharing] of Map.groupBy(companies, budgetKeyOf)) {
    const names = sharing.map(({ name }) => name);
    if (company !== undefined && !names.includes(company)) continue;
    const { now, state: stored } = await state.budgets(key).read();
    const { success, data } = budgetState.safeParse(stored);
    // None yet, or of a version of tributary that counts otherwise.
    if (!success) continue;
    const { leases, ceiling, day, pause } = data;
    const live = Object.values(leases).filter(({ until }) => until > now);
    found.push({
      companies: names,
      in_flight: live.reduce((sum, { holds }) => sum + holds, 0),
      ceiling: Math.min(ceiling.allowed, api.maxConcurrency),
      max_concurrency: api.maxConcurrency,
      requests_per_second: api.requestsPerSecond ?? null,
      requests_today: day.number < Math.floor(now / DAY_MS) ? 0 : day.used,
      requests_per_day: api.requestsPerDay ?? null,
      pause:
        pause === undefined || pause.until <= now
          ? null
          : { until: new Date(pause.until).toISOString(), reason: pause.reason },
    });
  }
  return found;
}
