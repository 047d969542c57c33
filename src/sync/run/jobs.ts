import PQueue from "p-queue";
import { lookupOf, waitsFor } from "../../catalog/lookup.ts";
import type { Stream } from "../../catalog/stream.ts";
import { type Config, noSettings } from "../../config/config.ts";
import { selectedByConfig } from "../../config/selection.ts";
import { DestinationError, endOf, StoppedError, TributaryError } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import type { Message } from "../../message.ts";
import { Mutex } from "../../mutex.ts";
import { createHasher } from "../../rows/hash.ts";
import { type Api, through } from "../../source/api.ts";
import { telling } from "../../source/archive/about.ts";
import type { Archive } from "../../source/archive/archive.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { lastStreamRuns } from "../../warehouse/state/run_log.ts";
import type { Refresh, StreamPolicy, StreamSync, SyncContext } from "../context.ts";
import { streamMessages, UNAVAILABLE } from "../stream/messages.ts";
import { type StreamWork, syncStream } from "../stream/sync_stream.ts";
import type { Announcements } from "./announcements.ts";
import { runMessages } from "./messages.ts";
import type { Job } from "./report.ts";
import type { Service } from "./service.ts";

export interface CompanyRun {
  readonly jobs: readonly Job[];
  readonly streamsAtOnce: number;
  readonly log: Log;
  readonly failed: ReturnType<Announcements["failuresOf"]>;
  readonly archive?: Archive | undefined;
  /** Failures, in the order in which they came. */
  readonly errors: unknown[];
  /** Those of the run, of no stream. */
  readonly warnings: Message[];
  readonly stopCompany: (error: unknown) => void;
  /** Ends the whole run at the next safe point. */
  readonly stopRun: (error: unknown) => void;
  /** Instead of `sync`'s way to work on a stream. */
  readonly work?: StreamWork | undefined;
  /** Streams that cannot be worked on as their tables are, with the reason. */
  readonly unusable?: ReadonlyMap<string, Message> | undefined;
  /** Called when a stream that is no detail has been worked on, and others are left. */
  readonly listed: () => Promise<void>;
}

/** Works through a company's streams: side by side, but each after those of the run whose rows say what it asks for. */
export async function runCompany(context: SyncContext, service: Service, run: CompanyRun): Promise<void> {
  const { jobs } = run;
  if (service.failure !== undefined) return refuseAll(context, service.failure, run);
  // Details ask for hours and lists keep the database busy: side by side neither waits for the other's kind, and while
  // some details are being published others ask.
  const lists = new PQueue({ concurrency: run.streamsAtOnce });
  const details = new PQueue({ concurrency: 2 * run.streamsAtOnce });
  const wanted = context.streams.wanted.union(new Set(jobs.map(job => job.stream.name)));
  const streams = { ...context.streams, wanted };
  const related = await relatedLists(context, jobs);
  const before = (job: Job) => [...neededBefore(job, jobs, context.policy), ...related(job)];
  const waiting = new Map(jobs.map(job => [job, before(job)]));
  const unfinished = () => lists.pending + lists.size + details.pending + details.size;
  let turn = 0;
  const startReady = (): void => {
    for (const [job, needed] of waiting) {
      job.progress.activity.waitingFor = needed[0]?.stream.name;
      if (needed.length > 0) continue;
      waiting.delete(job);
      void (job.stream.mode.kind === "detail" ? details : lists).add(async () => {
        const isDetail = job.stream.mode.kind === "detail";
        const service = { ...context.service, turn: isDetail ? turn++ : 0 };
        await runJob(watched(keeping({ ...context, streams, service }, job, run), job), job, run);
        // After the last one the run's end is near, which shows everything.
        if (!isDetail && waiting.size + unfinished() > 1) await run.listed();
        for (const [other, all] of waiting)
          waiting.set(
            other,
            all.filter(each => each !== job),
          );
        startReady();
      });
    }
  };
  startReady();
  while (unfinished() > 0) await Promise.all([lists.onIdle(), details.onIdle()]);
  noteNothingAvailable(context.company, run);
}

/** A warning for each list would be a run that succeeds without a row. What was not requested says nothing. */
function noteNothingAvailable(company: string, { jobs, errors, failed }: CompanyRun): void {
  const isList = (stream: Stream) => stream.mode.kind !== "detail" && lookupOf(stream) === undefined;
  const lists = jobs.filter(({ stream, progress }) => isList(stream) && progress.run.requests > 0);
  if (lists.length === 0 || !lists.every(({ progress }) => progress.isForbidden)) return;
  const failure = new TributaryError(runMessages.nothing_available({ company, lists: lists.length }), 1);
  errors.push(failure);
  failed(failure, { company });
}

