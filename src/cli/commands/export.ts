import { randomUUID } from "node:crypto";
import { Argument } from "commander";
import { z } from "zod";
import { formatCount } from "../../counted.ts";
import { nothingLoaded } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import { whole } from "../../options/fields.ts";
import { flag, type Given, required } from "../../options/options.ts";
import type { ExportOrder, ExportProgress, ExportReport, ExportTools } from "../../outputs/export/export.ts";
import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined, localPath } from "../invocation/options.ts";
import type { Look } from "../terminal/look.ts";
import { rowTable } from "../terminal/table.ts";
import { commandMessages } from "./messages.ts";

const own = {
  out: required(
    localPath(),
    "a folder of its own; becomes a symbolic link into <dir>.exports, where the versions lie",
    "<dir>",
  ),
  partition_by: required(
    z.array(z.string()).default([]),
    "folders by a column, _company, or of one table: table=column, table=date:year, :month or :day; repeatable",
    "<spec>",
  ),
  live: flag("only rows that the service still lists"),
  keep: required(whole(1).default(2), "versions to keep, for readers that are in the middle of one", "<n>"),
};

type ExportCommandOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  arguments: [
    new Argument(
      "[stream...]",
      "streams, patterns or presets (default: every table there is, also of streams that are off)",
    ),
  ],
  description:
    "Write the tables as Parquet files, a folder a table, for Spark, Trino, BigQuery and DuckDB. The folder changes in one step: readers see the export before or the new one, never a mixture. Every table is written anew. Nothing in the warehouse is locked. It notes the folder and its privacy policy: after a change of `privacy` each run names the exports to make again.",
  options: [own, "company", "config", "json", "wait", "log", "progress"],
  examples: [
    "tributary export --out lake",
    "tributary export 'purchase_order*' invoices --out lake --live",
    "tributary export --out lake --partition-by _company --partition-by purchase_orders=po_date:month",
    "tributary export --out lake --json | jq -r '.tables[] | [.table, .rows] | @tsv'",
  ],
  notes:
    "\nlake/_manifest.json says what is there: rows, files, columns and their types. docs/export.md says how to read it.",
  run: exportTables,
});

async function exportTables(
  names: readonly string[],
  options: ExportCommandOptions,
  context: CliContext,
): Promise<void> {
  const { config, warnings } = await context.openConfig(options, { local: true });
  const { placeOf } = await import("../../outputs/export/place.ts");
  const { readPartitionSpec } = await import("../../outputs/export/partitioning.ts");
  const { openReading } = await import("../../warehouse/connect/reading.ts");
  const { exportResources } = await import("../../warehouse/connect/exporting.ts");
  const { makeExport } = await import("../../outputs/export/export.ts");
  const { notedPolicy, notePlace } = await import("../../outputs/export/noting.ts");
  const { requirePolicyApplied, privacyOf } = await import("../../privacy/apply_policy.ts");
  const { holderOf } = await import("../../sync/run/opening.ts");
  const { streams } = await import("../../../streams/index.ts");
  const order = await orderOf(names, options, config);
  for (const spec of options.partitionBy) readPartitionSpec(spec);
  const place = await placeOf(options.out, context.cwd);
  const { policy } = privacyOf(streams, config.privacy);
  const { tools, finish } = await exportTools(context, options);
  // Opened for each step: our own reader would block a note (`readers: direct`).
  const reading = async <T>(read: (from: WarehouseReading) => Promise<T>): Promise<T> => {
    await using from = await openReading(config.destination, exportResources(place.room));
    if (from === undefined) throw nothingLoaded("tables to export");
    await requirePolicyApplied(from, policy);
    return await read(from);
  };
  const note = async (isKnown: boolean) => {
    const startedAt = new Date(context.clock.now()).toISOString();
    const holder = { runId: randomUUID(), ...holderOf("tributary export", startedAt) };
    const noting = { place, policy: policy.id, isKnown, holder, clock: tools.clock };
    const warning = await notePlace(config.destination, { ...noting, waitMs: options.waitMs });
    if (warning !== undefined) tools.log.warn(warning);
  };
  try {
    for (const warning of warnings) tools.log.warn(warning);
    const noted = await reading(from => notedPolicy(from, place));
    if (noted === undefined) await note(false);
    const report = await reading(from => makeExport(from, { ...order, place, privacy: policy.id }, tools));
    if (noted !== undefined && noted !== policy.id) await note(true);
    finish();
    if (options.json) context.printJson(report);
    else context.print(exportText(report, context.look()));
  } finally {
    finish();
  }
}

async function orderOf(
  names: readonly string[],
  { partitionBy, company, live, keep }: ExportCommandOptions,
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
      streams: [...names],
      partition_by: [...partitionBy],
      ...{ company: company ?? null, live: live === true, keep },
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
  const watch = (progress: ExportProgress) => show(exportLine(progress));
  return { tools: { clock: systemClock, log, signal, watch }, finish };
}

/** The progress in a line. */
const exportLine = ({ table, nth, tables, rows, of }: ExportProgress): string =>
  `writing table ${nth} of ${tables}: ${table}, ${formatCount(rows)} of ${formatCount(of)} rows`;

/** What an export did, a line a table. */
function exportText({ out, tables, removed, missing }: ExportReport, look: Look): string {
  const rows = formatCount(tables.reduce((sum, line) => sum + line.rows, 0));
  return [
    rowTable(
      tables,
      [
        ["table", line => line.table],
        ["rows", line => line.rows],
        ["files", line => line.files],
        ["bytes", line => line.bytes],
      ],
      look,
      { first: ["rows"] },
    ),
    "",
    ...(removed.length > 0 ? [`No longer in the export: ${listed(removed)}.`] : []),
    ...(missing.length > 0 ? [`Not there yet, \`tributary sync\` loads them: ${listed(missing)}.`] : []),
    `${tables.length} tables written, ${rows} rows in all: ${out}`,
  ].join("\n");
}

const NAMED = 10;

/** The first names of many; --json has them all. */
function listed(names: readonly string[]): string {
  const more = names.length - NAMED;
  return more > 0 ? `${names.slice(0, NAMED).join(", ")} and ${formatCount(more)} more` : names.join(", ");
}
