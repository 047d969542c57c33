import { type Kysely, type RawBuilder, sql } from "kysely";
import type { StateTables } from "../state_tables.ts";

/** What the table `warehouse` has under a key; undefined: nothing. */
export async function factOf(db: Kysely<StateTables>, stateSchema: string, key: string): Promise<unknown> {
  const { rows } = await sql<{ value: unknown }>`
    select value from ${sql.id(stateSchema, "warehouse")} where key = ${key}`.execute(db);
  return rows[0]?.value;
}

/** Statements that put a value under a key, in place of what was there. */
export function recordFact(stateSchema: string, key: string, value: unknown): readonly RawBuilder<unknown>[] {
  const warehouse = sql.id(stateSchema, "warehouse");
  return [
    sql`delete from ${warehouse} where key = ${key}`,
    sql`insert into ${warehouse} (key, value) values (${key}, ${JSON.stringify(value)})`,
  ];
}
