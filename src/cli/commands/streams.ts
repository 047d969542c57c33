import type { Command } from "commander";
import type { CliContext } from "../invocation/context.ts";
import { configIfAny } from "../invocation/optional_config.ts";
import { attachOptions, type CommonOptions } from "../invocation/options.ts";

export function register(program: Command, context: CliContext): void {
  const command = program
    .command("streams")
    .argument("[name]", "a stream or a pattern such as 'invoice*', to see it in full")
    .description("List what can be read from the service, and the tables it becomes. Needs no configuration.");
  attachOptions(
    command,
    ["config", "json", "logLevel"],
    "tributary streams",
    "tributary streams purchase_orders",
    "tributary streams --json | jq '.[].name'",
  ).action((name: string | undefined, options: CommonOptions) => listStreams(name, options, context));
}

async function listStreams(name: string | undefined, options: CommonOptions, context: CliContext): Promise<void> {
  const { groups, streams } = await import("../../../streams/index.ts");
  const { configured, unconfigured } = await import("../../privacy/configured_catalog.ts");
  const { select, selectedByConfig, versionedBy } = await import("../../config/selection.ts");
  const { describeStreams } = await import("../../outputs/dictionary/stream_description.ts");
  const config = (await configIfAny(options, context, "On and off are shown by the default preset."))?.config;
  const catalogue = configured(streams, config ?? unconfigured);
  const on = selectedByConfig(catalogue, config?.streams ?? { preset: "core", include: [], exclude: [] });
  const named = name === undefined ? undefined : select(catalogue, on, [name]).named;
  const described = describeStreams(
    groups,
    catalogue,
    new Set(on.map(stream => stream.name)),
    config === undefined ? new Set() : versionedBy(catalogue, config.streams),
  );
  const shown = described.filter(stream => named?.has(stream.name) ?? true);
  if (options.json) return context.printJson(shown);
  const { streamListing, streamSheet } = await import("../terminal/stream_listing.ts");
  context.print(named === undefined ? streamListing(shown) : shown.map(streamSheet).join("\n\n\n"));
}
