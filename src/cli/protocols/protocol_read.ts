import { readFile } from "node:fs/promises";
import type { LoadedConfig } from "../../config/load.ts";
import { ConfigError, StoppedError } from "../../errors.ts";
import { codeOf } from "../../files.ts";
import type { OpenWarehouse } from "../../library/warehouse.ts";
import { generalMessages } from "../../messages.ts";
import type { ChangesTable } from "../../operations/changes/changes.ts";
import { type ProtocolRead, streamsOf, told } from "../../operations/changes/telling.ts";
import type { Given } from "../../options/options.ts";
import type { RunReport } from "../../sync/run/report.ts";
import { syncedWarehouse } from "../commands/sync.ts";
import { type CliContext, writePiece } from "../invocation/context.ts";
import { interruption } from "../invocation/interruption.ts";
import { type CommonOptions, textOption, unless } from "../invocation/options.ts";
import { protocolMessages } from "./messages.ts";

/** Options of the commands `airbyte` and `singer`, by what they say of catalog and state. */
export const protocolOptions = (catalog: string, state: string) => ({
  catalog: textOption(catalog, "<file>"),
  state: textOption(state, "<file>"),
  sync: unless("only what the warehouse holds, without a request"),
});

export type ProtocolOptions = CommonOptions & Given<ReturnType<typeof protocolOptions>>;

/** A text that is passed in a file. `mayLack`: undefined where there is none yet. @throws ConfigError */
export async function fileText(file: string | undefined, mayLack = false): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (mayLack && codeOf(cause) === "ENOENT") return undefined;
    throw new ConfigError(protocolMessages.file_not_readable({ file, reason: codeOf(cause) }), cause);
  }
}

/** The tables of the configured catalogue, those of the streams that are on, and those of named streams (none named: that are on). */
export async function configuredTables({ config }: Pick<LoadedConfig, "config">, names: readonly string[] = []) {
  const { select } = await import("../../config/selection.ts");
  const { configuredStreams } = await import("../../library/connector.ts");
  const { plannedTables } = await import("../../operations/changes/record_schema.ts");
  const { dialectOf } = await import("../../warehouse/connect/open.ts");
  const { catalogue, on } = await configuredStreams(config);
  const planned = plannedTables(dialectOf(config.destination), catalogue);
  const tablesOf = (streams: ReadonlySet<string>) => planned.filter(({ stream }) => streams.has(stream));
  const onTables = tablesOf(new Set(on.map(({ name }) => name)));
  const { named } = select(catalogue, on, names, config.streams.settings);
  return { planned, on: onTables, named: names.length === 0 ? onTables : tablesOf(named) };
}

/** Tables with the columns that the warehouse has beyond the catalogue's; undefined when nothing has been loaded yet. */
export async function presentTables(
  { config }: Pick<LoadedConfig, "config">,
  { tables, without }: Pick<ProtocolRead, "tables" | "without">,
): Promise<readonly ChangesTable[] | undefined> {
  const { looking } = await import("../../warehouse/connect/reading.ts");
  const { changesTables } = await import("../../operations/changes/changes.ts");
  const { withPresent } = await import("../../operations/changes/record_schema.ts");
  const { configuredStreams } = await import("../../library/connector.ts");
  const { catalogue } = await configuredStreams(config);
  const streams = new Set(tables.map(({ stream }) => stream));
  return looking(config.destination, async db =>
    withPresent(tables, await changesTables(db, { catalogue, streams }), without),
  );
}

interface Telling {
  readonly loaded: LoadedConfig;
  readonly options: CommonOptions & { readonly sync: boolean };
  /** Streams of the sync before; default: those that are read. */
  readonly streams?: readonly string[];
  /** Is given each piece once it is written. */
  readonly wrote?: ((piece: Buffer | string) => Promise<void>) | undefined;
}

/** Runs a sync where one is wanted, then writes what changed in the warehouse. @throws ConfigError before it for a state of others */
export async function readAfterSync(
  read: ProtocolRead,
  { loaded, options, streams = streamsOf(read), wrote }: Telling,
  context: CliContext,
): Promise<RunReport | undefined> {
  const { requireOwnState } = await import("../../operations/changes/changes.ts");
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { company } = options;
  requireOwnState(
    read.state,
    companiesOf(loaded.config, company).map(({ name }) => name),
  );
  const wanted = { ...options, sync: options.sync && read.tables.length > 0 };
  const synced = await syncedWarehouse(loaded, streams, wanted, context);
  await tellChanges(read, { ...synced, company, wrote }, context);
  return synced.report;
}

interface Synced extends Pick<Telling, "wrote"> {
  readonly warehouse: OpenWarehouse;
  readonly report?: RunReport;
  readonly company: string | undefined;
}

/** Tells of the tables what changed in the warehouse after a run. @throws StoppedError where the run was stopped by a signal */
async function tellChanges(
  read: ProtocolRead,
  { warehouse, report, company, wrote }: Synced,
  context: CliContext,
): Promise<void> {
  const { exit_code: code = 0, errors = [], streams: ran = [] } = report ?? {};
  if (code === 130 || code === 143)
    throw new StoppedError(errors.length === 1 ? errors[0]! : generalMessages.several({ faults: errors }), code);
  const tables = (await presentTables(warehouse.loaded, read)) ?? [];
  // Why nothing was loaded is the run's to say.
  if (tables.length === 0 && code !== 0) return;
  const { without } = read;
  const unfinished = ran.filter(({ status }) => !["succeeded", "warning"].includes(status));
  const failed = new Set(code === 0 ? [] : unfinished.map(({ stream }) => stream));
  const { changedBatches } = await import("../../library/read.ts");
  const { state, protocol } = read;
  const options = {
    streams: streamsOf(read),
    company,
    state,
    without,
    mayBeEmpty: code !== 0,
    tables: new Set(tables.map(({ name }) => name)),
  };
  using stop = interruption(context, ({ message }) => void context.stderr.write(`${message}\n`), {
    stopping: protocolMessages.read_stopping(),
    stopped: protocolMessages.read_stopped,
  });
  try {
    const batches = changedBatches(warehouse, { ...options, signal: stop.signal }, protocol.format);
    for await (const piece of told(batches, { ...read, tables }, ({ stream }) => !failed.has(stream))) {
      if (piece.length > 0) await writePiece(context, piece);
      await wrote?.(piece);
    }
  } catch (error) {
    // Its reader has stopped.
    if (codeOf(error) !== "EPIPE") throw error;
  }
}
