import { isFile } from "../../config/destination.ts";
import { select, selectedByConfig } from "../../config/selection.ts";
import { ConfigError, LockedError } from "../../errors.ts";
import { configured } from "../../privacy/configured_catalog.ts";
import { asDue } from "../../sync/context.ts";
import { reaching, runAttempts } from "../../sync/run/attempts.ts";
import type { Backfill, Range, Unfinished } from "../../sync/run/backfill_plans.ts";
import { ASIDE_MS, givingWay, LONGEST_TURN_MS } from "../../sync/run/giving_way.ts";
import { runCompany } from "../../sync/run/jobs.ts";
import { holderOf } from "../../sync/run/opening.ts";
import { mergeReports } from "../../sync/run/report.ts";
import { companiesOf, newRunId, type RunReport } from "../../sync/run/run.ts";
import type { RunOrder, RunTools } from "../../sync/run/run_order.ts";
import { backfillStream } from "../../sync/stream/backfill.ts";
import { openDestination } from "../../warehouse/connect/open.ts";
import { hasUnpublished, looking } from "../../warehouse/connect/reading.ts";
import { hasState } from "../../warehouse/ddl/present_tables.ts";
import type { Estimate } from "../estimate/estimate.ts";
import { estimateBackfill } from "./estimate.ts";
import { backfillMessages } from "./messages.ts";
import { decide, unfinishedPlans } from "./plan.ts";

export interface BackfillOrder extends Omit<RunOrder, "refresh" | "source"> {
  readonly range: Range;
  /** Goes on with what is unfinished, whatever dates it has. */
  readonly resume: boolean;
  readonly restart: boolean;
  readonly workers?: boolean;
}

/**
 * Loads history by a plan that is kept, company by company; stopped or killed, the same order or `resume` goes on with it. While another run
 * waits for the lock, what was read is published and the lock given back. `consent` is asked about many requests; it throws to refuse.
 */
export async function runBackfill(
  order: BackfillOrder,
  tools: RunTools,
  consent: ((estimate: Estimate) => Promise<void>) | undefined,
): Promise<RunReport> {
  const askedAt = new Date(tools.clock.now()).toISOString();
  const unfinished = await reaching(() => plansUnderLock(order, tools), order, tools);
  const decision = decided(order, unfinished, tools);
  if (!decision.continued && consent !== undefined) {
    const estimate = await estimateBackfill(order, decision, unfinished, { ...tools, ...limitsOf(order) });
    if (estimate.requests > order.config.backfill.confirmAbove) await consent(estimate);
  }
  if (order.workers === true) return onWorkers({ ...order, askedAt }, tools, decision);
  return workThrough({ ...order, askedAt }, tools, decision);
}

async function onWorkers(order: BackfillOrder, tools: RunTools, backfill: Backfill): Promise<RunReport> {
  const { openFleet } = await import("../../fleet/opening.ts");
  const { runOnWorkers } = await import("../../fleet/following.ts");
  await using fleet = await openFleet(order.config, tools, { supervises: false });
  return await runOnWorkers({ ...runOf(order, backfill), backfill }, { ...tools, ...fleet });
}

/** What it would request; reads what readers see, and writes nothing. */
export async function planBackfill(order: BackfillOrder, tools: RunTools): Promise<Estimate> {
  const unfinished = await readPlans(order.config.destination);
  const decision = decided(order, unfinished, tools);
  return estimateBackfill(order, decision, unfinished, { ...tools, ...limitsOf(order) });
}

const limitsOf = ({ version, limits: { maxRequests } }: BackfillOrder) => ({ version, maxRequests });

function decided(order: BackfillOrder, unfinished: readonly Unfinished[], tools: RunTools): Backfill {
  const { config, selection, resume, restart } = order;
  const { names } = selection;
  const companies = companiesOf(config, selection.company).map(company => company.name);
  const wish = { companies, resume, restart, range: boundedRange(order, tools) };
  const all = configured(order.catalogue, config);
  const { streams } = select(all, selectedByConfig(all, config.streams), names, config.streams.settings);
  // What is measured once a day has no history.
  const historic = streams.filter(stream => stream.mode.kind !== "snapshot").map(stream => stream.name);
  if (historic.length === 0) throw new ConfigError(backfillMessages.no_history({ names }));
  return decide({ ...wish, streams: resume && names.length === 0 ? undefined : historic }, unfinished);
}

