import { hostname } from "node:os";
import PQueue from "p-queue";
import { type Api, createApi } from "./api/client.ts";
import { createLimiter, type Limiter } from "./api/limit.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Destination } from "./destinations/destination.ts";
import { openDestination } from "./destinations/open.ts";
import { beginRun, endRun, type StreamRun } from "./destinations/run_log.ts";
import { createHasher } from "./encode/hash.ts";
import {
  ApiError,
  ConfigError,
  DestinationError,
  type ExitCode,
  HeldError,
  StoppedError,
  TributaryError,
} from "./errors.ts";
import { Tally } from "./extract/tally.ts";
import { configured, familyOf, type Selection, select, selectedByConfig } from "./selection.ts";
import type { Stream } from "./stream.ts";
import type { Log, StreamPolicy, SyncContext } from "./sync/context.ts";
import { syncStream } from "./sync.ts";
import { prepareWarehouse } from "./warehouse.ts";

/** A run, as the command line or a schedule asks for it. Times in ms. */
export interface RunOrder {
  readonly command: string;
  readonly version: string;
  readonly config: Config;
  readonly catalogue: readonly Stream[];
  /** Names, patterns, presets; empty: all that the config switches on. */
  readonly names: readonly string[];
  readonly company: string | undefined;
  readonly full: boolean;
  readonly allDetails: boolean;
  readonly confirmDeletes: boolean;
  readonly maxTimeMs: number | undefined;
  readonly maxRequests: number | undefined;
  readonly waitMs: number;
}

/** What a run is given. */
export interface RunTools {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Aborted with a StoppedError by the first Ctrl-C. */
  readonly signal: AbortSignal;
  readonly redact: (text: string) => string;
  /** Told once, before the first request, where to look for progress. */
  readonly watch: (view: RunView) => void;
}

/** The run as it stands, for a progress display. */
export interface RunView {
  snapshot(): {
    readonly streams: readonly {
      readonly stream: string;
      readonly state: "waiting" | "reading" | "publishing" | "done" | "failed";
      readonly pages: number;
      readonly total?: number;
      readonly rows: number;
      readonly waitingFor?: string;
    }[];
    readonly limitedBy: string;
    readonly inFlight: number;
    readonly ceiling: number;
    readonly limited429: number;
  };
}

/** What `--json` prints of a run. */
export interface RunReport {
  readonly run_id: string;
  readonly status: "succeeded" | "warning" | "failed" | "stopped";
  readonly exit_code: ExitCode;
  readonly started_at: string;
  readonly finished_at: string;
  readonly warnings: readonly string[];
  readonly streams: readonly (StreamRun & { run_id: string; company: string; stream: string })[];
}

/** Streams worked on at once: enough to fill the request limit, few enough to bound memory. */
const STREAMS_AT_ONCE = 6;
/** A published file that says nothing new is renewed all the same when it is this old, so that its age tells of a living sync. */
const STALE_MS = 20 * 3_600_000;
/** Several failures at once: the first of these is the exit code. */
const PRECEDENCE: readonly ExitCode[] = [70, 6, 2, 3, 130, 143, 1, 5, 4];

interface Job {
  readonly company: string;
  readonly stream: Stream;
  readonly tally: Tally;
}

/**
 * One run: locks, prepares the warehouse, syncs every selected stream of every company, publishes the file for readers.
 * Failures of streams are kept apart and told in the report; what stops the run as a whole is thrown only when it never began.
 */