/** Nothing of the company can be read. Each stream's row says so too: the run's own is soon followed by one for other companies. */
async function refuseAll(context: SyncContext, failure: Error, run: CompanyRun): Promise<void> {
  run.errors.push(failure);
  run.failed(failure, { company: context.company });
  const refuse: StreamWork = () => Promise.reject(failure);
  let lost: unknown;
  for (const job of run.jobs) {
    if (lost !== undefined) {
      leaveOut(job);
      continue;
    }
    const error: unknown = await syncStream(syncOf(context, job), refuse).catch(thrown => thrown);
    if (error !== failure) lost = error;
  }
  if (lost === undefined) return;
  run.errors.push(lost);
  run.stopRun(lost);
}

const syncOf = (context: SyncContext, { stream, progress }: Job): StreamSync => ({
  ...{ context, stream, progress },
  mode: stream.mode,
});

/** The context in which a stream's answers are kept, and say what they are. */
function keeping(context: SyncContext, { stream: { name }, progress }: Job, { archive }: CompanyRun): SyncContext {
  if (archive === undefined) return context;
  const about = { stream: name, ...(context.policy.confirmDeletes ? { accepted: true as const } : {}) };
  return {
    ...context,
    service: {
      ...context.service,
      api: telling(context.service.api, about),
      async archived() {
        const warning = await archive.kept(name);
        if (warning !== undefined) progress.warnings.push(warning);
      },
    },
  };
}

/** The context in which a stream's display learns what it waits for. */
function watched(context: SyncContext, { progress: { activity } }: Job): SyncContext {
  const { service } = context;
  const { api } = service;
  activity.asked = 0;
  const get: Api["get"] = async (path, query, options) => {
    let sent = 0;
    activity.asked = (activity.asked ?? 0) + 1;
    const onSent = () => {
      activity.sent += 1 - sent;
      sent = 1;
    };
    try {
      return await api.get(path, query, { ...options, onSent });
    } finally {
      activity.asked!--;
      activity.sent -= sent;
    }
  };
  return {
    ...context,
    service: { ...service, api: through(api, get) },
    inTurn(publish) {
      activity.waitingFor = "the publish of another stream";
      return context.inTurn(() => {
        activity.waitingFor = undefined;
        return publish();
      });
    },
  };
}

/** Those of the jobs that have to be done before: their rows say what this one asks for. */
function neededBefore({ stream }: Job, jobs: readonly Job[], policy: SyncContext["policy"]): readonly Job[] {
  const names = asksBy(stream, policy.ofStream(stream.name));
  return jobs.filter(other => other.stream !== stream && names.some(name => hasTable(other.stream, name)));
}

/**
 * Lists whose changes make details due: from the second run on these wait for them, so that all that changed is known when details
 * are asked for, once a run.
 */
async function relatedLists(
  { streams: { causes }, policy, destination, company, runId }: SyncContext,
  jobs: readonly Job[],
): Promise<(job: Job) => readonly Job[]> {
  const listsOf = (detail: string) => causes.filter(({ details }) => details.includes(detail)).map(each => each.stream);
  if (jobs.every(({ stream }) => listsOf(stream.name).length === 0)) return () => [];
  const rows = await lastStreamRuns(destination, runId);
  const worked = new Set(rows.filter(row => row.company === company).map(({ stream }) => stream));
  return ({ stream }) => {
    if (!worked.has(stream.name)) return [];
    const names = listsOf(stream.name);
    return jobs.filter(other => names.includes(other.stream.name) && neededBefore(other, jobs, policy).length === 0);
  };
}

/** Tables whose rows say what a stream asks for: a detail's parents, and where a lookup takes its values from. */
function asksBy(stream: Stream, policy: StreamPolicy): readonly string[] {
  const { mode } = stream;
  if (mode.kind !== "detail") return waitsFor(stream, policy);
  return [mode.of, ...(mode.also ?? []).map(column => column.split(".")[0]!)];
}

const hasTable = ({ tables }: Stream, name: string): boolean =>
  [tables.main, ...tables.children].some(table => table.name === name);

export function skip({ progress }: Job, reason: string, state: "failed" | "stopped" = "failed"): void {
  progress.run.status = "skipped";
  progress.run.error = reason;
  progress.activity.state = state;
}

/** Leaves out a stream of a run that ends before its turn. */
export const leaveOut = (job: Job): void => skip(job, "the run was ending", "stopped");

