import { z } from "zod";
import type { Config } from "../config/config.ts";
import { backfillOptions, limitOptions, programRules, refreshOptions, selectionOptions } from "../options/options.ts";
import type { Backfill, Range } from "../sync/run/backfill_plans.ts";
import type { RunDefaults, RunOrder } from "../sync/run/run_order.ts";

/*
 * What the jobs of a shared run say, as JSON. Every worker takes configuration and keys from its own file: only what was asked for
 * travels.
 */

const { full, details, resume, confirm_deletes } = refreshOptions;
const { from, to, restart } = backfillOptions;
const { company, streams } = selectionOptions;
const names = streams.unwrap().readonly();
const { maxTimeMs, waitMs } = programRules(limitOptions).shape;

const range = z.strictObject({ from, to }).transform(({ from, to }): Range => ({ from, to }));

/** Of a backfill what it is to load. */
const backfill = z
  .strictObject({
    streams: names,
    range: range.optional(),
    ranges: z.array(z.strictObject({ company: company.unwrap(), stream: z.string(), range })).readonly(),
    continued: z.boolean(),
    restart: restart.unwrap(),
  })
  .transform((given): Backfill => ({ range: undefined, ...given }));

/** A run, as it was asked for. Strict: what a newer version has put there has to be refused, not left out. */
export const runData = z.strictObject({
  runId: z.string(),
  startedAt: z.string(),
  askedAt: z.string(),
  command: z.string(),
  selection: z.strictObject({ names, named: names.optional(), company }),
  refresh: z.strictObject({
    full: full.unwrap(),
    allDetails: details.unwrap(),
    resume: resume.unwrap(),
    confirmDeletes: confirm_deletes.unwrap(),
  }),
  maxTimeMs,
  waitMs: waitMs.unwrap(),
  backfill: backfill.optional(),
});

/** What a run does for one company. */
export const companyData = runData.omit({ maxTimeMs: true }).extend({
  company: company.unwrap(),
  /** The lock of its key, as the process that conducts the run knows it. */
  keyLock: z.string(),
});

/** That a run is to end at the next safe point. */
export const stopData = z.strictObject({
  runId: z.string(),
  reason: z.string(),
  exitCode: z.literal([5, 130, 143]),
});

export type RunData = z.output<typeof runData>;
export type CompanyData = z.output<typeof companyData>;
export type StopData = z.output<typeof stopData>;

/** A run as the workers are asked for it: what is due, or what a backfill is to load. */
export interface SharedOrder extends RunOrder {
  readonly backfill?: Backfill;
}

/** What is asked of the workers. */
export function runDataOf(order: SharedOrder, { runId, startedAt }: NonNullable<RunOrder["begun"]>): RunData {
  const { command, askedAt = startedAt, selection, refresh, limits, backfill } = order;
  const { resume = false } = refresh;
  const { maxTimeMs, waitMs } = limits;
  return {
    ...{ runId, startedAt, askedAt, command, selection, maxTimeMs, waitMs, backfill },
    refresh: { ...refresh, resume },
  };
}

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
