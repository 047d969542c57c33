import { relative, resolve } from "node:path";
import type { Stream } from "../../catalog/stream.ts";
import type { Config } from "../../config/config.ts";
import { type Given, required } from "../../options/options.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined, localPath } from "../invocation/options.ts";
import { inShell } from "../terminal/look.ts";

const own = { out: required(localPath(), "where it goes; made where there is none", "<folder>") };

type DbtOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  description:
    "Write a dbt package for the warehouse of the configuration: all tables as described and tested sources, freshness, a staging model a table, the models as marts, a profile. Written again, it replaces its own files and leaves all others alone.",
  options: [own, "config", "json", "log"],
  examples: ["tributary dbt --out dbt/tributary", "cd dbt/tributary && dbt build"],
  run: dbt,
});

async function dbt(options: DbtOptions, context: CliContext): Promise<void> {
  const { config, templateAt } = await context.openConfig(options, { local: true });
  const { dialectOf } = await import("../../warehouse/connect/open.ts");
  const { viewTypes } = await import("../../warehouse/connect/view_types.ts");
  const { packageTables } = await import("../../outputs/dbt/tables.ts");
  const { packageModels } = await import("../../outputs/dbt/marts.ts");
  const { modelsRead } = await import("../../outputs/report/contents.ts");
  const { procurementReport } = await import("../../../reports/procurement.ts");
  const { relationsOf } = await import("../../../streams/relations.ts");
  const { configuredStreams, readModels, warehouseOrder } = await import("../../library/connector.ts");
  const { dbtPackage } = await import("../../outputs/dbt/package.ts");
  const { writeOwned } = await import("../../outputs/owned_folder.ts");
  const { destination, views } = config;
  const { catalogue, on, versioned } = await configuredStreams(config);
  const streams = await widened(config, on);
  const dialect = dialectOf(destination);
  const tables = packageTables(dialect, streams, versioned);
  const models = await readModels();
  const order = await warehouseOrder({ ...config, views: true }, models, { catalogue, streams, versioned });
  const types = await viewTypes({ ...order, grantSelectTo: [] });
  const place = templateAt(["destination", { duckdb: "path", postgres: "url", ducklake: "catalog" }[destination.type]]);
  const files = dbtPackage({
    warehouse: destination,
    viewsSchema: order.views.schema,
    companies: config.companies.map(({ name }) => name),
    lateAfterMs: config.freshness.lateAfterMs,
    tables,
    relations: relationsOf(streams),
    models: packageModels(models, tables, types, destination, dialect, views !== false),
    meanings: order.views.meanings,
    currency: order.views.currency,
    report: { title: procurementReport.title, models: modelsRead(procurementReport) },
    written: place,
  });
  const folder = resolve(context.cwd, options.out);
  const { written, unchanged, removed } = await writeOwned(folder, files, "tributary dbt");
  if (options.json) return context.printJson({ folder, tables: tables.length, written, unchanged, removed });
  const did = [
    `${written.length} files written`,
    ...(unchanged.length > 0 ? [`${unchanged.length} unchanged`] : []),
    ...(removed.length > 0 ? [`${removed.length} removed`] : []),
  ];
  const named = relative(context.cwd, folder) || ".";
  const { firstSteps } = await import("../../outputs/dbt/readme.ts");
  const { profileVariables } = await import("../../outputs/dbt/profile.ts");
  const { type } = config.destination;
  const steps = [`cd ${inShell(named)}`, ...firstSteps(type, profileVariables(config.destination, place))];
  context.print(
    `A dbt package with ${tables.length} tables is in ${named}: ${did.join(", ")}. Next (README.md there says more):\n  ${steps.join("\n  ")}`,
  );
}

/** The streams with the columns that a run added to their tables, which only the warehouse knows. @throws DestinationError */
async function widened({ destination, streams }: Config, on: readonly Stream[]): Promise<readonly Stream[]> {
  const { defaults, settings } = streams;
  const widens = ({ name }: Stream) => (settings[name]?.unknownFields ?? defaults.unknownFields) === "column";
  if (!on.some(widens)) return on;
  const { openReading } = await import("../../warehouse/connect/reading.ts");
  const { addedColumnsOf, withAdded } = await import("../../warehouse/schema/unknown_field_columns.ts");
  await using reading = await openReading(destination);
  if (reading === undefined) return on;
  const added = await addedColumnsOf(reading);
  return on.map(stream => withAdded(stream, added, settings[stream.name]?.volatile ?? []));
}
