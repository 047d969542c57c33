import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import type { Db, Schemas } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { countOf } from "../sql_fragments.ts";
import { rowStateName } from "../state_tables.ts";

export interface Looked extends Schemas {
  readonly db: Db;
  readonly dialect: Dialect;
}

export async function hasState({ stateSchema, ...looked }: Omit<Looked, "schema">): Promise<boolean> {
  return (await tablesAmong(looked, [[stateSchema, "warehouse"]])).size === 1;
}

/** Rows that a company's stream lists at present; undefined where its tables are not there. */
export async function liveCount(
  { schema, stateSchema, ...looked }: Looked,
  company: string,
  { main }: TableSet,
): Promise<number | undefined> {
  const rowState = rowStateName(main.name);
  const needed = [
    [schema, main.name],
    [stateSchema, rowState],
  ] as const;
  if ((await tablesAmong(looked, needed)).size < needed.length) return undefined;
  return countOf(looked.db, sql`${sql.id(stateSchema, rowState)} where _company = ${company} and deleted_at is null`);
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
  { schema, ...looked }: Omit<Looked, "stateSchema">,
  streams: readonly T[],
): Promise<readonly T[]> {
  const there = await tablesAmong(
    looked,
    streams.map(stream => [schema, stream.tables.main.name]),
  );
  return streams.filter(stream => there.has(`${schema}.${stream.tables.main.name}`));
}

export async function missingTables(
  { schema, ...looked }: Omit<Looked, "stateSchema">,
  { main, children }: TableSet,
): Promise<readonly string[]> {
  const names = [main, ...children].map(({ name }) => name);
  const there = await tablesAmong(
    looked,
    names.map(name => [schema, name]),
  );
  return names.filter(name => !there.has(`${schema}.${name}`));
}

async function tablesAmong(
  { db, dialect }: Pick<Looked, "db" | "dialect">,
  names: readonly (readonly [schema: string, table: string])[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const { rows } = await dialect.tablesAmong(names.map(([schema, name]) => ({ schema, name }))).execute(db);
  return new Set(rows.map(row => `${row.schema}.${row.name}`));
}
