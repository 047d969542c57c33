import type { Schedule } from "../../config/config.ts";
import type { Cause } from "./events.ts";

/** A run to be made. Moments are ms since the epoch. */
export interface Turn {
  readonly schedule: string;
  readonly at: number;
  readonly cause: Cause;
  /** How many runs failed before it since the regular one was due. */
  readonly failures: number;
  /** Names, patterns, presets; empty: all that are on. */
  readonly names: readonly string[];
  readonly company: string | undefined;
  readonly maxTimeMs: number | undefined;
  readonly waitMs: number;
}

/** A schedule's turn: its selection and limits, unless `more` says otherwise. */
export function turnOf(schedule: Schedule, at: number, cause: Cause, more: Partial<Turn> = {}): Turn {
  const { name, streams, maxTimeMs, waitMs } = schedule;
  return { schedule: name, at, cause, failures: 0, names: streams, company: undefined, maxTimeMs, waitMs, ...more };
}
