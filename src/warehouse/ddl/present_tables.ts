import { type Kysely, sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import { countOf } from "../sql_fragments.ts";
import { rowStateName, type StateTables } from "../state_tables.ts";

/** A warehouse in somebody's hands, for a look. */
export interface Looked {
  readonly db: Kysely<StateTables>;
  readonly schema: string;
  readonly stateSchema: string;
}

/** Whether a run has ever made its state tables here, or this one of them. */
export async function hasState(
  { db, stateSchema }: Omit<Looked, "schema">,
  table: keyof StateTables = "warehouse",
): Promise<boolean> {
  return (await tablesAmong(db, [[stateSchema, table]])).size === 1;
}

/** Whether a state table has a column: one that no run of this version has upgraded yet lacks the youngest. */
export async function hasColumn(
  { db, stateSchema }: Omit<Looked, "schema">,
  table: keyof StateTables,
  column: string,
): Promise<boolean> {
  const { rows } = await sql`select 1 from information_schema.columns where table_schema = ${stateSchema}
    and table_name = ${table} and column_name = ${column}`.execute(db);
  return rows.length > 0;
}

/** Rows that a company's stream lists at present; undefined where its tables are not there. */
export async function liveCount(
  { db, schema, stateSchema }: Looked,
  company: string,
  { main }: TableSet,
): Promise<number | undefined> {
  const rowState = rowStateName(main.name);
  const needed = [
    [schema, main.name],
    [stateSchema, rowState],
  ] as const;
  if ((await tablesAmong(db, needed)).size < needed.length) return undefined;
  return countOf(db, sql`${sql.id(stateSchema, rowState)} where _company = ${company} and deleted_at is null`);
}

/** Keys of a company's live rows, the ones that changed last first; every value as text. */
export async function youngestKeys(
  { db, schema }: Pick<Looked, "db" | "schema">,
  company: string,
  { main }: TableSet,
  limit: number,
): Promise<readonly Readonly<Record<string, string>>[]> {
  const key = main.key.map(name => sql`cast(${sql.id(name)} as varchar) as ${sql.id(name)}`);
  const { rows } = await sql<Record<string, string>>`
    select ${sql.join(key)} from ${sql.id(schema, main.name)}
    where _company = ${company} and _deleted_at is null order by _changed_at desc limit ${sql.lit(limit)}`.execute(db);
  return rows;
}

/** Those of the streams whose tables are there: one that was never on has none. */
export async function withTables<T extends { readonly tables: TableSet }>(
  { db, schema }: Omit<Looked, "stateSchema">,
  streams: readonly T[],
): Promise<readonly T[]> {
  const there = await tablesAmong(
    db,
    streams.map(stream => [schema, stream.tables.main.name]),
  );
  return streams.filter(stream => there.has(`${schema}.${stream.tables.main.name}`));
}

/** Those of a stream's tables, main and child, that are not there, by name. */
export async function missingTables(
  { db, schema }: Omit<Looked, "stateSchema">,
  { main, children }: TableSet,
): Promise<readonly string[]> {
  const names = [main, ...children].map(({ name }) => name);
  const there = await tablesAmong(
    db,
    names.map(name => [schema, name]),
  );
  return names.filter(name => !there.has(`${schema}.${name}`));
}

/** Those of the tables that are there, as `schema.table`. */
async function tablesAmong(
  db: Kysely<StateTables>,
  names: readonly (readonly [schema: string, table: string])[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const among = names.map(([schema, table]) => sql`(table_schema = ${schema} and table_name = ${table})`);
  // With views left out DuckDB doesn't write out what each of them says.
  const { rows } = await sql<{ table_schema: string; table_name: string }>`
    select table_schema, table_name from information_schema.tables
    where table_type = 'BASE TABLE' and (${sql.join(among, sql` or `)})`.execute(db);
  return new Set(rows.map(row => `${row.table_schema}.${row.table_name}`));
}