export async function runSync(order: RunOrder, tools: RunTools): Promise<RunReport> {
  const { clock, random } = tools;
  const startedAt = new Date(clock.now()).toISOString();
  const runId = `${startedAt.replace(/[-:]/g, "").slice(0, 15)}-${Math.floor(random() * 0xffff_ffff)
    .toString(16)
    .padStart(8, "0")}`;
  const companies = companiesOf(order);
  const catalogue = configured(order.catalogue, order.config.streams.settings);
  const on = selectedByConfig(catalogue, order.config.streams);
  const selection = select(catalogue, on, order.names);
  const holder = { pid: process.pid, host: hostname(), command: order.command, startedAt };
  const destination = await openDestination(order.config.destination, { runId, holder, clock }, order.waitMs);
  try {
    const done = await prepareWarehouse(destination, {
      companies,
      catalogue,
      streams: catalogue.filter(stream => on.includes(stream) || selection.streams.includes(stream)),
      families: [...new Set(selection.streams.map(stream => familyOf(catalogue, stream)))],
      grantSelectTo: order.config.destination.type === "postgres" ? order.config.destination.grantSelectTo : [],
      waitMs: order.waitMs,
      now: startedAt,
    });
    for (const sentence of done) tools.log.info({}, sentence);
    const jobs = companies.flatMap(({ name }) =>
      selection.streams.map(stream => ({ company: name, stream, tally: new Tally(startedAt) })),
    );
    return await runJobs({ order, tools, runId, startedAt, companies, catalogue, selection, destination, jobs });
  } finally {
    await destination.close();
  }
}

function companiesOf({ config, company }: RunOrder): Config["companies"] {
  if (company === undefined) return config.companies;
  const chosen = config.companies.filter(candidate => candidate.name === company);
  if (chosen.length > 0) return chosen;
  throw new ConfigError(
    `--company: expected one of ${config.companies.map(candidate => candidate.name).join(", ")}, got ${company}.`,
  );
}

interface Run {
  readonly order: RunOrder;
  readonly tools: RunTools;
  readonly runId: string;
  readonly startedAt: string;
  readonly companies: Config["companies"];
  readonly catalogue: readonly Stream[];
  readonly selection: Selection;
  readonly destination: Destination;
  readonly jobs: readonly Job[];
}

async function runJobs(run: Run): Promise<RunReport> {
  const { order, tools, runId, startedAt, destination, jobs } = run;
  const { clock } = tools;
  const process_ = JSON.stringify({ pid: process.pid, host: hostname() });
  await beginRun(destination.db, {
    run_id: runId,
    command: order.command,
    started_at: startedAt,
    version: order.version,
    process: process_,
  });
  const ending = new AbortController();
  const signal = AbortSignal.any([tools.signal, ending.signal]);
  const timers = new AbortController();
  const errors: unknown[] = [];
  const stopAll = (error: unknown) => {
    if (!ending.signal.aborted) ending.abort(error);
  };
  limitTime(order, clock, timers.signal, stopAll);
  showEvery(run, timers.signal, errors);
  const limiters = new Map<string, Limiter>();
  tools.watch({ snapshot: () => snapshot(jobs, limiters) });
  for (const company of run.companies) {
    if (signal.aborted) break;
    await runCompany(run, company, signal, limiters, errors, stopAll);
  }
  for (const { tally } of jobs) if (tally.run.status === "running") tally.run.status = "skipped";
  timers.abort();
  if (signal.aborted) errors.unshift(signal.reason);
  return conclude(run, errors);
}

async function runCompany(
  run: Run,
  company: Config["companies"][number],
  signal: AbortSignal,
  limiters: Map<string, Limiter>,
  errors: unknown[],
  stopAll: (error: unknown) => void,
): Promise<void> {
  const { order, tools, jobs } = run;
  const { api: settings } = order.config;
  const { clock, random } = tools;
  const limiter = createLimiter({
    maxConcurrency: settings.maxConcurrency,
    requestsPerSecond: settings.requestsPerSecond,
    clock,
  });
  limiters.set(company.name, limiter);
  await company.refreshKey();
  const api = createApi({
    baseUrl: company.baseUrl,
    key: () => company.key(),
    refreshKey: async () => void (await company.refreshKey()),
    timeoutMs: settings.timeoutMs,
    maxWaitMs: settings.maxWaitMs,
    ...(order.maxRequests === undefined ? {} : { maxRequests: order.maxRequests }),
    limit: limiter,
    clock,
    random,
    onRetry: event => tools.log.debug(event, "asking again"),
    userAgent: `tributary/${order.version}`,
  });
  try {
    const context = await contextOf(run, company, api, limiter, signal);
    const queue = new PQueue({ concurrency: STREAMS_AT_ONCE });
    const mine = jobs.filter(job => job.company === company.name);
    const start = (job: Job): void => {
      void queue.add(async () => {
        await syncOne(run, context, job, mine, errors, stopAll);
        for (const next of mine) if (isDetailOf(next.stream, job.stream)) start(next);
      });
    };
    for (const job of mine) if (!mine.some(other => isDetailOf(job.stream, other.stream))) start(job);
    await queue.onIdle();
  } finally {
    await api.close();
  }
}

