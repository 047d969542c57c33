import type { Stream } from "../../../src/catalog/stream.ts";
import { parseDuration } from "../../../src/duration.ts";
import { dbtPackage } from "../../../src/outputs/dbt/package.ts";
import { packageModels, packageTables } from "../../../src/outputs/dbt/tables.ts";
import type { PackageFile } from "../../../src/outputs/dbt/yaml_file.ts";
import { dialectOf } from "../../../src/warehouse/connect/open.ts";
import { streams as catalogue } from "../../../streams/index.ts";
import { relationsOf } from "../../../streams/relations.ts";
import { models } from "../../support/models.ts";

/** What a test says of the configuration; the rest is its defaults, with every stream on. */
export interface Made {
  readonly type: "duckdb" | "postgres";
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
}

/** The files that `tributary dbt` writes. */
export function madePackage({
  type,
  streams = catalogue,
  companies = ["acme"],
  ...more
}: Made): readonly PackageFile[] {
  const { schema = "procurement", lateAfter = "26h", at = "", versioned = new Set() } = more;
  const place = { schema, stateSchema: "_tributary" };
  return dbtPackage({
    warehouse: type === "duckdb" ? { type, path: at, ...place } : { type, url: at, ...place },
    companies,
    lateAfterMs: parseDuration(lateAfter)!,
    tables: packageTables(dialectOf({ type }), streams, versioned),
    relations: relationsOf(streams),
    views: { schema: `${schema}_analytics`, models: packageModels(models.models, streams) },
    written: more.written,
  });
}
