import { sql } from "kysely";
import type { Db } from "../database.ts";
import type { CatalogLine, Dialect } from "../dialect.ts";
import type { Functions } from "./as_of.ts";

export interface PresentColumn {
  readonly name: string;
  /** In one spelling for both databases, see `canonicalType`. */
  readonly type: string;
  readonly comment: string | undefined;
  /** NOT NULL without a default: rows that leave it out are refused. */
  readonly isRequired: boolean;
}

export interface PresentTable {
  readonly schema: string;
  readonly name: string;
  readonly isTable: boolean;
  readonly comment: string | undefined;
  readonly columns: ReadonlyMap<string, PresentColumn>;
  readonly primaryKey: readonly string[];
  /** Whether replication is told which rows change by other means than the primary key. */
  readonly isIdentified: boolean;
}

/** What the warehouse holds now. Tables go by `schema.name`. */
export interface Catalog {
  readonly schemas: ReadonlySet<string>;
  readonly tables: ReadonlyMap<string, PresentTable>;
  /** Those beside tables of versions; none where they were not asked for. */
  readonly functions: Functions;
}

export const emptyCatalog: Catalog = { schemas: new Set(), tables: new Map(), functions: new Map() };

export async function readCatalog(db: Db, dialect: Dialect, schemas: readonly string[]): Promise<Catalog> {
  const names = sql.join(schemas.map(schema => sql.lit(schema)));
  const { rows } = await dialect.catalogLines(names).execute(db);
  const tables = new Map<string, PresentTable>();
  for (const [name, lines] of Map.groupBy(rows, line => `${line.schema}.${line.table}`)) {
    const { schema, table, is_table, table_comment, is_identified } = lines[0]!;
    if (table === null) continue;
    const columns = lines.filter(line => line.name !== null);
    tables.set(name, {
      schema,
      name: table,
      isTable: is_table,
      comment: table_comment ?? undefined,
      columns: new Map(columns.map(line => [line.name!, presentColumn(line)])),
      primaryKey: columns
        .filter(line => line.place !== null)
        .sort((a, b) => a.place! - b.place!)
        .map(line => line.name!),
      isIdentified: is_identified,
    });
  }
  return { schemas: new Set(rows.map(line => line.schema)), tables, functions: new Map() };
}

function presentColumn(line: CatalogLine): PresentColumn {
  return {
    name: line.name!,
    type: canonicalType(line.type),
    comment: line.comment ?? undefined,
    isRequired: line.isRequired,
  };
}

const spellings: Readonly<Record<string, string>> = {
  "timestamp with time zone": "timestamptz",
  "character varying": "varchar",
  text: "varchar",
  double: "double precision",
  float8: "double precision",
  int8: "bigint",
  int4: "integer",
  bool: "boolean",
};

/** One spelling of a column type: `TIMESTAMP WITH TIME ZONE` → `timestamptz`, `DECIMAL(38,9)` → `numeric(38,9)`. */
export function canonicalType(type: string): string {
  const lower = type.toLowerCase().replaceAll(", ", ",");
  return spellings[lower] ?? lower.replace(/^decimal\(/, "numeric(");
}

/** The columns that a schema's tables really have: the configuration may keep some out, and a stream that is off may lack others. */
export async function columnsIn(db: Db, schema: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { rows } = await sql<{ table: string; name: string }>`
    select table_name as "table", column_name as name from information_schema.columns
    where table_schema = ${schema}`.execute(db);
  const byTable = Map.groupBy(rows, row => row.table);
  return new Map([...byTable].map(([table, columns]) => [table, new Set(columns.map(({ name }) => name))]));
}
