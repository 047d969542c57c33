import { flag, type Given } from "../../options/options.ts";
import { type CliContext, writePiece } from "../invocation/context.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";
import { configuredTables, fileText, presentTables, protocolOptions, readAfterSync } from "./protocol_read.ts";

const own = {
  discover: flag("print the catalog: the tables of the streams that are on"),
  ...protocolOptions(
    "which tables and columns are read (default: the tables of all streams that are on)",
    "the last state; without one everything is read",
  ),
};

type SingerOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  description:
    "A tap for Singer's targets and Meltano: runs a sync, then writes schemas, the rows that changed, and states.",
  options: [own, "config", "max_time", "max_requests", "wait", "log", "progress"],
  examples: [
    "tributary singer --config config.json --discover > catalog.json",
    "tributary singer --config config.json | target-jsonl",
    "tributary singer --config config.json --catalog catalog.json --state state.json | target-postgres --config target.json",
  ],
  notes: "\nThe configuration is config.yaml, in JSON where a platform writes it. docs/platforms.md says more.",
  run: singer,
});

async function singer(options: SingerOptions, context: CliContext): Promise<void> {
  const { catalogDocument, readSelected } = await import("../../operations/changes/singer.ts");
  const isLocal = options.discover === true || !options.sync;
  const loaded = await context.openConfig(options, isLocal ? { local: true } : undefined);
  const tables = await configuredTables(loaded);
  const { on } = tables;
  if (options.discover)
    return writePiece(context, catalogDocument((await presentTables(loaded, { tables: on })) ?? on));
  const texts = { catalog: await fileText(options.catalog), state: await fileText(options.state) };
  const asked = readSelected(tables, texts, context.clock.now());
  await readAfterSync(asked, { loaded, options }, context);
}