async function runJob(context: SyncContext, job: Job, run: CompanyRun): Promise<void> {
  const { jobs, log, errors, work } = run;
  const { stream, progress } = job;
  const parent = parentOf(job, jobs);
  if (context.signal.aborted) return leaveOut(job);
  const without = whyWithout(job, jobs);
  // Of a list that could not be read the failure is told; one that this key may not read is none, but for who asked by name.
  const failing =
    without !== undefined && parent?.progress.isForbidden === true && context.streams.named.has(stream.name);
  if (without !== undefined && !failing) return skip(job, without);
  const unusable = run.unusable?.get(stream.name);
  const refuse: StreamWork = async () => {
    const list = parent?.stream.name ?? "";
    throw new TributaryError(unusable ?? streamMessages.list_not_available({ stream: stream.name, list }), 1);
  };
  try {
    progress.activity.waitingFor = undefined;
    progress.run.started_at = new Date(context.clock.now()).toISOString();
    await syncStream(syncOf(context, job), failing || unusable !== undefined ? refuse : work);
    const { requests, rows_read, inserted, updated, deleted, unchanged } = progress.run;
    if (progress.run.error === null)
      log.info(runMessages.done(), { stream: stream.name, requests, rows_read, inserted, updated, deleted, unchanged });
  } catch (error) {
    if (error instanceof StoppedError) {
      log.info(runMessages.stopped(), { stream: stream.name });
      // Of one that waited for another session it is told whom.
      if (error !== context.signal.reason) errors.push(error);
      return;
    }
    // The same failure of the destination meets every stream: it is told once, at the end.
    if (error instanceof DestinationError && errors.some(known => known instanceof DestinationError)) return;
    errors.push(error);
    if (context.signal.aborted) return;
    run.failed(error, { stream: stream.name });
    log.debug("where it failed", { stream: stream.name, err: error });
    const ends = endOf(error);
    if (ends === "run") run.stopRun(error);
    else if (ends === "company") run.stopCompany(error);
  }
}

const parentOf = ({ stream: { mode } }: Job, jobs: readonly Job[]): Job | undefined =>
  mode.kind === "detail" ? jobs.find(other => other.stream.name === mode.of) : undefined;

/** Why nothing can be asked for as the parent's rows are not known; undefined: they are. */
function whyWithout(job: Job, jobs: readonly Job[]): string | undefined {
  const parent = parentOf(job, jobs);
  if (parent === undefined || parent.progress.published) return undefined;
  const { stream, progress } = parent;
  return `its list ${stream.name} ${progress.isForbidden ? `is ${UNAVAILABLE}` : "could not be read"}`;
}

export async function contextOf(
  config: Config,
  service: Service,
  destination: Destination,
  rest: Pick<SyncContext, "runId" | "clock" | "signal" | "log"> &
    Pick<SyncContext["encoding"], "redact"> &
    Pick<SyncContext["streams"], "catalogue" | "named" | "causes"> & {
      readonly refresh: Refresh;
      readonly askedAt: string;
    },
): Promise<SyncContext> {
  const { refresh, askedAt, redact, catalogue, named, causes, ...shared } = rest;
  const { full, allDetails, only, resume, confirmDeletes } = refresh;
  const { company, api, limiter } = service;
  const on = selectedByConfig(catalogue, config.streams);
  const turns = new Mutex();
  return {
    ...shared,
    company: company.name,
    service: { baseUrl: company.baseUrl, api, limiter, turn: 0, archived: async () => undefined },
    destination,
    inTurn: publish => turns.run(publish),
    encoding: { formats: config.formats, hasher: await createHasher(), redact },
    streams: { catalogue, named, causes, wanted: new Set(on.map(stream => stream.name)) },
    policy: {
      full,
      allDetails,
      only,
      afreshSince: (full || allDetails) && resume !== true ? askedAt : undefined,
      confirmDeletes,
      deletes: config.deletes,
      problems: config.problems,
      start: config.streams.start,
      confirmAbove: config.backfill.confirmAbove,
      publishEveryMs: config.destination.publishEveryMs,
      ofStream: name => policyOf(config, name),
    },
  };
}

export function policyOf(config: Config, stream: string): StreamPolicy {
  const { defaults, settings } = config.streams;
  const own = settings[stream] ?? noSettings;
  return {
    ...own,
    details: {
      audit: own.details?.audit ?? defaults.details.audit,
      fresh: own.details?.fresh ?? defaults.details.fresh,
      refreshMs: own.details?.refreshMs,
    },
    maxRejectShare: own.maxRejectShare ?? defaults.maxRejectShare,
    unknownFields: own.unknownFields ?? defaults.unknownFields,
  };
}

/** What a company's streams are loaded from, and how: `sync` asks the service for what is due, a backfill for what its plans name, a replay takes archive or rejects. */
export interface RunSource {
  /** False: everything is at hand, and no request is sent. */
  readonly asksService: boolean;
  /** Other runs go first: it waits for the lock without asking the holder to make room. */
  readonly givesWay: boolean;
  /** Other processes lock its companies and work on them, each on one at a time: it locks none. */
  readonly isShared?: boolean;
  /** Called with the locks held and the tables made, before the first stream. Answers warnings. */
  begin?(
    destination: Destination,
    companies: readonly string[],
    catalogue: readonly Stream[],
  ): Promise<readonly Message[]>;
  /** Called after that, and also when another process has begun the run. */
  underWay?(destination: Destination): void;
  readonly runCompany: typeof runCompany;
}

export const fromService: RunSource = { asksService: true, givesWay: false, runCompany };
