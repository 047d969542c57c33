import type { Config } from "../config/config.ts";
import type { StreamDescription } from "../outputs/dictionary/stream_description.ts";
import { opened, type Warehouse } from "./warehouse.ts";

/** What can be read from the service, and the tables it becomes with their columns; `on` says what a sync reads by default. */
export async function streams(warehouse: Warehouse): Promise<readonly StreamDescription[]> {
  return describedStreams(opened(warehouse).loaded.config);
}

/** Those of a name or pattern; without a configuration as the default preset has them. */
export async function describedStreams(
  config: Config | undefined,
  name?: string,
): Promise<readonly StreamDescription[]> {
  const { groups, streams: all } = await import("../../streams/index.ts");
  const { configured, unconfigured } = await import("../privacy/configured_catalog.ts");
  const { select, selectedByConfig, versionedBy } = await import("../config/selection.ts");
  const { describeStreams } = await import("../outputs/dictionary/stream_description.ts");
  const catalogue = configured(all, config ?? unconfigured);
  const on = selectedByConfig(catalogue, config?.streams ?? { preset: "core", include: [], exclude: [] });
  const named = name === undefined ? undefined : select(catalogue, on, [name]).named;
  const versioned = config === undefined ? new Set<string>() : versionedBy(catalogue, config.streams);
  const described = describeStreams(groups, catalogue, new Set(on.map(stream => stream.name)), versioned);
  return described.filter(stream => named?.has(stream.name) ?? true);
}
