import type { Stream } from "../../catalog/stream.ts";
import type { Config, Schedule } from "../../config/config.ts";
import { timetableOf } from "../../config/cron.ts";
import { selectedByConfig } from "../../config/selection.ts";
import { type NamedRows, refreshOrder } from "../../operations/refresh.ts";
import { configured } from "../../privacy/configured_catalog.ts";
import { asDue } from "../../sync/context.ts";
import type { RunDefaults, RunOrder } from "../../sync/run/run_order.ts";
import type { Cause } from "./events.ts";

const words = "tributary schedule ";

/** The `command` of a schedule's runs in the run log, by which a later daemon finds them. */
export const commandOf = (schedule: string): string => `${words}${schedule}`;

/** @throws ConfigError for names that fit no stream, and for rows that have no details to fetch */
export function orderOf(turn: Turn, config: Config, defaults: RunDefaults): RunOrder {
  const { company, rows } = turn;
  const limits = { maxTimeMs: turn.maxTimeMs, maxRequests: undefined, waitMs: turn.waitMs };
  const order = { ...defaults, command: commandOf(turn.schedule), config, limits };
  if (rows !== undefined) return refreshOrder(order, rows, company, true);
  return { ...order, selection: { names: turn.names, named: [], company }, refresh: asDue };
}

/** What makes a turn the same for all daemons of a warehouse: whichever comes first has it run, and the others follow. Undefined for a hint's. */
export function occurrenceOf(
  { schedule: name, at, failures }: Turn,
  { schedules }: Config,
): readonly string[] | undefined {
  const schedule = schedules.find(each => each.name === name);
  if (schedule === undefined) return undefined;
  return [name, String(timetableOf(schedule).last(at) ?? at), String(failures)];
}

/** What a hint from outside asks for: the streams its configuration names, else all feeds that are on. */
export function hintedStreams(config: Config, catalogue: readonly Stream[]): readonly string[] {
  if (config.hooks === undefined) return [];
  if (config.hooks.streams.length > 0) return config.hooks.streams;
  const on = selectedByConfig(configured(catalogue, config), config.streams);
  return on.filter(stream => stream.mode.kind === "feed").map(stream => stream.name);
}

/** A run to be made. Moments are ms since the epoch. */
export interface Turn {
  readonly schedule: string;
  readonly at: number;
  readonly cause: Cause;
  /** How many runs failed before it since the regular one was due. */
  readonly failures: number;
  /** Names, patterns, presets; empty: all that are on. */
  readonly names: readonly string[];
  /** Not these streams are read but the details of these rows fetched. */
  readonly rows?: NamedRows;
  readonly company: string | undefined;
  readonly maxTimeMs: number | undefined;
  readonly waitMs: number;
}

/** A schedule's turn: its selection and limits, unless `more` says otherwise. */
export function turnOf(schedule: Schedule, at: number, cause: Cause, more: Partial<Turn> = {}): Turn {
  const { name, streams, maxTimeMs, waitMs } = schedule;
  return { schedule: name, at, cause, failures: 0, names: streams, company: undefined, maxTimeMs, waitMs, ...more };
}
