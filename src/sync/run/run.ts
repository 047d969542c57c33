import { hostname } from "node:os";
import type { Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { ArchiveConfig, Company, Config } from "../../config/config.ts";
import { lockGroupOf, select, selectedByConfig, versionedBy } from "../../config/selection.ts";
import { timespan } from "../../duration.ts";
import { ConfigError, StoppedError } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import { privacyOf, reconcilePrivacy, requireOwnPolicyKey } from "../../privacy/apply_policy.ts";
import { configured } from "../../privacy/configured_catalog.ts";
import type { Formats } from "../../rows/moment.ts";
import { type Archive, type ArchiveTools, openArchive } from "../../source/archive/archive.ts";
import { pruneArchive } from "../../source/archive/pruning.ts";
import { openDestination } from "../../warehouse/connect/open.ts";
import { hasState } from "../../warehouse/ddl/present_tables.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { prepareWarehouse } from "../../warehouse/schema/prepare_warehouse.ts";
import { adoptFormats } from "../../warehouse/state/formats_record.ts";
import { beginRun, warningsOfLastRun } from "../../warehouse/state/run_log.ts";
import { StreamProgress } from "../stream_progress.ts";
import { mendTimestamps, presentTime } from "../witnessed_time.ts";
import { announce } from "./announcements.ts";
import { doubtfulAssumptions } from "./assumptions.ts";
import { holdToWarehouse, identityOf, isAccepted, isItself, logOf, sideBySide } from "./companies.ts";
import { conclude, firstLook, releaseEvery, reportOf } from "./conclusion.ts";
import { contextOf, policyOf, runCompany } from "./jobs.ts";
import { measureChanged } from "./relation_measurement.ts";
import { type Job, type RunReport, viewOf } from "./report.ts";
import type { RunOrder, RunTools } from "./run_order.ts";
import { closedService, createSharedClients, openService, type Service, tried } from "./service.ts";

export type { RunReport, RunView } from "./report.ts";

/**
 * One run: locks, prepares the warehouse, syncs every selected stream of every company, shows readers the result. Failures
 * of streams are kept apart and told in the report; thrown is only what kept the run from beginning.
 */
export async function runSync(order: RunOrder, tools: RunTools): Promise<RunReport> {
  const { clock, random, log, signal } = tools;
  const { config, version, maxRequests } = order;
  const startedAt = new Date(clock.now()).toISOString();
  const runId = newRunId(startedAt, random);
  order.attempt?.start(runId);
  const companies = companiesOf(config, order.company);
  const catalogue = configured(order.catalogue, config);
  const on = selectedByConfig(catalogue, config.streams);
  const { streams } = select(catalogue, on, order.names, config.streams.settings);
  const holder = { pid: process.pid, host: hostname(), command: order.command, startedAt };
  // Whoever waits for a lock stops waiting at the first signal.
  const patience: Clock = { now: () => clock.now(), sleep: (ms, until) => clock.sleep(ms, until ?? signal) };
  const sharedClients = order.attempt?.sharedClients ?? createSharedClients(config.api, clock);
  const { memory } = sharedClients;
  let limit = new AbortController();
  const stopReason = () => (signal.aborted ? signal : limit.signal).reason;
  const waiting = (who: string, ms: number) => {
    const sentence = `Waiting up to ${timespan(ms)} for ${who}.`;
    log.info({}, sentence);
    tools.waits?.(sentence);
  };
  const opener = {
    waiting,
    runId,
    holder,
    clock: patience,
    memory,
    makesRoom: order.background !== undefined,
    stopReason,
  };
  const privacy = privacyOf(order.catalogue, config.privacy);
  const archives = openArchives(order.again === undefined ? config.archive : undefined, {
    run: runId,
    privacy: privacy.policy.id,
    clock,
    log,
    redact: tools.redact,
  });
  const leaving = new AbortController();
  const asked = AbortSignal.any([signal, leaving.signal]);
  const treat = privacy.ofAnswers;
  const serviceTools = { treat, clock, random, log, signal: asked, version, maxRequests, archiveOf: archives.of };
  let opening: readonly Promise<Service>[] = [];
  const ask = () => {
    opening = companies.map(each =>
      order.again === undefined
        ? openService(each, config.api, order.identity, serviceTools, sharedClients)
        : Promise.resolve(closedService(each, config.api, clock)),
    );
    const asking = Promise.all(opening);
    asking.catch(() => undefined);
    return asking;
  };
  let destination: Destination | undefined;
  try {
    // Asked while the destination is being opened: neither needs the other, and both take a round trip and more. But nothing
    // is fetched that could only be stored under another key than what is there.
    const early = privacy.policy.keyId === undefined ? ask() : undefined;
    destination = await openDestination(config.destination, opener, order.waitMs);
    // Before its first stream only waits for others' locks are cut; those for our own have --wait.
    const prepared = new AbortController();
    const preparing = AbortSignal.any([prepared.signal, leaving.signal]);
    limitTime(order, -order.waitMs, clock, preparing, error => limit.abort(error));
    if (early === undefined) await requireOwnPolicyKey(destination, privacy);
    // Waiting for the lock has a limit of its own; waiting for the service has not.
    const openedAt = clock.now();
    const answered = new AbortController();
    const waiting = AbortSignal.any([answered.signal, leaving.signal]);
    limitTime(order, 0, clock, waiting, error => leaving.abort(error));
    const accept = (service: Service) => tried(service, streams, asked);
    const services = await holdToWarehouse(await (early ?? ask()), destination, version, accept);
    answered.abort();
    const askedMs = Math.max(0, clock.now() - openedAt);
    const jobs = services.flatMap(({ company }) =>
      streams.map(stream => ({ company: company.name, stream, progress: new StreamProgress(startedAt) })),
    );
    const shared = { order, tools, runId, startedAt, services, catalogue, destination, jobs, archives };
    const run: Run = { ...shared, warnings: [] };
    if (services.every(service => service.failure !== undefined) && !(await hasState(destination))) return refused(run);
    const policy = (name: string) => policyOf(config, name);
    const lockGroups = new Set(streams.map(stream => lockGroupOf(catalogue, stream)));
    const held = catalogue.filter(stream => lockGroups.has(lockGroupOf(catalogue, stream)));
    const { done, warnings, widened, reconcileHistories } = await prepareWarehouse(destination, {
      version,
      companies: services
        .filter(isItself)
        .map(service => ({ ...identityOf(service), isRecorded: isAccepted(service) })),
      catalogue,
      streams: catalogue.filter(stream => on.includes(stream) || streams.includes(stream)),
      lockGroups: [...lockGroups],
      held: held.map(({ name }) => name),
      versioned: versionedBy(catalogue, config.streams),
      grantSelectTo: config.destination.grantSelectTo,
      widening: streams.map(({ name }) => name).filter(name => policy(name).unknownFields === "column"),
      formats: config.formats,
      volatileOf: name => config.streams.settings[name]?.volatile ?? [],
      waitMs: order.waitMs,
      now: startedAt,
      views: { wanted: config.views, models: order.models, meanings: config.meanings },
    });
    const names = services.filter(isItself).map(({ company }) => company.name);
    const mended: string[] = [];
    for (const { company, api } of services.filter(isItself)) {
      const sentence = await mendTimestamps(
        destination,
        { clock, stats: api.stats },
        { company: company.name, streams: held },
      );
      if (sentence !== undefined) mended.push(sentence);
    }
    const privacyChanges = await reconcilePrivacy(destination, privacy, {
      archive: config.archive,
      waitMs: order.waitMs,
      now: new Date(clock.now()).toISOString(),
      askedAt: order.askedAt ?? startedAt,
      log,
      always: order.again !== undefined,
    });
    const histories = await reconcileHistories();
    const renewed = await tools.renewExports(destination, {
      ...{ catalogue, on, clock, log, signal, version, privacy: privacy.policy.id, holder: { runId, ...holder } },
    });
    const wide = catalogue.map(widened);
    const wideOf = (stream: Stream) => wide[catalogue.indexOf(stream)]!;
    const told = [...destination.warnings, ...warnings, ...privacyChanges.warnings, ...mended, ...renewed.warnings];
    for (const sentence of [...done, ...privacyChanges.done, ...histories, ...renewed.done]) log.info({}, sentence);
    await order.background?.begin(destination, names, wide);
    await order.attempt?.begin(destination);
    const left = jobs
      .filter(({ company, stream }) => order.attempt?.isDone(company, stream.name) !== true)
      .map(job => ({ ...job, stream: wideOf(job.stream) }));
    prepared.abort();
    limit = new AbortController();
    limitTime(order, askedMs, clock, leaving.signal, error => limit.abort(error));
    return await runJobs({ ...run, limit: limit.signal, catalogue: wide, jobs: left, warnings: told });
  } finally {
    leaving.abort();
    await Promise.allSettled(opening);
    for (const api of sharedClients.apis) await api.close();
    await archives.end(Math.min(clock.now(), ...sharedClients.apis.map(api => presentTime(clock, api.stats))));
    await destination?.close();
  }
}

/** Sortable by time, unique by chance. */
export function newRunId(startedAt: string, random: () => number): string {
  const chance = Math.floor(random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, "0");
  return `${startedAt.replace(/[-:]/g, "").slice(0, 15)}-${chance}`;
}

/** The companies a run works for. @throws ConfigError for one that the config doesn't have */
export function companiesOf(config: Config, wanted: string | undefined): readonly Company[] {
  if (wanted === undefined) return config.companies;
  const chosen = config.companies.filter(company => company.name === wanted);
  if (chosen.length > 0) return chosen;
  throw new ConfigError(
    `--company: expected one of ${config.companies.map(company => company.name).join(", ")}, got ${wanted}. Name one of them, or leave --company out for all.`,
  );
}

/** Nothing can be read, and nothing has been loaded yet: no empty warehouse is left behind. */
function refused(run: Run): RunReport {
  const failures = run.services.flatMap(service => service.failure ?? []);
  for (const { progress } of run.jobs) progress.run.status = "skipped";
  return reportOf(run, failures, [], new Date(run.tools.clock.now()).toISOString());
}

interface Run {
  readonly order: RunOrder;
  readonly tools: RunTools;
  readonly runId: string;
  readonly startedAt: string;
  readonly services: readonly Service[];
  readonly catalogue: readonly Stream[];
  readonly destination: Destination;
  readonly jobs: readonly Job[];
  readonly archives: Archives;
  /** About the warehouse, not a stream. */
  readonly warnings: readonly string[];
}

async function runJobs(run: Run & { readonly limit: AbortSignal }): Promise<RunReport> {
  const { order, tools, runId, startedAt, destination, jobs, services, catalogue } = run;
  const { clock, log, redact } = tools;
  const owner = JSON.stringify({ pid: process.pid, host: hostname() });
  await beginRun(
    destination.db,
    {
      run_id: runId,
      command: order.command,
      started_at: startedAt,
      version: order.version,
      process: owner,
    },
    new Date(clock.now()),
  );
  const announcements = announce(log, await warningsOfLastRun(destination.db, order.command));
  announcements.warn(run.warnings);
  await announceFormats(run);
  const ending = new AbortController();
  const signal = AbortSignal.any([tools.signal, ending.signal, run.limit]);
  const timers = new AbortController();
  const errors: unknown[] = [];
  const stopAll = (error: unknown) => ending.abort(error);
  const showing = releaseEvery(run, order.config.destination.publishEveryMs, timers.signal).catch(
    error => void errors.push(error),
  );
  const looking = firstLook(run);
  const listed = () => looking().catch(error => void errors.push(error));
  tools.watch(viewOf(jobs, services, clock));
  const { full, allDetails, confirmDeletes, resume, askedAt = startedAt } = order;
  await sideBySide(services, async (service, streamsAtOnce) => {
    const company = service.company.name;
    const ownEnding = new AbortController();
    const shared = {
      runId,
      clock,
      signal: AbortSignal.any([signal, ownEnding.signal]),
      log: logOf(log, company, services.length > 1),
      redact,
      catalogue,
      named: new Set(order.named ?? order.names),
      full,
      allDetails,
      afreshSince: (full || allDetails) && resume !== true ? askedAt : undefined,
      confirmDeletes,
    };
    await (order.again ?? runCompany)(await contextOf(order.config, service, destination, shared), service, {
      jobs: jobs.filter(job => job.company === company),
      streamsAtOnce,
      archive: run.archives.of(company),
      log: shared.log,
      failed: announcements.failuresOf(shared.log),
      errors,
      stop: error => ownEnding.abort(error),
      stopAll,
      work: order.background?.work,
      listed,
    });
  });
  timers.abort();
  await showing;
  if (signal.aborted && !errors.includes(signal.reason)) errors.push(signal.reason);
  await measureChanged(run, errors);
  const doubts = await doubtfulAssumptions(run, errors);
  announcements.warn(doubts);
  const warnings = [...run.warnings, ...doubts];
  const report = await conclude({ ...run, warnings, announcements }, errors);
  order.attempt?.end(errors);
  return report;
}

/** Says what it costs that `formats` have changed, before anything is asked for. */
async function announceFormats({ order, tools, destination, jobs }: Run): Promise<void> {
  const { formats } = order.config;
  const reread = await adoptFormats(destination.db, jobs, formats, new Date(tools.clock.now()).toISOString());
  if (reread.length === 0) return;
  const requests = reread.reduce((sum, each) => sum + each.requests, 0).toLocaleString("en-US");
  const inWords = ({ dates, timezone }: Formats) => `dates [${dates.join(", ")}] and timezone ${timezone}`;
  const befores = [...new Set(reread.map(({ before }) => inWords(before)))];
  const text = `formats: ${reread.length} streams were read with ${befores.join(", or ")}, and the configuration now says ${inWords(formats)}. Their lists and feeds are read whole and all of their details fetched again, about ${requests} requests beyond those of a usual run; snapshots of earlier days stay as they were read.`;
  tools.log.warn({ requests, streams: reread.map(({ stream }) => stream.name) }, text);
  jobs.find(({ stream }) => stream === reread[0]!.stream)?.progress.notes.push(text);
}

/** Calls `stop` with a StoppedError when what is left of --max-time after `spentMs` is over, until the signal. */
function limitTime(
  { maxTimeMs }: { readonly maxTimeMs: number | undefined },
  spentMs: number,
  clock: Clock,
  signal: AbortSignal,
  stop: (error: unknown) => void,
): void {
  if (maxTimeMs === undefined) return;
  const over = `--max-time is over after ${timespan(maxTimeMs)}: everything read so far is stored, the next run goes on from there.`;
  clock.sleep(Math.max(0, maxTimeMs - spentMs), signal).then(
    () => stop(new StoppedError(over, 5)),
    () => undefined,
  );
}

/** Where a run keeps the answers of its companies. */
interface Archives {
  /** Undefined: nowhere. */
  of(company: string): Archive | undefined;
  /** Closes the files and removes those that are too old. `now`: by our clock, unless the service's is behind it. */
  end(now: number): Promise<void>;
}

const none: Archives = { of: () => undefined, end: async () => undefined };

function openArchives(
  config: ArchiveConfig | undefined,
  { log, ...tools }: Omit<ArchiveTools, "company"> & { readonly log: Log },
): Archives {
  if (config === undefined) return none;
  const open = new Map<string, Archive>();
  return {
    of(company) {
      const archive = open.get(company) ?? openArchive(config, { ...tools, company });
      open.set(company, archive);
      return archive;
    },
    async end(now) {
      for (const archive of open.values()) await archive.close();
      try {
        const removed = await pruneArchive(config.path, now - config.keepMs);
        if (removed > 0) log.debug({ files: removed }, "removed from the archive what was older than archive.keep");
      } catch (error) {
        log.warn({ err: error }, `${config.path}: files older than archive.keep could not be removed`);
      }
    },
  };
}
