import type { Stream } from "../catalog/stream.ts";
import { withVolatile } from "../catalog/stream.ts";
import type { Config } from "../config/config.ts";
import { expand } from "../config/selection.ts";
import type { OwnSettings } from "../config/settings.ts";
import { demandOrder, demandSettings } from "../config/settings.ts";
import { ConfigError } from "../errors.ts";
import type { Policy } from "./policy.ts";
import { policyOf, withPolicy } from "./policy.ts";

/** What the config says of streams and their columns. */
export interface CatalogueConfig {
  readonly streams: { readonly settings: Readonly<Record<string, OwnSettings>> };
  readonly privacy: Config["privacy"];
}

/** What a configuration says that says nothing. */
export const unconfigured: CatalogueConfig = {
  streams: { settings: {} },
  privacy: { pii: "keep", key: undefined, exclude: [], hash: [], mask: [] },
};

/**
 * The catalogue with the config's further volatile columns, and with what becomes of those that hold personal data; ConfigError
 * for settings that name what doesn't exist.
 */
export function configured(catalogue: readonly Stream[], { streams, privacy }: CatalogueConfig): readonly Stream[] {
  const { settings } = streams;
  const policy = policyOf(catalogue, privacy);
  for (const [name, own] of Object.entries(settings)) {
    expand(catalogue, [name], "streams.settings");
    const stream = catalogue.find(candidate => candidate.name === name);
    if (stream === undefined)
      throw new ConfigError(`streams.settings: expected the name of one stream, got ${JSON.stringify(name)}.`);
    demandSettings(catalogue, stream, own);
  }
  demandOrder(catalogue, settings);
  demandUntreated(catalogue, settings, policy);
  return catalogue.map(stream => withPolicy(withVolatile(stream, settings[stream.name]?.volatile ?? []), policy));
}

/** What the service is asked with has to be what it said. */
function demandUntreated(
  catalogue: readonly Stream[],
  settings: Readonly<Record<string, OwnSettings>>,
  { treatments }: Policy,
): void {
  for (const [name, { from = {}, refresh }] of Object.entries(settings)) {
    const mode = catalogue.find(stream => stream.name === name)?.mode;
    const flags = mode?.kind === "detail" && refresh !== undefined ? [`${mode.of}.${refresh.while}`] : [];
    for (const column of [...Object.values(from).flat(), ...flags])
      if (treatments.has(column))
        throw new ConfigError(
          `streams.settings.${name}: it needs the values of ${column}, but under privacy they are not stored as they come. Take the column out of privacy, or this setting away.`,
        );
  }
}