/** `streams.start` bounds whatever is asked for. */
function boundedRange({ range, config }: BackfillOrder, { clock, log }: RunTools): Range {
  const { start } = config.streams;
  const { from = start, to } = range;
  const today = new Date(clock.now()).toISOString().slice(0, 10);
  if (from !== undefined && from > today) throw new ConfigError(backfillMessages.from_in_future({ from, today }));
  const bounded = from !== undefined && start !== undefined && from < start ? start : from;
  if (bounded !== from) log.warn(backfillMessages.from_before_start({ from, start }));
  if (bounded !== undefined && to !== undefined && to <= bounded)
    throw new ConfigError(backfillMessages.to_too_early({ from: bounded, from_start: bounded !== range.from, to }));
  return { from: bounded, to };
}

/** What is unfinished, by the run's own file: readers may not have been shown it yet. */
async function plansUnderLock(
  order: BackfillOrder,
  { clock, random, signal }: RunTools,
): Promise<readonly Unfinished[]> {
  const where = order.config.destination;
  if (isFile(where) && !(await hasUnpublished(where))) return readPlans(where);
  const startedAt = new Date(clock.now()).toISOString();
  const opener = {
    runId: newRunId(startedAt, random),
    holder: holderOf(order.command, startedAt),
    clock: { now: () => clock.now(), sleep: (ms: number) => clock.sleep(ms, signal) },
    makesRoom: true,
    stopReason: () => signal.reason,
  };
  await using destination = await openDestination(where, opener, order.limits.waitMs);
  return (await hasState(destination)) ? await unfinishedPlans(destination.db) : [];
}

async function readPlans(where: BackfillOrder["config"]["destination"]): Promise<readonly Unfinished[]> {
  return (await looking(where, ({ db }) => unfinishedPlans(db))) ?? [];
}

async function workThrough(order: BackfillOrder, tools: RunTools, first: Backfill): Promise<RunReport> {
  const { clock, log } = tools;
  const { limits } = order;
  const begun = clock.now();
  const reports: RunReport[] = [];
  let decision = first;
  for (;;) {
    const spent = reports.flatMap(report => report.streams).reduce((sum, line) => sum + line.requests, 0);
    const spentMs = clock.now() - begun;
    const leftMs = limits.maxTimeMs === undefined ? undefined : limits.maxTimeMs - spentMs;
    const maxRequests = limits.maxRequests === undefined ? undefined : limits.maxRequests - spent;
    if (reports.length > 0 && ((leftMs ?? 1) <= 0 || (maxRequests ?? 1) <= 0)) return mergeReports(reports);
    const waitMs = reports.length === 0 ? limits.waitMs : Math.min(LONGEST_TURN_MS, leftMs ?? LONGEST_TURN_MS);
    const { streams, range, continued } = decision;
    log.info(backfillMessages.loading({ streams, range, continued }));
    try {
      const { report, asked } = await untilWanted(
        { ...order, limits: { ...limits, spentMs, maxRequests, waitMs } },
        tools,
        decision,
      );
      reports.push(report);
      if (!asked || report.exit_code === 0 || tools.signal.aborted) return mergeReports(reports);
    } catch (error) {
      if (reports.length === 0 || !(error instanceof LockedError)) throw error;
      return mergeReports(reports);
    }
    log.info(backfillMessages.gives_way());
    await clock.sleep(ASIDE_MS, tools.signal).catch(() => undefined);
    if (tools.signal.aborted) return mergeReports(reports);
    decision = { ...decision, continued: true, restart: false };
  }
}

/** A run that ends at the next safe point when another one waits for what it holds; `asked` then. */
async function untilWanted(
  order: BackfillOrder,
  tools: RunTools,
  decision: Backfill,
): Promise<{ readonly report: RunReport; readonly asked: boolean }> {
  const { wanted, end, ...giving } = givingWay(decision, tools.clock);
  try {
    const report = await runAttempts(
      { ...runOf(order, decision), source: { ...giving, asksService: true, runCompany: backfillCompany } },
      { ...tools, signal: AbortSignal.any([tools.signal, wanted]) },
      true,
    );
    return { report, asked: wanted.aborted };
  } finally {
    end();
  }
}

function runOf(order: BackfillOrder, { streams }: Backfill): RunOrder {
  const { range: _range, resume: _resume, restart: _restart, workers: _workers, ...rest } = order;
  const { company, names } = order.selection;
  return { ...rest, selection: { names: streams, named: names, company }, refresh: asDue };
}

const backfillCompany: typeof runCompany = (context, service, run) =>
  runCompany(context, service, { ...run, work: backfillStream });
