import type { Insertable, Kysely } from "kysely";
import type { Db } from "../database.ts";
import type { StateTable } from "../state_columns.ts";
import { type StateTables, stateTables } from "../state_tables.ts";

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
  const tables = db as unknown as Kysely<Record<string, Row>>;
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

type Row = Record<string, unknown>;
