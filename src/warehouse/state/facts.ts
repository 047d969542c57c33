import { sql } from "kysely";
import type { Db, Fragment } from "../database.ts";
import { hasState, type Looked } from "../ddl/present_tables.ts";
import { deleteRowsWith, putRow, rowWith } from "../state_rows.ts";

/** What the table `warehouse` has under a key; undefined: nothing. */
export async function factOf(db: Db, key: string): Promise<unknown> {
  return (await rowWith(db, "warehouse", { key }))?.value;
}

/** All that it has. */
export async function factsOf(db: Db): Promise<ReadonlyMap<string, unknown>> {
  const rows = await db.selectFrom("warehouse").select(["key", "value"]).execute();
  return new Map(rows.map(({ key, value }) => [key, value]));
}

/** The same; undefined where nothing has been loaded. */
export const recordedFacts = async (looked: Looked): Promise<ReadonlyMap<string, unknown> | undefined> =>
  (await hasState(looked)) ? factsOf(looked.db) : undefined;

/** Puts a value under a key, in place of what was there; undefined: nothing. */
export async function keepFact(db: Db, key: string, value: unknown): Promise<void> {
  if (value === undefined) await deleteRowsWith(db, ["warehouse"], { key });
  else await putRow(db, "warehouse", { key, value: JSON.stringify(value) });
}

/** The same as statements, which have no parameters. */
export function recordFact(stateSchema: string, key: string, value: unknown): readonly Fragment[] {
  const warehouse = sql.id(stateSchema, "warehouse");
  const name = sql.lit(key);
  const forget = sql`delete from ${warehouse} where key = ${name}`;
  if (value === undefined) return [forget];
  return [forget, sql`insert into ${warehouse} (key, value) values (${name}, ${sql.lit(JSON.stringify(value))})`];
}
