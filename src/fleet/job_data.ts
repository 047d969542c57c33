import { z } from "zod";
import type { Config } from "../config/config.ts";
import type { RunDefaults, RunOrder } from "../sync/run/run_order.ts";

/*
 * What the jobs of a shared run say, as JSON. Every worker takes configuration and keys from its own file: only what was asked for
 * travels.
 */

const names = z.array(z.string());

/** A run, as it was asked for. */
const runData = z.object({
  runId: z.string(),
  startedAt: z.string(),
  askedAt: z.string(),
  command: z.string(),
  selection: z.object({
    names,
    named: names.optional(),
    company: z.string().optional(),
  }),
  refresh: z.object({
    full: z.boolean(),
    allDetails: z.boolean(),
    resume: z.boolean(),
    confirmDeletes: z.boolean(),
  }),
  maxTimeMs: z.number().optional(),
  waitMs: z.number(),
});

/** Streams of one company, which are worked on together; with a shard a part of the details of one stream. */
const partData = runData.omit({ selection: true, maxTimeMs: true }).extend({
  company: z.string(),
  companyId: z.string().optional(),
  /** What its locks are called. */
  part: z.string(),
  streams: names,
  named: names,
  shard: z.object({ index: z.int(), of: z.int() }).optional(),
});

/** That a run, or what it does for a company, is to end at the next safe point. */
const stopData = z.object({
  runId: z.string(),
  company: z.string().optional(),
  reason: z.string(),
  exitCode: z.union([z.literal(5), z.literal(130), z.literal(143)]),
});

export type RunData = z.output<typeof runData>;
export type PartData = z.output<typeof partData>;
export type StopData = z.output<typeof stopData>;

export const readRunData = (data: unknown): RunData => runData.parse(data);
export const readPartData = (data: unknown): PartData => partData.parse(data);
export const readStopData = (data: unknown): StopData => stopData.parse(data);

/** What is asked of the workers. */
export function runDataOf(order: RunOrder, begun: NonNullable<RunOrder["begun"]>): RunData {
  const { runId, startedAt } = begun;
  const { command, askedAt = startedAt, selection, refresh, limits } = order;
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
  };
}

/** The run as this worker's configuration understands it. */
export function orderOfRun(data: RunData, config: Config, defaults: RunDefaults, isRetry: boolean): RunOrder {
  const { runId, startedAt, askedAt, command, selection, refresh, maxTimeMs, waitMs } = data;
  return {
    ...{ ...defaults, config, command, askedAt, refresh },
    begun: { runId, startedAt, isRetry },
    selection: {
      names: selection.names,
      company: selection.company,
      ...(selection.named === undefined ? {} : { named: selection.named }),
    },
    limits: { maxTimeMs, maxRequests: undefined, waitMs },
  };
}

/** The same for a part of it. */
export function orderOfPart(data: PartData, config: Config, defaults: RunDefaults, isRetry: boolean): RunOrder {
  const { streams, named, company, ...rest } = data;
  return orderOfRun({ ...rest, selection: { names: streams, named, company } }, config, defaults, isRetry);
}
