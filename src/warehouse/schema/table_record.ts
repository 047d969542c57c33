import { type Kysely, type RawBuilder, sql } from "kysely";
import { z } from "zod";
import type { StateTables } from "../state_tables.ts";

const KEY = "tables";
const COLUMNS = "columns";
const storedNames = z.array(z.string());
const storedColumns = z.record(z.string(), z.array(z.string()));

/** The data tables that were made once and not dropped by us: one of them that isn't there was lost. */
export async function recordedTables(db: Kysely<StateTables>, stateSchema: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ value: unknown }>`
    select value from ${sql.id(stateSchema, "warehouse")} where key = ${KEY}`.execute(db);
  return new Set(rows[0] === undefined ? [] : storedNames.parse(rows[0].value));
}

/** Statements that record exactly these names. */
export function recordTables(stateSchema: string, names: ReadonlySet<string>): readonly RawBuilder<unknown>[] {
  const warehouse = sql.id(stateSchema, "warehouse");
  const value = JSON.stringify([...names].sort());
  return [
    sql`delete from ${warehouse} where key = ${KEY}`,
    sql`insert into ${warehouse} (key, value) values (${KEY}, ${value})`,
  ];
}

/** By table, the columns of the rows' own that it was given: one of them that isn't there was dropped or renamed by somebody. */
export type RecordedColumns = ReadonlyMap<string, ReadonlySet<string>>;

export async function recordedColumns(db: Kysely<StateTables>, stateSchema: string): Promise<RecordedColumns> {
  const { rows } = await sql<{ value: unknown }>`
    select value from ${sql.id(stateSchema, "warehouse")} where key = ${COLUMNS}`.execute(db);
  const stored = rows[0] === undefined ? {} : storedColumns.parse(rows[0].value);
  return new Map(Object.entries(stored).map(([table, names]) => [table, new Set(names)]));
}

/** Statements that record exactly these columns. */
export function recordColumns(stateSchema: string, columns: RecordedColumns): readonly RawBuilder<unknown>[] {
  const warehouse = sql.id(stateSchema, "warehouse");
  const value = JSON.stringify(Object.fromEntries([...columns].map(([table, names]) => [table, [...names]])));
  return [
    sql`delete from ${warehouse} where key = ${COLUMNS}`,
    sql`insert into ${warehouse} (key, value) values (${COLUMNS}, ${value})`,
  ];
}
