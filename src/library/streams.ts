import type { Config } from "../config/config.ts";
import type { StreamDescription } from "../outputs/dictionary/stream_description.ts";
import { configuredStreams } from "./connector.ts";
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
  const { groups } = await import("../../streams/index.ts");
  const { unconfigured } = await import("../config/config.ts");
  const { select } = await import("../config/selection.ts");
  const { describeStreams } = await import("../outputs/dictionary/stream_description.ts");
  const { catalogue, on, versioned } = await configuredStreams(config ?? unconfigured());
  const named = name === undefined ? undefined : select(catalogue, on, [name]).named;
  const described = describeStreams(groups, catalogue, new Set(on.map(stream => stream.name)), versioned);
  return described.filter(stream => named?.has(stream.name) ?? true);
}
