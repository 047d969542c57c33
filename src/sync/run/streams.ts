import { hostname } from "node:os";
import { isFile } from "../../config/destination.ts";
import { formatCount } from "../../counted.ts";
import { DestinationError, type Ends, type ExitCode, endOf, LockedError, StoppedError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import { redactMessage } from "../../secrets.ts";
import { currencyCoverage } from "../../warehouse/read/currency_coverage.ts";
import { viewOrder } from "../../warehouse/schema/prepare_warehouse.ts";
import { adoptFormats } from "../../warehouse/state/formats_record.ts";
import { beginRun, lastStreamRuns, warningsOfLastRun } from "../../warehouse/state/run_log.ts";
import { refreshModels } from "../../warehouse/views/stored_models.ts";
import type { StreamOutcome } from "../stream_progress.ts";
import { type Announcements, announce } from "./announcements.ts";
import { doubtfulAssumptions } from "./assumptions.ts";
import { logOf, sideBySide } from "./companies.ts";
import { conclude, firstLook, releaseEvery, type WorkedRun } from "./conclusion.ts";
import { type CompanyRun, contextOf, fromService } from "./jobs.ts";
import { runMessages } from "./messages.ts";
import type { Archives } from "./opening.ts";
import { type OpenedRun, type PreparedRun, viewsOf } from "./preparation.ts";
import { measureChanged } from "./relation_measurement.ts";
import { type Closing, exitCodeOf, type Job, messageFor, messageInReport, type RunReport, viewOf } from "./report.ts";
import type { Service } from "./service.ts";

/** A smaller share of rows without a rate is a day or two that the file of rates is behind. */
const MOST_UNCONVERTED = 0.02;

interface Run extends OpenedRun, PreparedRun {
  readonly archives: Archives;
  /** Another process began it, and is gone: its row is there. */
  readonly isResumed?: boolean;
}

/** Works on the streams of all companies, and concludes the run. `limit` ends it at the next safe point. */
export async function workOnStreams(run: Run, limit: AbortSignal): Promise<RunReport> {
  const { plan, jobs, destination, catalogue } = run;
  const { order, tools, runId, startedAt, attempt } = plan;
  const ended = { order, tools, runId, startedAt, destination, catalogue, jobs };
  const announcements = await announceBegin(run);
  const errors: unknown[] = [];
  const warnings = [...run.warnings];
  const timers = new AbortController();
  const fail = (error: unknown): void => void errors.push(error);
  const releasing = releaseEvery(ended, order.config.destination.publishEveryMs, timers.signal).catch(fail);
  const look = firstLook(ended);
  const shared = { announcements, errors, warnings, listed: () => look().catch(fail) };
  const closing: Closing = {};
  const signal = await workOnCompanies(run, limit, shared, closing).finally(() => timers.abort());
  closing.step = "copying for readers";
  await releasing;
  if (signal.aborted && !errors.includes(signal.reason)) errors.push(signal.reason);
  closing.step = "measuring relations";
  await measureChanged(ended, errors);
  closing.step = "measuring meanings and models";
  const assumptions = await doubtfulAssumptions(ended, errors);
  const doubts = [...assumptions, ...(await refreshStored(ended, errors)), ...(await lackingRates(ended, errors))];
  announcements.warn(doubts);
  closing.step = isFile(order.config.destination) ? "copying for readers" : "recording the run";
  const report = await conclude({ ...ended, warnings: [...warnings, ...doubts], announcements }, errors);
  closing.step = "closing";
  attempt?.end(errors.map(error => ({ error, message: messageInReport(error, jobs, tools.redact) })));
  return report;
}

/** Answers the signal that ends it. */
async function workOnCompanies(
  run: Run,
  limit: AbortSignal,
  streams: Pick<AllStreams, "announcements" | "errors" | "warnings" | "listed">,
  closing: Closing = {},
): Promise<AbortSignal> {
  const { plan, jobs, services } = run;
  const { tools } = plan;
  const ending = new AbortController();
  const signal = AbortSignal.any([tools.signal, ending.signal, limit]);
  tools.watch(viewOf(jobs, services, tools.clock, await usualRequests(run), closing));
  const all = { ...streams, signal, stopRun: (error: unknown) => ending.abort(error) };
  const work = (service: Service, streamsAtOnce: number) => workOnCompany(run, service, { ...all, streamsAtOnce });
  await sideBySide(services, work, plan.source.isShared === true ? services.length : undefined);
  return signal;
}

/** Requests that streams took when they were last worked on. Those of a first load say nothing about the next run of a feed or of details, nor those of other runs about one that reads all. */
async function usualRequests({ plan, destination }: Run): Promise<(job: Job) => number | undefined> {
  const { order, source, runId } = plan;
  if (source !== fromService || order.refresh.full || order.refresh.allDetails) return () => undefined;
  const rows = await lastStreamRuns(destination, runId);
  const last = new Map(rows.map(row => [JSON.stringify([row.company, row.stream]), row]));
  return ({ company, stream }) => {
    const row = last.get(JSON.stringify([company, stream.name]));
    if (row === undefined || (row.status !== "succeeded" && row.status !== "warning")) return undefined;
    const isFirst = Number(row.inserted) * 2 > Number(row.rows_read);
    return isFirst && (stream.mode.kind === "feed" || stream.mode.kind === "detail") ? undefined : Number(row.requests);
  };
}

/** What a run did for one company, as JSON. */
export interface CompanyOutcome {
  readonly warnings: readonly Message[];
  readonly streams: readonly (StreamOutcome & { readonly stream: string })[];
  readonly failures: readonly (Message & { readonly exitCode: ExitCode; readonly ends: Ends })[];
}

/** Works on the streams of the run's one company. @throws DestinationError, LockedError: another try may go better */
export async function workOnOneCompany(run: Run, limit: AbortSignal): Promise<CompanyOutcome> {
  const { tools } = run.plan;
  const errors: unknown[] = [];
  const warnings = [...run.warnings];
  const announcements = announce(tools.log, []);
  announcements.warn(run.warnings);
  await announceFormats(run);
  await workOnCompanies(run, limit, { announcements, errors, warnings, listed: async () => undefined });
  const passing = (error: unknown) =>
    error instanceof LockedError || (error instanceof DestinationError && error.passing);
  if (errors.some(passing)) throw errors.find(passing);
  // Why a whole run ends is said where it is conducted.
  const own = errors.filter(error => !(error instanceof StoppedError));
  return {
    warnings,
    streams: run.jobs.map(({ stream, progress }) => ({ stream: stream.name, ...progress.outcome() })),
    failures: own.map(error => ({
      ...redactMessage(messageFor(error), tools.redact),
      exitCode: exitCodeOf([error]),
      ends: endOf(error),
    })),
  };
}

/** Works out anew the models that are kept as tables. A failure of it joins the `errors`. */
async function refreshStored(
  { order, destination, catalogue }: WorkedRun,
  errors: unknown[],
): Promise<readonly Message[]> {
  const views = viewsOf(order);
  if (views.wanted !== "materialized" || errors.some(error => error instanceof DestinationError)) return [];
  try {
    return await refreshModels(destination, viewOrder(destination, catalogue, views));
  } catch (error) {
    errors.push(error);
    return [];
  }
}

/** A warning where sums in the reporting currency lack so many rows that they only look like sums. A failure of it joins the `errors`. */
export async function lackingRates(
  {
    order,
    destination,
    jobs,
  }: Pick<WorkedRun, "destination" | "jobs"> & {
    readonly order: { readonly config: Pick<WorkedRun["order"]["config"], "currency" | "views"> };
  },
  errors: unknown[],
): Promise<readonly Message[]> {
  const { currency, views } = order.config;
  if (currency === undefined || views === false || errors.length > 0) return [];
  try {
    const isChanged = jobs.some(({ progress: { run } }) => run.inserted + run.updated + run.deleted > 0);
    const currencies = await currencyCoverage(destination, isChanged);
    const sum = (name: "rows" | "unconverted") => currencies.reduce((total, each) => total + each[name], 0);
    const [rows, unconverted] = [sum("rows"), sum("unconverted")];
    if (unconverted <= MOST_UNCONVERTED * rows) return [];
    const lacking = currencies.filter(each => each.unconverted > 0);
    return [runMessages.rates_lacking({ report: currency.report, rows, unconverted, currencies: lacking })];
  } catch (error) {
    errors.push(error);
    return [];
  }
}

/** What a company's streams share with those of the others. */
interface AllStreams extends Pick<CompanyRun, "errors" | "warnings" | "stopRun" | "streamsAtOnce" | "listed"> {
  readonly announcements: Announcements;
  readonly signal: AbortSignal;
}

async function workOnCompany(run: Run, service: Service, streams: AllStreams): Promise<void> {
  const { plan, destination, services, archives, catalogue, jobs } = run;
  const { order, tools, runId, startedAt, source } = plan;
  const { announcements, signal, ...shared } = streams;
  const { selection, refresh } = order;
  const company = service.company.name;
  const log = logOf(tools.log, company, services.length > 1);
  const ending = new AbortController();
  const context = await contextOf(order.config, service, destination, {
    ...{ runId, clock: tools.clock, log, redact: tools.redact, catalogue, refresh },
    signal: AbortSignal.any([signal, ending.signal]),
    named: new Set(selection.named ?? selection.names),
    causes: plan.causes,
    askedAt: order.askedAt ?? startedAt,
  });
  await source.runCompany(context, service, {
    ...shared,
    jobs: jobs.filter(job => job.company === company && job.progress.activity.state !== "done"),
    archive: archives.of(company),
    unusable: run.unusable,
    log,
    failed: announcements.failuresOf(log),
    stopCompany: error => ending.abort(error),
  });
}

/** Writes the run's row, and says what is known before its first stream. */
async function announceBegin(run: Run): Promise<Announcements> {
  const { plan, destination } = run;
  const { order, tools, runId, startedAt } = plan;
  if (run.isResumed === true) return announce(tools.log, []);
  const row = {
    run_id: runId,
    command: order.command,
    started_at: startedAt,
    version: order.version,
    process: JSON.stringify({ pid: process.pid, host: hostname() }),
  };
  await beginRun(destination, row);
  const announcements = announce(tools.log, await warningsOfLastRun(destination.db, order.command));
  announcements.warn(run.warnings);
  if (plan.source.isShared !== true) await announceFormats(run);
  return announcements;
}

/** Says what it costs that `formats` have changed, before anything is asked for. */
async function announceFormats({ plan: { order, tools }, destination, jobs }: Run): Promise<void> {
  const { formats } = order.config;
  const reread = await adoptFormats(destination.db, jobs, formats, new Date(tools.clock.now()).toISOString());
  if (reread.length === 0) return;
  const requests = reread.reduce((sum, each) => sum + each.requests, 0);
  const before = [...new Map(reread.map(each => [JSON.stringify(each.before), each.before])).values()];
  const changed = runMessages.formats_changed({ streams: reread.length, before, now: formats, requests });
  const names = reread.map(({ stream }) => stream.name);
  tools.log.warn(changed, { requests: formatCount(requests), streams: names });
  jobs.find(({ stream }) => stream === reread[0]!.stream)?.progress.notes.push(changed);
}
