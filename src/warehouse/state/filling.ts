import { z } from "zod";
import type { Db } from "../database.ts";
import type { Contents } from "../parquet_source.ts";
import { recordFact } from "./facts.ts";

/** In the state schema's facts: that the warehouse is being filled from another one, and how far that is. */
export const FILLING = "filling";

export const HALF_FILLED =
  "This warehouse is being filled from another one, and isn't whole yet. Call the same `tributary move --to` again, which goes on, or drop its schemas (or its file) and use the other one.";

const contents = z.object({ rows: z.number(), fingerprint: z.string() });
const stored = z.object({ from: z.string(), done: z.record(z.string(), contents) });

export interface Filling {
  /** What the other warehouse is called. */
  readonly from: string;
  /** By `schema.table`, what was copied of it. */
  readonly done: Readonly<Record<string, Contents>>;
}

/** Undefined: it isn't being filled. */
export async function fillingOf(db: Db): Promise<Filling | undefined> {
  const row = await db.selectFrom("warehouse").select("value").where("key", "=", FILLING).executeTakeFirst();
  return row === undefined ? undefined : stored.parse(row.value);
}

/** Undefined: from now on the warehouse is a whole one. Within a transaction. */
export async function recordFilling(db: Db, stateSchema: string, filling: Filling | undefined): Promise<void> {
  if (filling === undefined) await db.deleteFrom("warehouse").where("key", "=", FILLING).execute();
  else for (const statement of recordFact(stateSchema, FILLING, filling)) await statement.execute(db);
}
