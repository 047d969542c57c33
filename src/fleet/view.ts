import { systemClock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { TributaryError } from "../errors.ts";
import { openSharedState, type SharedState } from "../warehouse/postgres/shared_state.ts";
import { queueSchema } from "../warehouse/shared_tables.ts";
import { companyData, runData } from "./job_data.ts";
import { SILENT_MS, sharedPlace } from "./opening.ts";
import { jobTable, type OpenJob, openJobs } from "./queue.ts";
import type { WorkerDoing } from "./worker_row.ts";

/** What `status --json` says of the workers. Moments are ISO 8601; those of workers, jobs apart, are by PostgreSQL's clock. */
export interface FleetStatus {
  /** Why nothing of this can be read at this moment; null: it was. */
  readonly note: string | null;
  readonly workers: readonly WorkerStatus[];
  readonly queue: {
    /** Companies of runs: those that wait for a worker, and those that one works on. */
    readonly waiting_companies: number;
    readonly active_companies: number;
    readonly runs: readonly QueuedRun[];
  };
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

/** What a worker works on; one without a company conducts a run. */
export interface WorkerJob {
  readonly run_id: string;
  readonly company: string | null;
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
  /** Names of those that wait for a worker, or for another run of the same company. */
  readonly waiting_companies: readonly string[];
}

const DAY_MS = 86_400_000;

/** Looks at what the workers of a configuration do, with rights to read alone; of one company, or of all. */
export async function readFleet(config: Config, company?: string): Promise<FleetStatus> {
  try {
    const place = sharedPlace(config);
    await using state = await openSharedState({ ...place, clock: systemClock, readsOnly: true });
    const { stateSchema } = place;
    const tables = [`${stateSchema}.workers`, `${queueSchema(stateSchema)}.job`] as const;
    const there = await state.present(tables);
    const [workers, jobs] = tables.map(table => there.has(table));
    const isAbout = (job: { readonly company?: string | null }) =>
      company === undefined || job.company == null || job.company === company;
    const seen = workers ? await readWorkers(state) : [];
    return {
      note: null,
      workers: seen.map(({ doing, ...worker }) => ({
        ...{ ...worker, refusal: doing.refusal ?? null },
        jobs: doing.jobs.map(statusOfJob).filter(isAbout),
      })),
      queue: queueOf(jobs ? await openJobs(state, jobTable(stateSchema), ["runs", "companies"]) : [], seen, isAbout),
    };
  } catch (error) {
    if (!(error instanceof TributaryError)) throw error;
    return { note: error.message, workers: [], queue: queueOf([], [], () => true) };
  }
}

type Seen = Awaited<ReturnType<typeof readWorkers>>;

/** Those that did not end by themselves; of those that were killed the ones of the last day. */
async function readWorkers(state: SharedState) {
  const rows = await state.workers();
  return rows
    .filter(({ stopped_at, ageMs }) => stopped_at === null && ageMs < DAY_MS)
    .map(({ id, host, pid, version, started_at, seen_at, ageMs, draining, doing }) => ({
      ...{ id, host, pid, version, started_at: started_at.toISOString(), seen_at: seen_at.toISOString() },
      ...{ seen_seconds_ago: Math.round(ageMs / 100) / 10, up: ageMs < SILENT_MS, draining },
      doing: doing as WorkerDoing,
    }));
}

const statusOfJob = ({ kind, runId, company, since, streams }: WorkerDoing["jobs"][number]): WorkerJob => ({
  ...{ run_id: runId, company: company ?? null, since },
  // Of a run that it conducts others work on the streams.
  streams:
    kind === "companies"
      ? streams.map(({ stream, state, rows, total = null }) => ({ stream, state, rows, total }))
      : [],
});

function queueOf(
  jobs: readonly OpenJob[],
  workers: Seen,
  isAbout: (job: { readonly company: string }) => boolean,
): FleetStatus["queue"] {
  const companies = jobs
    .filter(({ kind }) => kind === "companies")
    .map(({ state, data }) => ({ ...companyData.parse(data), isActive: state === "active" }))
    .filter(isAbout);
  const runs = jobs.filter(({ kind }) => kind === "runs");
  const waiting = companies.filter(({ isActive }) => !isActive);
  return {
    waiting_companies: waiting.length,
    active_companies: companies.length - waiting.length,
    runs: runs.map(({ state, data }) => {
      const { runId, command } = runData.parse(data);
      const conducts = ({ kind, runId: id }: WorkerDoing["jobs"][number]) => kind === "runs" && id === runId;
      const conductor = workers.find(({ up, doing }) => up && doing.jobs.some(conducts));
      return {
        ...{ run_id: runId, command, conductor: conductor?.id ?? null },
        state: state === "active" ? "active" : "waiting",
        waiting_companies: waiting.filter(each => each.runId === runId).map(({ company }) => company),
      };
    }),
  };
}
