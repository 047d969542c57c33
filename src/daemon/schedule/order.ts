import type { Stream } from "../../catalog/stream.ts";
import type { Config } from "../../config/config.ts";
import { selectedByConfig } from "../../config/selection.ts";
import { configured } from "../../privacy/configured_catalog.ts";
import { asDue } from "../../sync/context.ts";
import type { RunOrder } from "../../sync/run/run_order.ts";
import type { Turn } from "./turn.ts";

export type RunDefaults = Pick<RunOrder, "version" | "catalogue" | "models" | "relations" | "identity">;

const words = "tributary schedule ";

/** The `command` of a schedule's runs in the run log, by which a later daemon finds them. */
export const commandOf = (schedule: string): string => `${words}${schedule}`;

/** @throws ConfigError for names that fit no stream */
export function orderOf(turn: Turn, config: Config, defaults: RunDefaults): RunOrder {
  return {
    ...defaults,
    command: commandOf(turn.schedule),
    config,
    selection: { names: turn.names, named: [], company: turn.company },
    refresh: asDue,
    limits: { maxTimeMs: turn.maxTimeMs, maxRequests: undefined, waitMs: turn.waitMs },
  };
}

/** What a hint from outside asks for: the streams its configuration names, else all feeds that are on. */
export function hintedStreams(config: Config, catalogue: readonly Stream[]): readonly string[] {
  if (config.hooks === undefined) return [];
  if (config.hooks.streams.length > 0) return config.hooks.streams;
  const on = selectedByConfig(configured(catalogue, config), config.streams);
  return on.filter(stream => stream.mode.kind === "feed").map(stream => stream.name);
}
