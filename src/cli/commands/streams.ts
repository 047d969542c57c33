import { Argument } from "commander";
import type { CliContext } from "../invocation/context.ts";
import { configIfAny } from "../invocation/optional_config.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";

export const register = defined({
  arguments: [new Argument("[name]", "a stream or a pattern such as 'invoice*', to see it in full")],
  description: "List what can be read from the service, and the tables it becomes. Needs no configuration.",
  options: ["config", "json", "log"],
  examples: ["tributary streams", "tributary streams purchase_orders", "tributary streams --json | jq '.[].name'"],
  run: listStreams,
});

async function listStreams(name: string | undefined, options: CommonOptions, context: CliContext): Promise<void> {
  const { describedStreams } = await import("../../library/streams.ts");
  const config = (await configIfAny(options, context, "On and off are shown by the default preset."))?.config;
  const shown = await describedStreams(config, name);
  if (options.json) return context.printJson(shown);
  const { streamListing, streamSheet } = await import("../terminal/stream_listing.ts");
  const look = context.look();
  context.print(
    name === undefined ? streamListing(shown, look) : shown.map(one => streamSheet(one, look)).join("\n\n\n"),
  );
}
