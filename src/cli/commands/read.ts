import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { writeDurably } from "../../files.ts";
import type { ChangesState } from "../../operations/changes/changes.ts";
import type { Protocol } from "../../operations/changes/telling.ts";
import type { CliContext } from "../invocation/context.ts";
import { attachOptions, type CommonOptions, localPath, streamsArgument } from "../invocation/options.ts";
import { syncedWarehouse } from "./sync.ts";

interface ReadOptions extends CommonOptions {
  readonly format: "ndjson";
  readonly state?: string;
  readonly sync: boolean;
}

export function register(program: Command, context: CliContext): void {
  const command = program
    .command("read")
    .addArgument(streamsArgument())
    .description(
      "Run a sync, then write the changed rows of the tables to stdout, for other programs: new rows, updated rows, and soft-deleted rows with their _deleted_at.",
    )
    .addOption(new Option("--format <format>", "how rows are written").choices(["ndjson"]).default("ndjson"))
    .option("--state <file>", "where the last reading ended, written on the way; without one: everything", localPath)
    .option("--no-sync", "only what the warehouse holds, without a request");
  attachOptions(
    command,
    ["company", "config", "maxTime", "maxRequests", "wait", "logLevel", "noProgress"],
    "tributary read --state read.json | my-loader",
    "tributary read purchase_orders invoices --no-sync > rows.ndjson",
    "tributary read 'invoice*' --no-sync | jq -r 'select(.record._deleted_at) | .record.doc_id'",
  )
    .addHelpText(
      "after",
      '\nEach line is {"stream", "table", "record"} or {"state"}: at least one every 5,000 rows. Amounts are text, exact. docs/read.md says how to go on after a failure.',
    )
    .action((names: string[], options: ReadOptions) => read(names, options, context));
}

async function read(streams: readonly string[], options: ReadOptions, context: CliContext): Promise<void> {
  const loaded = await context.openConfig(options, options.sync ? undefined : { local: true });
  const { changedBatches } = await import("../../library/read.ts");
  const { fileText, writeTold } = await import("../invocation/protocol_read.ts");
  const { noChangesRead, parseChangesState } = await import("../../operations/changes/changes.ts");
  const file = options.state === undefined ? undefined : resolve(context.cwd, options.state);
  const text = await fileText(file, true);
  const state = text === undefined ? noChangesRead : parseChangesState(text, file!);
  const { warehouse } = await syncedWarehouse(loaded, streams, options, context);
  const batches = (signal: AbortSignal) =>
    changedBatches(warehouse, { streams, company: options.company, state, signal }, ndjson.format);
  const wrote = async (piece: Buffer | string) => {
    if (file !== undefined && typeof piece === "string" && piece !== "")
      await writeDurably(file, `${JSON.stringify(JSON.parse(piece).state)}\n`);
  };
  await writeTold(context, { protocol: ndjson, tables: [], state }, batches, { wrote });
}

const stateLine = (state: ChangesState): string => `${JSON.stringify({ state })}\n`;

const ndjson: Protocol = {
  format: {
    decimals: "text",
    around: ({ stream, name }) => [
      `{"stream":${JSON.stringify(stream)},"table":${JSON.stringify(name)},"record":`,
      "}",
    ],
  },
  begin: () => "",
  state: (_table, state, rows) => (rows === 0 ? "" : stateLine(state)),
  end: () => "",
  last: stateLine,
};
