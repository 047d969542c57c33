import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { ConfigError } from "../../errors.ts";
import { codeOf, writeDurably } from "../../files.ts";
import type { ChangedBatch, ChangesState, LineFormat } from "../../operations/changes/changes.ts";
import { type CliContext, writePiece } from "../invocation/context.ts";
import { interruption, ofReadings } from "../invocation/interruption.ts";
import { attachOptions, type CommonOptions, localPath, streamsArgument } from "../invocation/options.ts";
import { syncedWarehouse } from "./sync.ts";

interface ReadOptions extends CommonOptions {
  readonly format: "ndjson";
  readonly state?: string;
  readonly sync: boolean;
}

/** How many rows go out between two states. */
const STATE_ROWS = 5_000;

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
  const { noChangesRead, parseChangesState } = await import("../../operations/changes/changes.ts");
  const file = options.state === undefined ? undefined : resolve(context.cwd, options.state);
  const text = file === undefined ? undefined : await stateText(file);
  const state = text === undefined ? noChangesRead : parseChangesState(text, file!);
  const { warehouse } = await syncedWarehouse(loaded, streams, options, context);
  const { signal, release } = interruption(context, text => void context.stderr.write(`${text}\n`), ofReadings);
  try {
    const { company } = options;
    await emit(changedBatches(warehouse, { streams, company, state, signal }, ndjson), state, file, context);
  } finally {
    release();
  }
}

/** Undefined where there is none yet. @throws ConfigError */
async function stateText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw new ConfigError(
      `The state ${file} could not be read (${codeOf(cause)}): check what it is and its rights.`,
      cause,
    );
  }
}

const ndjson: LineFormat = {
  decimals: "text",
  around: ({ stream, name }) => [`{"stream":${JSON.stringify(stream)},"table":${JSON.stringify(name)},"record":`, "}"],
};

async function emit(
  batches: AsyncIterable<ChangedBatch>,
  begun: ChangesState,
  file: string | undefined,
  context: CliContext,
): Promise<void> {
  let state = begun;
  let rows = 0;
  const tellState = async () => {
    await writePiece(context, `${JSON.stringify({ state })}\n`);
    if (file !== undefined) await writeDurably(file, `${JSON.stringify(state)}\n`);
    rows = 0;
  };
  try {
    for await (const batch of batches) {
      if (rows + batch.rows > STATE_ROWS) await tellState();
      await writePiece(context, batch.lines);
      ({ state } = batch);
      rows += batch.rows;
    }
    await tellState();
  } catch (error) {
    // A closed pipe needs no state: its reader has stopped. After any other failure the last state says how far the rows go.
    if (codeOf(error) === "EPIPE") return;
    if (rows > 0) await tellState();
    throw error;
  }
}
