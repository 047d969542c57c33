import { sql } from "kysely";
import type { Db, Fragment } from "../database.ts";

/** What the table `warehouse` has under a key; undefined: nothing. */
export async function factOf(db: Db, stateSchema: string, key: string): Promise<unknown> {
  const { rows } = await sql<{ value: unknown }>`
    select value from ${sql.id(stateSchema, "warehouse")} where key = ${key}`.execute(db);
  return rows[0]?.value;
}

/** Statements that put a value under a key, in place of what was there. */
export function recordFact(stateSchema: string, key: string, value: unknown): readonly Fragment[] {
  const warehouse = sql.id(stateSchema, "warehouse");
  return [
    sql`delete from ${warehouse} where key = ${key}`,
    sql`insert into ${warehouse} (key, value) values (${key}, ${JSON.stringify(value)})`,
  ];
}
