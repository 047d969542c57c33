import { type Meaning, readMeanings } from "../catalog/meaning.ts";
import { type Stream, withColumns } from "../catalog/stream.ts";
import type { Config } from "../config/config.ts";
import { configMessages } from "../config/messages.ts";
import { expand, selectedByConfig } from "../config/selection.ts";
import { type OwnSettings, requireOrder, requireSettings } from "../config/settings.ts";
import { ConfigError, noting, refuse } from "../errors.ts";
import type { Message } from "../message.ts";
import { privacyMessages } from "./messages.ts";
import { type Policy, policyOf, withPolicy } from "./policy.ts";

export interface CatalogueConfig {
  readonly streams: { readonly settings: Readonly<Record<string, OwnSettings>> };
  readonly privacy: Config["privacy"];
}

/**
 * The catalogue with the config's further volatile columns and wider keys, and with what becomes of those that hold personal data; ConfigError
 * for settings that name what doesn't exist.
 */
export function configured(catalogue: readonly Stream[], { streams, privacy }: CatalogueConfig): readonly Stream[] {
  const { settings } = streams;
  const faults: Message[] = [];
  for (const [name, own] of Object.entries(settings)) noting(faults, () => requireStream(catalogue, name, own));
  const keyed = faults.length > 0 ? catalogue : withKeys(catalogue, settings);
  const policy = noting(faults, () => policyOf(keyed, privacy));
  noting(faults, () => requireOrder(catalogue, settings));
  if (policy !== undefined) faults.push(...treatedFaults(settings, policy));
  refuse(faults);
  const own = ({ name }: Stream) => ({ volatile: [], key: [], ...settings[name] });
  return catalogue.map(stream => withPolicy(withColumns(stream, own(stream)), policy!));
}

/** The catalogue with every column, and with the keys that the config widens. */
export const withKeys = (
  catalogue: readonly Stream[],
  settings: CatalogueConfig["streams"]["settings"],
): readonly Stream[] =>
  catalogue.map(stream => withColumns(stream, { volatile: [], key: settings[stream.name]?.key ?? [] }));

function requireStream(catalogue: readonly Stream[], name: string, own: OwnSettings): void {
  expand(catalogue, [name], "streams.settings");
  const stream = catalogue.find(candidate => candidate.name === name);
  if (stream === undefined) throw new ConfigError(configMessages.not_one_stream({ name }));
  requireSettings(catalogue, stream, own);
}

/** Everything in which a configuration does not fit the catalogue, a line each. */
export function catalogueFaults(
  catalogue: readonly Stream[],
  meanings: readonly Meaning[],
  config: Config,
): readonly Message[] {
  const faults: Message[] = [];
  noting(faults, () => configured(catalogue, config));
  readMeanings(meanings, catalogue, config.meanings, faults);
  noting(faults, () => selectedByConfig(catalogue, config.streams));
  return faults.flatMap(each => (each.fields["faults"] as readonly Message[] | undefined) ?? each);
}

/** What the service is asked with has to be what it said. */
function* treatedFaults(settings: Readonly<Record<string, OwnSettings>>, { treatments }: Policy): Generator<Message> {
  for (const [name, { from = {} }] of Object.entries(settings))
    for (const column of Object.values(from).flat())
      if (treatments.has(column)) yield privacyMessages.needed_by_setting({ stream: name, column });
}
