import type { Command } from "commander";
import { streamsOf } from "../../operations/changes/telling.ts";
import { syncedWarehouse } from "../commands/sync.ts";
import { type CliContext, writePiece } from "../invocation/context.ts";
import { attachOptions } from "../invocation/options.ts";
import { configuredTables, fileText, type ProtocolOptions, presentTables, tellChanges } from "./protocol_read.ts";

interface SingerOptions extends ProtocolOptions {
  readonly discover?: true;
}

export function register(command: Command, context: CliContext): void {
  command
    .description(
      "A tap for Singer's targets and Meltano: runs a sync, then writes schemas, the rows that changed, and states.",
    )
    .option("--discover", "print the catalog: the tables of the streams that are on")
    .option("--catalog <file>", "which tables and columns are read (default: the tables of all streams that are on)")
    .option("--state <file>", "the last state; without one everything is read")
    .option("--no-sync", "only what the warehouse holds, without a request");
  attachOptions(
    command,
    ["config", "maxTime", "maxRequests", "wait", "log", "noProgress"],
    "tributary singer --config config.json --discover > catalog.json",
    "tributary singer --config config.json | target-jsonl",
    "tributary singer --config config.json --catalog catalog.json --state state.json | target-postgres --config target.json",
  )
    .addHelpText(
      "after",
      "\nThe configuration is config.yaml, in JSON where a platform writes it. docs/platforms.md says more.",
    )
    .action((options: SingerOptions) => singer(options, context));
}

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
  const wanted = { ...options, sync: options.sync && asked.tables.length > 0 };
  await tellChanges(asked, await syncedWarehouse(loaded, streamsOf(asked), wanted, context), context);
}
