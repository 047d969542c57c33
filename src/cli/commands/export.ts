import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type Command, Option } from "commander";
import { nothingLoaded } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import type { ExportOrder, ExportTools } from "../../outputs/export/export.ts";
import type { CliContext } from "../invocation/context.ts";
import { attachOptions, type CommonOptions, localPath, whole } from "../invocation/options.ts";
import { exportLine, exportText } from "../terminal/export_report.ts";
import { commandMessages } from "./messages.ts";

interface ExportCommandOptions extends CommonOptions {
  readonly out: string;
  readonly format: "parquet";
  readonly partitionBy: readonly string[];
  readonly compression: "zstd" | "snappy";
  readonly live?: true;
  readonly keep: number;
}

const KEEP = 2;

export function register(command: Command, context: CliContext): void {
  command
    .argument(
      "[stream...]",
      "streams, patterns or presets (default: every table there is, also of streams that are off)",
    )
    .description(
      "Write the tables as Parquet files, a folder a table, for Spark, Trino, BigQuery and DuckDB. The folder changes in one step: readers see the export before or the new one, never a mixture. Tables that did not change since are not written again. Nothing in the warehouse is locked or changed, but that the folder is noted there the first time: a change of `privacy` makes it anew.",
    )
    .requiredOption(
      "--out <dir>",
      "a folder of its own; becomes a symbolic link into <dir>.exports, where the versions lie",
      localPath,
    )
    .addOption(new Option("--format <format>", "how tables are written").choices(["parquet"]).default("parquet"))
    .option(
      "--partition-by <spec>",
      "folders by a column, _company, or of one table: table=column, table=date:year, :month or :day; repeatable",
      (spec: string, all: readonly string[]) => [...all, spec],
      [],
    )
    .addOption(new Option("--compression <name>", "of the files").choices(["zstd", "snappy"]).default("zstd"))
    .option("--live", "only rows that the service still lists")
    .option("--keep <n>", "versions to keep, for readers that are in the middle of one", whole(1), KEEP);
  attachOptions(
    command,
    ["company", "config", "json", "wait", "log", "noProgress"],
    "tributary export --out lake",
    "tributary export 'purchase_order*' invoices --out lake --live",
    "tributary export --out lake --partition-by _company --partition-by purchase_orders=po_date:month",
    "tributary export --out lake --json | jq -r '.tables[] | select(.status == \"written\") | .table'",
  )
    .addHelpText(
      "after",
      "\nlake/_manifest.json says what is there: rows, files, columns and their types. docs/export.md says how to read it.",
    )
    .action((names: string[], options: ExportCommandOptions) => exportTables(names, options, context));
}

async function exportTables(
  names: readonly string[],
  options: ExportCommandOptions,
  context: CliContext,
): Promise<void> {
  const { config, warnings } = await context.openConfig(options, { local: true });
  const { placeOf, roomIn } = await import("../../outputs/export/place.ts");
  const { readPartitionSpec } = await import("../../outputs/export/partitioning.ts");
  const { openReading } = await import("../../warehouse/connect/reading.ts");
  const { exportResources } = await import("../../warehouse/connect/exporting.ts");
  const { makeExport } = await import("../../outputs/export/export.ts");
  const { isNoted, notePlace } = await import("../../outputs/export/noting.ts");
  const { requirePolicyApplied, privacyOf } = await import("../../privacy/apply_policy.ts");
  const { streams } = await import("../../../streams/index.ts");
  const order = await orderOf(names, options, config);
  for (const spec of options.partitionBy) readPartitionSpec(spec);
  const place = await placeOf(options.out, context.cwd);
  const open = async () => {
    const reading = await openReading(config.destination, exportResources(roomIn(place)));
    if (reading !== undefined) return reading;
    throw nothingLoaded("tables to export");
  };
  let reading = await open();
  const { tools, finish } = await exportTools(context, options);
  try {
    for (const warning of warnings) tools.log.warn(warning);
    const { policy } = privacyOf(streams, config.privacy);
    await requirePolicyApplied(reading, policy);
    if (!(await isNoted(reading, place, tools.holder.host))) {
      // Our own reader would block the write (`readers: direct`).
      await reading.close();
      const warning = await notePlace(config.destination, place, tools.holder, tools.clock, options.wait);
      if (warning !== undefined) tools.log.warn(warning);
      reading = await open();
    }
    const report = await makeExport(reading, { ...order, place, privacy: policy.id }, tools);
    finish();
    if (options.json) context.printJson(report);
    else context.print(exportText(report, context.look()));
  } finally {
    finish();
    await reading.close();
  }
}

async function orderOf(
  names: readonly string[],
  { partitionBy, compression, company, live, keep }: ExportCommandOptions,
  config: Awaited<ReturnType<CliContext["openConfig"]>>["config"],
): Promise<Omit<ExportOrder, "place" | "privacy">> {
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { select } = await import("../../config/selection.ts");
  const { configuredStreams } = await import("../../library/connector.ts");
  const { packageVersion } = await import("../../package_root.ts");
  companiesOf(config, company);
  const { catalogue, on } = await configuredStreams(config);
  return {
    catalogue,
    on: new Set(on.map(({ name }) => name)),
    named: select(catalogue, catalogue, names).named,
    version: packageVersion(),
    options: {
      format: "parquet",
      streams: [...names],
      partition_by: [...partitionBy],
      ...{ compression, company: company ?? null, live: live === true, keep },
    },
  };
}

async function exportTools(
  context: CliContext,
  options: ExportCommandOptions,
): Promise<{ tools: ExportTools & { log: Log }; finish(): void }> {
  const { lineProgress } = await import("../invocation/line_progress.ts");
  const { systemClock } = await import("../../clock.ts");
  const { log, signal, show, finish } = await lineProgress(context, options, {
    stopping: commandMessages.export_stopping(),
    stopped: ({ signal }) => commandMessages.export_stopped({ signal, out: options.out }),
  });
  const compared = new Set<string>();
  const holder = {
    runId: randomUUID(),
    pid: process.pid,
    host: hostname(),
    command: "tributary export",
    startedAt: new Date(context.clock.now()).toISOString(),
  };
  return {
    tools: {
      ...{ clock: systemClock, log, holder, signal },
      watch: progress => {
        compared.add(progress.table);
        show(exportLine(progress, compared.size));
      },
    },
    finish,
  };
}
