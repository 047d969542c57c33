import { readFile } from "node:fs/promises";
import type { LoadedConfig } from "../../config/load.ts";
import { ConfigError, nothingLoaded, StoppedError } from "../../errors.ts";
import { codeOf } from "../../files.ts";
import type { ChangesTable } from "../../operations/changes/changes.ts";
import type { ProtocolRead } from "../../operations/changes/telling.ts";
import type { RunReport } from "../../sync/run/report.ts";
import type { RunOrder, RunTools } from "../../sync/run/run_order.ts";
import { type CliContext, writePiece } from "./context.ts";
import { interruption } from "./interruption.ts";
import type { CommonOptions } from "./options.ts";
import { withRunTools } from "./run_tools.ts";

/** What the commands that speak a protocol take from their platform, and from whoever wraps them. */
export interface ProtocolOptions extends CommonOptions {
  readonly catalog?: string;
  readonly state?: string;
  readonly sync: boolean;
}

/** A text that a platform passes in a file. @throws ConfigError */
export async function fileText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new ConfigError(`${file} could not be read (${codeOf(cause)}): check what it is and its rights.`, cause);
  }
}

/** The tables of the configured catalogue, and those of the streams that are on. */
export async function configuredTables({ config }: Pick<LoadedConfig, "config">) {
  const { streams } = await import("../../../streams/index.ts");
  const { configured } = await import("../../privacy/configured_catalog.ts");
  const { selectedByConfig } = await import("../../config/selection.ts");
  const { plannedTables } = await import("../../operations/changes/record_schema.ts");
  const { dialectOf } = await import("../../warehouse/connect/open.ts");
  const catalogue = configured(streams, config);
  const on = new Set(selectedByConfig(catalogue, config.streams).map(({ name }) => name));
  const planned = plannedTables(dialectOf(config.destination), catalogue);
  return { catalogue, planned, on: planned.filter(({ stream }) => on.has(stream)) };
}

/** The same of the streams that are on, with what the warehouse has beyond them: what a platform chooses from. */
export async function discoveredTables(loaded: Pick<LoadedConfig, "config">): Promise<readonly ChangesTable[]> {
  const { looking } = await import("../../warehouse/connect/reading.ts");
  const { changesTables } = await import("../../operations/changes/changes.ts");
  const { withPresent } = await import("../../operations/changes/record_schema.ts");
  const { catalogue, on } = await configuredTables(loaded);
  const streams = new Set(on.map(({ stream }) => stream));
  const { destination } = loaded.config;
  return withPresent(on, (await looking(destination, db => changesTables(db, { catalogue, streams }))) ?? []);
}

/** Runs a sync of the streams that the tables belong to, unless it is switched off, then tells what changed. Answers the run's report. */
export async function tellChanges(
  read: ProtocolRead,
  { config, warnings }: LoadedConfig,
  runOrder: (names: readonly string[]) => Promise<RunOrder>,
  options: ProtocolOptions,
  context: CliContext,
): Promise<RunReport | undefined> {
  const names = [...new Set(read.tables.map(({ stream }) => stream))];
  const sync = async (tools: RunTools) => {
    const { runAttempts } = await import("../../sync/run/attempts.ts");
    return runAttempts(await runOrder(names), tools);
  };
  const report = options.sync && names.length > 0 ? await withRunTools(context, options, warnings, sync) : undefined;
  const code = report?.exit_code ?? 0;
  if (code === 130 || code === 143) throw new StoppedError(report!.errors.join("\n"), code);
  const { signal, release } = interruption(context, text => void context.stderr.write(`${text}\n`), {
    stopping: "stopping after these rows; once more leaves at once",
    stopped: "the next reading goes on behind the last state",
  });
  try {
    await tell(read, config, { context, signal, report });
  } finally {
    release();
  }
  return report;
}

async function tell(
  read: ProtocolRead,
  config: LoadedConfig["config"],
  { context, signal, report }: { context: CliContext; signal: AbortSignal; report: RunReport | undefined },
): Promise<void> {
  const { openReading } = await import("../../warehouse/connect/reading.ts");
  const { changesTables, takeChanges } = await import("../../operations/changes/changes.ts");
  const { withPresent } = await import("../../operations/changes/record_schema.ts");
  const { Telling } = await import("../../operations/changes/telling.ts");
  const { catalogue } = await configuredTables({ config });
  const reading = await openReading(config.destination, { memoryLimitMb: 128, threads: 1 });
  if (reading === undefined) {
    // Why nothing was loaded is the run's to say.
    if (report?.exit_code) return;
    throw nothingLoaded("a warehouse to read from");
  }
  const { tables, without = new Map<string, ReadonlySet<string>>(), state, protocol } = read;
  const order = {
    ...{ catalogue, without, state, format: protocol.format, now: context.now() },
    streams: new Set(tables.map(({ stream }) => stream)),
    tables: new Set(tables.map(({ name }) => name)),
    companies: config.companies.map(({ name }) => name),
  };
  const failed = new Set(
    (report?.exit_code ? report.streams : [])
      .filter(({ status }) => status !== "succeeded" && status !== "warning")
      .map(({ stream }) => stream),
  );
  const write = (piece: Buffer | string) => (piece.length === 0 ? Promise.resolve() : writePiece(context, piece));
  try {
    const all = withPresent(tables, await changesTables(reading, order)).map(table => {
      const columns = table.columns.filter(({ name }) => !without.get(table.name)?.has(name));
      return { ...table, columns };
    });
    const telling = new Telling({ protocol, tables: all, state }, ({ stream }) => !failed.has(stream), write);
    try {
      await takeChanges(reading, order, signal, batch => telling.take(batch));
    } catch (error) {
      if (codeOf(error) !== "EPIPE") await telling.stop();
      throw error;
    }
    await telling.end();
  } finally {
    await reading.close();
  }
}
