import type { Stream } from "../catalog/stream.ts";
import { ConfigError, noting } from "../errors.ts";
import type { Message } from "../message.ts";
import { cronFault } from "./cron.ts";
import type { LoadedConfig } from "./load.ts";
import { configMessages, type Fault } from "./messages.ts";
import { select, selectedByConfig } from "./selection.ts";

/**
 * Looks at what only running would find out: expressions, and names of streams. `known` is the catalogue as configured.
 * @throws ConfigError that names every fault's place
 */
export function requireSchedules({ config, at }: LoadedConfig, known: readonly Stream[], now: number): void {
  const on = selectedByConfig(known, config.streams);
  const faults: Fault[] = [];
  const requireStreams = (names: readonly string[], where: string) => {
    const found: Message[] = [];
    noting(found, () => select(known, on, names, config.streams.settings));
    faults.push(...found.map(({ code, message, fields }) => ({ where, code, message, fields })));
  };
  for (const [index, schedule] of config.schedules.entries()) {
    const place = (key: string) => `${at(["schedules", index, key])} schedules[${index}].${key} (${schedule.name})`;
    const fault = cronFault(schedule, now);
    if (fault !== undefined)
      faults.push({ where: place("cron"), ...configMessages.invalid_cron({ reason: fault, cron: schedule.cron }) });
    if (schedule.name === HOOK || schedule.name === REFRESH)
      faults.push({ where: place("name"), ...configMessages.reserved_name({ name: schedule.name }) });
    requireStreams(schedule.streams, place("streams"));
  }
  if (config.hooks !== undefined) requireStreams(config.hooks.streams, `${at(["hooks", "streams"])} hooks.streams`);
  if (faults.length > 0) throw new ConfigError(configMessages.unusable_schedules({ faults }));
}

/** The name that runs asked for from outside go by. */
export const HOOK = "hook";
/** The name that those go by which fetch the details of rows that a hint named. */
export const REFRESH = "refresh";
