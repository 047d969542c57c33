import { procurementReport } from "../../../reports/procurement.ts";
import type { MeaningTests } from "../../../src/catalog/meaning.ts";
import { readMeanings } from "../../../src/catalog/meaning.ts";
import type { Stream } from "../../../src/catalog/stream.ts";
import { parseDuration } from "../../../src/duration.ts";
import { packageModels } from "../../../src/outputs/dbt/marts.ts";
import { dbtPackage } from "../../../src/outputs/dbt/package.ts";
import { packageTables } from "../../../src/outputs/dbt/tables.ts";
import type { PackageFile } from "../../../src/outputs/dbt/yaml_file.ts";
import { modelsRead } from "../../../src/outputs/report/contents.ts";
import { dialectOf } from "../../../src/warehouse/connect/open.ts";
import { viewTypes } from "../../../src/warehouse/connect/view_types.ts";
import type { Dialect } from "../../../src/warehouse/dialect.ts";
import { tableOrder, viewOrder } from "../../../src/warehouse/schema/prepare_warehouse.ts";
import { streams as catalogue } from "../../../streams/index.ts";
import { relationsOf } from "../../../streams/relations.ts";
import { usualMeanings } from "../../models/warehouse.ts";
import { models } from "../../support/models.ts";

const place = { schema: "procurement", stateSchema: "_tributary" };
const views = viewOrder(place, catalogue, { wanted: true, models, meanings: usualMeanings, currency: undefined });
/** Of all models that the program has. */
const types = await viewTypes({ ...tableOrder(place, { streams: catalogue, grantSelectTo: [] }), views });

/** What a test says of the configuration; the rest is its defaults, with every stream on. */
export interface Made {
  readonly type: Dialect["name"];
  readonly streams?: readonly Stream[];
  /** Streams whose history is kept. */
  readonly versioned?: ReadonlySet<string>;
  readonly companies?: readonly string[];
  readonly schema?: string;
  readonly lateAfter?: string;
  /** Where the warehouse is, as the configuration says. */
  readonly at?: string;
  /** The same before `${…}` was replaced. */
  readonly written?: string;
  readonly meanings?: MeaningTests;
  /** The reporting currency. */
  readonly currency?: string | undefined;
  /** False: tributary makes no views of its own. */
  readonly views?: boolean;
}

function warehouseOf<P extends { readonly schema: string }>(type: Dialect["name"], at: string, place: P) {
  if (type === "duckdb") return { type, path: at, ...place };
  if (type === "postgres") return { type, url: at, ...place };
  return { type, catalog: at, catalogSchema: "ducklake", dataPath: "/lake", ...place };
}

/** The files that `tributary dbt` writes. */
export function madePackage({
  type,
  streams = catalogue,
  companies = ["acme"],
  ...more
}: Made): readonly PackageFile[] {
  const { schema = "procurement", lateAfter = "26h", at = "", versioned = new Set(), meanings = usualMeanings } = more;
  const place = { schema, stateSchema: "_tributary" };
  const dialect = dialectOf({ type });
  const tables = packageTables(dialect, streams, versioned);
  return dbtPackage({
    warehouse: warehouseOf(type, at, place),
    companies,
    lateAfterMs: parseDuration(lateAfter)!,
    tables,
    relations: relationsOf(streams),
    viewsSchema: `${schema}_analytics`,
    models: packageModels(models, tables, types, place, dialect, more.views ?? true),
    meanings: readMeanings(models.meanings, streams, meanings),
    currency: more.currency,
    report: { title: procurementReport.title, models: modelsRead(procurementReport) },
    written: more.written,
  });
}
