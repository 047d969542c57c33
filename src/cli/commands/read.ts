import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Config } from "../../config/config.ts";
import { ConfigError, nothingLoaded } from "../../errors.ts";
import { codeOf, writeDurably } from "../../files.ts";
import type { ChangesOrder, LineFormat } from "../../operations/changes/changes.ts";
import { type CliContext, writePiece } from "../invocation/context.ts";
import { interruption } from "../invocation/interruption.ts";
import { attachOptions, type CommonOptions, localPath, streamsArgument } from "../invocation/options.ts";
import { syncOrder } from "./sync.ts";

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

async function read(names: readonly string[], options: ReadOptions, context: CliContext): Promise<void> {
  const { config, warnings } = await context.openConfig(options, options.sync ? undefined : { local: true });
  const { withRunTools } = await import("../invocation/run_tools.ts");
  const file = options.state === undefined ? undefined : resolve(context.cwd, options.state);
  const order = await changesOrder(names, options, config, file);
  await withRunTools(context, options, warnings, async tools => {
    if (!options.sync) return;
    const { runAttempts } = await import("../../sync/run/attempts.ts");
    const report = await runAttempts(await syncOrder(names, options, config), tools);
    for (const error of report.errors) tools.log.warn({}, error);
    context.exit(report.exit_code);
  });
  const { signal, release } = interruption(context, text => void context.stderr.write(`${text}\n`), {
    stopping: "stopping after these rows; once more leaves at once",
    stopped: "the next reading goes on behind the last state",
  });
  try {
    await emit(config, order, file, context, signal);
  } finally {
    release();
  }
}

/** What is read, from where the last reading ended. @throws ConfigError */
async function changesOrder(
  names: readonly string[],
  options: ReadOptions,
  config: Config,
  file: string | undefined,
): Promise<Omit<ChangesOrder, "now">> {
  const { streams } = await import("../../../streams/index.ts");
  const { configured } = await import("../../privacy/configured_catalog.ts");
  const { select, selectedByConfig } = await import("../../config/selection.ts");
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { noChangesRead, parseChangesState } = await import("../../operations/changes/changes.ts");
  const text = file === undefined ? undefined : await stateText(file);
  const catalogue = configured(streams, config);
  const on = selectedByConfig(catalogue, config.streams);
  const { named } = select(catalogue, on, names, config.streams.settings);
  return {
    catalogue,
    streams: names.length === 0 ? new Set(on.map(({ name }) => name)) : named,
    companies: companiesOf(config, options.company).map(({ name }) => name),
    state: text === undefined ? noChangesRead : parseChangesState(text, file!),
    format: ndjson,
  };
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
  config: Config,
  order: Omit<ChangesOrder, "now">,
  file: string | undefined,
  context: CliContext,
  signal: AbortSignal,
): Promise<void> {
  const { openReading } = await import("../../warehouse/connect/reading.ts");
  const { takeChanges } = await import("../../operations/changes/changes.ts");
  const reading = await openReading(config.destination, { memoryLimitMb: 128, threads: 1 });
  if (reading === undefined) throw nothingLoaded("a warehouse to read from");
  let { state } = order;
  let rows = 0;
  const tellState = async () => {
    await writePiece(context, `${JSON.stringify({ state })}\n`);
    if (file !== undefined) await writeDurably(file, `${JSON.stringify(state)}\n`);
    rows = 0;
  };
  try {
    await takeChanges(reading, { ...order, now: context.now() }, signal, async batch => {
      if (rows + batch.rows > STATE_ROWS) await tellState();
      await writePiece(context, batch.lines);
      ({ state } = batch);
      rows += batch.rows;
    });
    await tellState();
  } catch (error) {
    // A closed pipe needs no state: its reader has stopped. After any other failure the last state says how far the rows go.
    if (codeOf(error) === "EPIPE") return;
    await tellState();
    throw error;
  } finally {
    await reading.close();
  }
}
