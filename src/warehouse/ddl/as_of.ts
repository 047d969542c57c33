import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import type { StateTables } from "../state_tables.ts";

type Fragment = RawBuilder<unknown>;

/** Where every version of a table's rows is kept, when its stream's history is. */
export const versionsName = (table: { readonly name: string }): string => `${table.name}_versions`;

/** What answers a table's rows as they were at a moment. */
export const asOfName = (table: { readonly name: string }): string => `${table.name}_as_of`;

/** What answers the rows of a table of versions as they were at a moment: a function in PostgreSQL, a table macro in DuckDB. */
export interface AsOf {
  readonly schema: string;
  readonly name: string;
  /** The table of versions, in the same schema. */
  readonly versions: string;
  readonly comment: string;
}

/** The functions that are there, by `schema.name`, with their comments. */
export type Functions = ReadonlyMap<string, string | undefined>;

/** Makes it, or makes it anew. Its columns are the table's, also those that come later. */
export function createAsOf(dialect: Dialect, { schema, name, versions, comment }: AsOf): readonly Fragment[] {
  const own = sql.id(schema, name);
  const table = sql.id(schema, versions);
  // Qualified and by position: a table may have a column that is called moment.
  const rows = (moment: string) => `v._valid_from <= ${moment} and (v._valid_to is null or v._valid_to > ${moment})`;
  if (dialect.name === "duckdb")
    return [
      sql`create or replace macro ${own}(moment) as table
        select v.* from ${table} v where ${sql.raw(rows("cast(moment as timestamptz)"))}`,
      sql`comment on macro table ${own} is ${sql.lit(comment)}`,
    ];
  const body = `select v.* from ${quoted(schema)}.${quoted(versions)} v where ${rows("$1")}`;
  return [
    sql`create or replace function ${own}(moment timestamptz) returns setof ${table}
      language sql stable parallel safe as ${sql.lit(body)}`,
    sql`comment on function ${own}(timestamptz) is ${sql.lit(comment)}`,
  ];
}

/** The table of versions can't be dropped before it. */
export const dropAsOf = (dialect: Dialect, { schema, name }: Pick<AsOf, "schema" | "name">): Fragment =>
  dialect.name === "duckdb"
    ? sql`drop macro table if exists ${sql.id(schema, name)}`
    : sql`drop function if exists ${sql.id(schema, name)}(timestamptz)`;

/** Reads which of them a schema has. */
export async function readFunctions(db: Kysely<StateTables>, dialect: Dialect, schema: string): Promise<Functions> {
  const found =
    dialect.name === "duckdb"
      ? sql<{ name: string; comment: string | null }>`select function_name as name, comment from duckdb_functions()
          where function_type = 'table_macro' and not internal and database_name = current_database()
            and schema_name = ${schema}`
      : sql<{ name: string; comment: string | null }>`select p.proname as name, d.description as comment
          from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
          left join pg_catalog.pg_description d on d.classoid = 'pg_catalog.pg_proc'::regclass and d.objoid = p.oid
          where n.nspname = ${schema}
            and pg_catalog.pg_get_function_identity_arguments(p.oid) = 'moment timestamp with time zone'`;
  const { rows } = await found.execute(db);
  return new Map(rows.map(row => [`${schema}.${row.name}`, row.comment ?? undefined]));
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