const isDetailOf = (stream: Stream, other: Stream): boolean =>
  stream.mode.kind === "detail" && stream.mode.of === other.name;

async function syncOne(
  run: Run,
  context: SyncContext,
  job: Job,
  mine: readonly Job[],
  errors: unknown[],
  stopAll: (error: unknown) => void,
): Promise<void> {
  const { stream, tally } = job;
  const { log } = run.tools;
  const parent = mine.find(other => isDetailOf(stream, other.stream));
  if (context.signal.aborted || (parent !== undefined && !parent.tally.published)) {
    tally.run.status = "skipped";
    tally.run.error = context.signal.aborted
      ? "the run was ending"
      : `its list ${parent?.stream.name} could not be read`;
    tally.activity.state = "failed";
    return;
  }
  try {
    tally.run.started_at = new Date(context.clock.now()).toISOString();
    await syncStream(context, stream, tally);
    const { requests, rows_read, inserted, updated, deleted, unchanged } = tally.run;
    log.info({ stream: stream.name, requests, rows_read, inserted, updated, deleted, unchanged }, "done");
  } catch (error) {
    if (error instanceof StoppedError || context.signal.aborted) {
      log.info({ stream: stream.name }, "stopped; what was read is kept");
      if (!(error instanceof StoppedError)) errors.push(error);
      return;
    }
    errors.push(error);
    log.warn({ stream: stream.name }, error instanceof Error ? error.message : String(error));
    if (endsRun(error)) stopAll(error);
  }
}

/** Errors that every other stream would meet as well. */
function endsRun(error: unknown): boolean {
  if (error instanceof ApiError) return ["unauthorized", "limited", "budget"].includes(error.failure);
  return error instanceof DestinationError || error instanceof HeldError || !(error instanceof TributaryError);
}

async function contextOf(
  run: Run,
  company: Config["companies"][number],
  api: Api,
  limiter: Limiter,
  signal: AbortSignal,
): Promise<SyncContext> {
  const { order, tools, catalogue, destination, runId } = run;
  const { config } = order;
  return {
    runId,
    company: company.name,
    baseUrl: company.baseUrl,
    api,
    limiter,
    destination,
    clock: tools.clock,
    hasher: await createHasher(),
    formats: config.formats,
    signal,
    log: tools.log,
    redact: tools.redact,
    catalogue,
    policy: {
      full: order.full,
      allDetails: order.allDetails,
      confirmDeletes: order.confirmDeletes,
      deletes: config.deletes,
      problems: config.problems,
      start: config.streams.start,
      publishEveryMs: config.destination.publishEveryMs,
    },
    policyOf: name => policyOf(config, name),
  };
}

function policyOf(config: Config, stream: string): StreamPolicy {
  const { defaults, settings } = config.streams;
  const own = settings[stream];
  return {
    audit: own?.audit ?? defaults.audit,
    maxRejectShare: own?.maxRejectShare ?? defaults.maxRejectShare,
    fullScanPages: own?.fullScanPages,
    fullScanEveryMs: own?.fullScanEveryMs,
    lookbackMs: own?.lookbackMs,
    refresh: own?.refresh,
    maxDetails: own?.maxDetails,
  };
}

function limitTime(order: RunOrder, clock: Clock, signal: AbortSignal, stopAll: (error: unknown) => void): void {
  if (order.maxTimeMs === undefined) return;
  const limit = order.maxTimeMs;
  clock.sleep(limit, signal).then(
    () =>
      stopAll(
        new StoppedError(
          `--max-time ${Math.round(limit / 1000)}s is over: everything read so far is stored, the next run goes on from there.`,
          5,
        ),
      ),
    () => undefined,
  );
}

