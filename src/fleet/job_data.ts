import { z } from "zod";
import type { Config } from "../config/config.ts";
import type { Backfill, Range } from "../sync/run/backfill_plans.ts";
import type { RunDefaults, RunOrder } from "../sync/run/run_order.ts";

/*
 * What the jobs of a shared run say, as JSON. Every worker takes configuration and keys from its own file: only what was asked for
 * travels.
 */

const names = z.array(z.string());

/** Calendar dates; absent: the oldest row, and now. */
const range = z.strictObject({ from: z.string().optional(), to: z.string().optional() });

/** Of a backfill what it is to load. */
const backfill = z.strictObject({
  streams: names,
  range: range.optional(),
  ranges: z.array(z.strictObject({ company: z.string(), stream: z.string(), range })),
  continued: z.boolean(),
  restart: z.boolean(),
});

/** A run, as it was asked for. Strict: what a newer version has put there has to be refused, not left out. */
const runData = z.strictObject({
  runId: z.string(),
  startedAt: z.string(),
  askedAt: z.string(),
  command: z.string(),
  selection: z.strictObject({
    names,
    named: names.optional(),
    company: z.string().optional(),
  }),
  refresh: z.strictObject({
    full: z.boolean(),
    allDetails: z.boolean(),
    resume: z.boolean(),
    confirmDeletes: z.boolean(),
  }),
  maxTimeMs: z.number().optional(),
  waitMs: z.number(),
  backfill: backfill.optional(),
});

/** What a run does for one company. */
const companyData = runData.omit({ maxTimeMs: true }).extend({
  company: z.string(),
  /** The lock of its key, as the process that conducts the run knows it. */
  keyLock: z.string(),
});

/** That a run is to end at the next safe point. */
const stopData = z.strictObject({
  runId: z.string(),
  reason: z.string(),
  exitCode: z.union([z.literal(5), z.literal(130), z.literal(143)]),
});

export type RunData = z.output<typeof runData>;
export type CompanyData = z.output<typeof companyData>;
export type StopData = z.output<typeof stopData>;

export const readRunData = (data: unknown): RunData => runData.parse(data);
export const readCompanyData = (data: unknown): CompanyData => companyData.parse(data);
export const readStopData = (data: unknown): StopData => stopData.parse(data);

/** A run as the workers are asked for it: what is due, or what a backfill is to load. */
export interface SharedOrder extends RunOrder {
  readonly backfill?: Backfill;
}

/** What is asked of the workers. */
export function runDataOf(order: SharedOrder, begun: NonNullable<RunOrder["begun"]>): RunData {
  const { runId, startedAt } = begun;
  const { command, askedAt = startedAt, selection, refresh, limits, backfill } = order;
  const { names: selected, named, company } = selection;
  const { resume = false } = refresh;
  return {
    ...{ runId, startedAt, command, askedAt, refresh: { ...refresh, resume }, waitMs: limits.waitMs },
    selection: {
      names: [...selected],
      ...(named === undefined ? {} : { named: [...named] }),
      ...(company === undefined ? {} : { company }),
    },
    ...(limits.maxTimeMs === undefined ? {} : { maxTimeMs: limits.maxTimeMs }),
    ...(backfill === undefined ? {} : { backfill: backfillData(backfill) }),
  };
}

const backfillData = ({ streams, range, ranges, ...how }: Backfill): NonNullable<RunData["backfill"]> => ({
  ...{ ...how, streams: [...streams] },
  ranges: ranges.map(each => ({ ...each, range: defined(each.range) })),
  ...(range === undefined ? {} : { range: defined(range) }),
});

const defined = ({ from, to }: Range) => ({
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
});

export const backfillOf = ({ range, ranges, ...rest }: NonNullable<RunData["backfill"]>): Backfill => ({
  ...rest,
  range: range && whole(range),
  ranges: ranges.map(each => ({ ...each, range: whole(each.range) })),
});

const whole = ({ from, to }: z.output<typeof range>): Range => ({ from, to });

/** What the run does for one company, of all that it was asked for. */
export function companyDataOf(
  { maxTimeMs: _, selection, ...data }: RunData,
  company: string,
  keyLock: string,
): CompanyData {
  return { ...data, company, keyLock, selection: { ...selection, company } };
}

/** The run, or what it does for one company, as this worker's configuration understands it. */
export function orderOfRun(
  data: RunData | CompanyData,
  config: Config,
  defaults: RunDefaults,
  isRetry: boolean,
): RunOrder {
  const { runId, startedAt, askedAt, command, selection, refresh, waitMs } = data;
  return {
    ...{ ...defaults, config, command, askedAt, refresh },
    begun: { runId, startedAt, isRetry },
    selection: {
      names: selection.names,
      company: selection.company,
      ...(selection.named === undefined ? {} : { named: selection.named }),
    },
    limits: { maxTimeMs: "maxTimeMs" in data ? data.maxTimeMs : undefined, maxRequests: undefined, waitMs },
  };
}
