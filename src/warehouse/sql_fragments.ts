import { sql } from "kysely";
import type { Table } from "../catalog/columns.ts";
import { digestOf } from "../digest.ts";
import type { Db, Fragment } from "./database.ts";
import type { Destination } from "./destination.ts";
import type { Dialect } from "./dialect.ts";
import { rowStateName } from "./state_tables.ts";

/** Pieces of SQL that both databases read the same way. */
export const columnList = (names: readonly string[], of?: string): Fragment =>
  sql.join(
    names.map(name => (of === undefined ? sql.id(name) : sql.id(of, name))),
    sql`, `,
  );

/** `a.k1 = b.k1 and a.k2 = b.k2`. */
export const equal = (a: string, b: string, names: readonly string[]): Fragment =>
  sql.join(
    names.map(name => sql`${sql.id(a, name)} = ${sql.id(b, name)}`),
    sql` and `,
  );

/** `a.x1 = b.y1 and …` for pairs of names. */
export const equalPairs = (a: string, b: string, pairs: readonly (readonly [string, string])[]): Fragment =>
  sql.join(
    pairs.map(([left, right]) => sql`${sql.id(a, left)} = ${sql.id(b, right)}`),
    sql` and `,
  );

/** True when any of the columns differs, NULL being a value like others; `false` for no columns. */
export const anyDiffers = (a: string, b: string, names: readonly string[]): Fragment =>
  names.length === 0
    ? sql`false`
    : sql`(${sql.join(
        names.map(name => sql`${sql.id(a, name)} is distinct from ${sql.id(b, name)}`),
        sql` or `,
      )})`;

/** `c1 = r.c1, c2 = r.c2` for an UPDATE. */
export const assignments = (names: readonly string[], from: string): Fragment =>
  sql.join(
    names.map(name => sql`${sql.id(name)} = ${sql.id(from, name)}`),
    sql`, `,
  );

export const tableRef = (destination: Pick<Destination, "schema">, table: Table): Fragment =>
  sql.id(destination.schema, table.name);

export const rowStateRef = (destination: Pick<Destination, "stateSchema">, main: Table): Fragment =>
  sql.id(destination.stateSchema, rowStateName(main.name));

export async function countOf(db: Db, from: Fragment): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${from}`.execute(db);
  return rows[0]!.n;
}

export async function knownRows(
  db: Db,
  rowState: Fragment,
  company: string,
): Promise<{ readonly known: number; readonly live: number }> {
  const { rows } = await sql<{ known: number; live: number }>`
    select count(*) as known, count(*) - count(deleted_at) as live from ${rowState} where _company = ${company}`.execute(
    db,
  );
  return rows[0]!;
}

/** The same, and a text that is another one when rows of the row state come, go or change. */
export async function summedRows(db: Db, rowState: Fragment, company: string) {
  const { rows } = await sql<{ known: number; live: number; sums: string }>`
    select count(*) as known, count(*) - count(deleted_at) as live,
      concat_ws(' ', count(*), count(deleted_at), count(missing_since), cast(sum(hash) as varchar), cast(sum(vhash) as varchar),
        min(stamp), max(stamp)) as sums
    from ${rowState} where _company = ${company}`.execute(db);
  return rows[0]!;
}

/** Waits in a transaction for others that named one of these, and keeps who names it next waiting. */
export async function takeTurns(
  trx: Db,
  { isServer }: Pick<Dialect, "isServer">,
  names: readonly string[],
): Promise<void> {
  if (!isServer) return;
  // In one order for all, so that no two wait for each other.
  await sql`select pg_advisory_xact_lock(key) from (
    select distinct hashtextextended(name, 0) as key from unnest(${names}::text[]) as name order by key) keys`.execute(
    trx,
  );
}

/** A temporary table's name, short enough for any stream and company. */
export const temporaryName = (purpose: string, company: string, stream: string): string =>
  `${purpose}_${digestOf([company, stream], 12)}`;

/** Drops temporary tables in one statement: each for nothing costs DuckDB most of a millisecond. */
export async function dropTables(db: Db, names: readonly Fragment[]): Promise<void> {
  await sql
    .join(
      names.map(name => sql`drop table if exists ${name}`),
      sql`; `,
    )
    .execute(db);
}

export const timestampOf = (work: { readonly timestamp: string }): Fragment =>
  sql`cast(${work.timestamp} as timestamptz)`;