/** While a long run lasts, readers are shown what has been published so far. */
function showEvery(run: Run, signal: AbortSignal, errors: unknown[]): void {
  const { destination, tools, order } = run;
  const every = order.config.destination.publishEveryMs;
  const loop = async () => {
    for (;;) {
      await tools.clock.sleep(every, signal);
      if ((await destination.unshown()).owed) await destination.show();
    }
  };
  loop().catch(error => {
    if (!signal.aborted) errors.push(error);
  });
}

async function conclude(run: Run, errors: unknown[]): Promise<RunReport> {
  const { tools, destination, runId, startedAt, jobs } = run;
  const finishedAt = new Date(tools.clock.now()).toISOString();
  const warnings = jobs
    .filter(job => job.tally.run.status === "warning")
    .map(({ stream, tally }) => warningOf(stream, tally));
  let exitCode = exitCodeOf(errors);
  const status =
    exitCode === 0
      ? warnings.length > 0
        ? "warning"
        : "succeeded"
      : [5, 130, 143].includes(exitCode)
        ? "stopped"
        : "failed";
  const error = errors.length === 0 ? null : tools.redact(messageOf(errors[0]));
  try {
    await endRun(destination.db, runId, {
      status,
      exit_code: exitCode,
      finished_at: finishedAt,
      warnings: JSON.stringify(warnings),
      error,
    });
    const { owed, shownAt } = await destination.unshown();
    const stale = shownAt === undefined || tools.clock.now() - shownAt.getTime() > STALE_MS;
    if (owed || stale) {
      const { note } = await destination.show();
      if (note !== undefined) warnings.push(note);
    }
  } catch (failure) {
    // The destination's own failure may be why the run failed: then it has been told already.
    if (!errors.some(known => known instanceof DestinationError || known instanceof HeldError))
      tools.log.warn({}, messageOf(failure));
    exitCode = exitCodeOf([...errors, failure]);
  }
  return {
    run_id: runId,
    status: exitCode === 0 ? status : status === "stopped" ? "stopped" : "failed",
    exit_code: exitCode,
    started_at: startedAt,
    finished_at: finishedAt,
    warnings,
    streams: jobs.map(({ company, stream, tally }) => ({ run_id: runId, company, stream: stream.name, ...tally.run })),
  };
}

function warningOf(stream: Stream, { run }: Tally): string {
  const parts = [
    ...(run.rejected > 0 ? [`${run.rejected} rows could not be stored (tributary rejects ${stream.name})`] : []),
    ...(run.problems > 0
      ? [`${run.problems} values could not be read (tributary rejects ${stream.name} --problems)`]
      : []),
  ];
  return `${stream.name}: ${parts.join(", ")}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The exit code of several failures. */
export function exitCodeOf(errors: readonly unknown[]): ExitCode {
  const codes = errors.map(error => (error instanceof TributaryError ? error.exitCode : 70));
  return PRECEDENCE.find(code => codes.includes(code)) ?? 0;
}

function snapshot(jobs: readonly Job[], limiters: ReadonlyMap<string, Limiter>): ReturnType<RunView["snapshot"]> {
  const several = new Set(jobs.map(job => job.company)).size > 1;
  const state = [...limiters.values()].at(-1)?.state;
  return {
    streams: jobs.map(({ company, stream, tally: { activity } }) => ({
      stream: several ? `${company}/${stream.name}` : stream.name,
      state: activity.state,
      pages: activity.pages,
      rows: activity.rows,
      ...(activity.total === undefined ? {} : { total: activity.total }),
      ...(activity.waitingFor === undefined ? {} : { waitingFor: activity.waitingFor }),
    })),
    limitedBy: state?.limitedBy ?? "latency",
    inFlight: state?.inFlight ?? 0,
    ceiling: state?.ceiling ?? 0,
    limited429: [...limiters.values()].reduce((sum, limiter) => sum + limiter.state.limited, 0),
  };
}
