import { LINE_ID_COLUMN } from "../../catalog/columns.ts";
import type { Model } from "../../catalog/model.ts";
import { oneCurrentTest, oneLineTest, uniqueTest } from "./checks.ts";
import { allowedAge, loadedAt, type RunRecord } from "./freshness.ts";
import { bare } from "./sql.ts";
import type { PackageColumn, PackageTable } from "./tables.ts";
import { type PackageFile, plainly, yamlFile } from "./yaml_file.ts";

interface SourcePlace extends RunRecord {
  readonly schema: string;
}

/** Views beside the tables that answer questions of their own. */
export interface ModelSource {
  readonly schema: string;
  readonly models: readonly Pick<Model, "name" | "description" | "columns">[];
}

export interface SourceFacts {
  readonly place: SourcePlace;
  readonly companies: readonly string[];
  readonly lateAfterMs: number;
  readonly tables: readonly PackageTable[];
  readonly views: ModelSource;
}

/** `sources.yml`: every table with its columns, how old it may be, and what must be true of its key. */
export function sourcesFile({ place, companies, lateAfterMs, tables, views }: SourceFacts): PackageFile {
  const { database, schema } = place;
  const source = {
    name: schema,
    description: "Tables that tributary keeps in step with the service, deleted rows included.",
    ...(database === undefined ? {} : { database }),
    schema,
    loader: "tributary",
    config: { freshness: allowedAge(lateAfterMs) },
    tables: tables.map(table => ({
      name: table.name,
      description: plainly(table.comment),
      config: {
        meta: { stream: table.stream, key: table.key },
        loaded_at_query: loadedAt(place, companies, table.stream),
      },
      data_tests: [
        uniqueTest(table.key),
        ...(table.isHistory ? [oneCurrentTest(table.name, table.key)] : []),
        ...(table.columns.some(({ name }) => name === LINE_ID_COLUMN) ? [oneLineTest(table)] : []),
      ],
      columns: table.columns.map(column => ({
        ...described(column),
        ...(table.key.includes(column.name) ? { data_tests: ["not_null"] } : {}),
      })),
    })),
  };
  const sources = [source, ...(views.models.length === 0 ? [] : [modelSource(views, database)])];
  return yamlFile("models/sources.yml", { version: 2, sources });
}

const modelSource = ({ schema, models }: ModelSource, database: string | undefined) => ({
  name: schema,
  description:
    "Views that tributary makes of its tables: live rows, put together for the questions that are asked most.",
  ...(database === undefined ? {} : { database }),
  schema,
  loader: "tributary",
  tables: models.map(model => ({
    name: model.name,
    description: plainly(model.description),
    columns: model.columns.map(column => ({ name: column.name, description: plainly(column.description) })),
  })),
});

/** A column as dbt's YAML describes it. */
export const described = ({ name, type, comment }: PackageColumn) => ({
  name,
  ...(bare(name) === name ? {} : { quote: true }),
  description: plainly(comment),
  data_type: type,
});
