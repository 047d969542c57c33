import { LINE_ID_COLUMN } from "../../catalog/columns.ts";
import { oneCurrentTest, oneLineTest, uniqueTest } from "./checks.ts";
import { allowedAge, loadedAt, type Place, placeVariable } from "./freshness.ts";
import { bare } from "./sql.ts";
import type { PackageColumn, PackageTable, PlainSource } from "./tables.ts";
import { type PackageFile, plainly, yamlFile } from "./yaml_file.ts";

export interface SourceFacts {
  readonly place: Place;
  readonly companies: readonly string[];
  readonly lateAfterMs: number;
  readonly tables: readonly PackageTable[];
  /** Views beside the tables that only tributary can make. */
  readonly views: readonly PlainSource[];
  /** What marts read of the record of runs. */
  readonly record: readonly PlainSource[];
}

/** `sources.yml`: every table with its columns, how old it may be, and what must be true of its key. */
export function sourcesFile({ place, companies, lateAfterMs, tables, views, record }: SourceFacts): PackageFile {
  const source = {
    name: place.schema,
    description: "Tables that tributary keeps in step with the service, deleted rows included.",
    ...placed(place, "schema"),
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
  const sources = [
    source,
    ...plainSource(place, "views_schema", "Views that only tributary makes: of its configuration's lines.", views),
    ...plainSource(place, "state_schema", "What tributary records of its runs, and the rates of currencies.", record),
  ];
  return yamlFile("models/sources.yml", { version: 2, sources });
}

function plainSource(
  place: Place,
  schema: "views_schema" | "state_schema",
  description: string,
  tables: readonly PlainSource[],
) {
  if (tables.length === 0) return [];
  const described_ = tables.map(({ name, description, columns }) => ({
    name,
    description: plainly(description),
    columns: columns.map(described),
  }));
  return [{ name: place[schema], description, ...placed(place, schema), loader: "tributary", tables: described_ }];
}

const placed = ({ database }: Place, schema: keyof Place) => ({
  ...(database === undefined ? {} : { database: placeVariable("database") }),
  schema: placeVariable(schema),
});

export const described = ({ name, type, comment }: PackageColumn) => ({
  name,
  ...(bare(name) === name ? {} : { quote: true }),
  description: plainly(comment),
  data_type: type,
});
