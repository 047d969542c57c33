import { type Kysely, type RawBuilder, sql } from "kysely";
import { z } from "zod";
import type { StateTables } from "./state_tables.ts";

const KEY = "tables";
const storedNames = z.array(z.string());

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
