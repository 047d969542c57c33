import { sql } from "kysely";
import type { Db, Fragment } from "../database.ts";

/** What the table `warehouse` has under a key; undefined: nothing. */
export async function factOf(db: Db, key: string): Promise<unknown> {
  const row = await db.selectFrom("warehouse").select("value").where("key", "=", key).executeTakeFirst();
  return row?.value;
}

/** Puts a value under a key, in place of what was there; undefined: nothing. Within a transaction. */
export async function keepFact(db: Db, key: string, value: unknown): Promise<void> {
  await db.deleteFrom("warehouse").where("key", "=", key).execute();
  if (value === undefined) return;
  await db
    .insertInto("warehouse")
    .values({ key, value: JSON.stringify(value) })
    .execute();
}

/** The same as statements. */
export function recordFact(stateSchema: string, key: string, value: unknown): readonly Fragment[] {
  const warehouse = sql.id(stateSchema, "warehouse");
  return [
    sql`delete from ${warehouse} where key = ${key}`,
    sql`insert into ${warehouse} (key, value) values (${key}, ${JSON.stringify(value)})`,
  ];
}
