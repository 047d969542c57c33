import type { Insertable, Kysely, Selectable } from "kysely";
import type { Db } from "./database.ts";
import type { StateTable } from "./state_columns.ts";
import { type StateTables, stateTables } from "./state_tables.ts";

/** Writes a row of a state table, in place of the one with its key. Columns that are left out keep what they hold. */
export async function putRow<Name extends keyof StateTables>(
  db: Db,
  name: Name,
  row: Insertable<StateTables[Name]>,
): Promise<void> {
  const { key, digest = [] }: StateTable = stateTables[name];
  const names: readonly string[] = key ?? digest;
  const [own, rest] = [true, false].map(isKey =>
    Object.fromEntries(Object.entries<unknown>(row).filter(([column]) => names.includes(column) === isKey)),
  ) as [Row, Row];
  const tables = anyOf(db);
  const { numUpdatedRows } = await tables
    .updateTable<string>(name)
    .set(rest)
    .where(({ and }) => and(own))
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n)
    await tables
      .insertInto(name)
      .values({ ...row })
      .execute();
}

/** Rows of one INSERT. */
const AT_ONCE = 500;

export async function insertRows<Name extends keyof StateTables>(
  db: Db,
  name: Name,
  rows: readonly Insertable<StateTables[Name]>[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += AT_ONCE)
    await anyOf(db)
      .insertInto(name as string)
      .values(rows.slice(at, at + AT_ONCE) as Row[])
      .execute();
}

/** A row of a state table that has these values; undefined: there is none. */
export const rowWith = <Name extends keyof StateTables>(
  db: Db,
  name: Name,
  values: Partial<Insertable<StateTables[Name]>>,
): Promise<Selectable<StateTables[Name]> | undefined> =>
  anyOf(db)
    .selectFrom(name as string)
    .selectAll()
    .where(({ and }) => and({ ...values }))
    .executeTakeFirst() as Promise<Selectable<StateTables[Name]> | undefined>;

export async function deleteRowsWith(db: Db, names: readonly (keyof StateTables)[], values: Row): Promise<void> {
  for (const name of names)
    await anyOf(db)
      .deleteFrom(name as string)
      .where(({ and }) => and({ ...values }))
      .execute();
}

type Row = Readonly<Record<string, unknown>>;

const anyOf = (db: Db) => db as unknown as Kysely<Record<string, Record<string, unknown>>>;
