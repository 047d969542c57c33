import { z } from "zod";
import type { Db } from "../database.ts";
import { factOf, keepFact } from "./facts.ts";

/** In the state schema's facts: that the warehouse is being filled from another one, and how far that is. */
export const FILLING = "filling";

const contents = z.object({ rows: z.number(), fingerprint: z.string() });
/** How many rows a table has, and what they amount to: the same rows, in whatever order, have the same fingerprint. */
export type Contents = z.infer<typeof contents>;

const stored = z.object({ from: z.string(), done: z.record(z.string(), contents) });

export interface Filling {
  /** What the other warehouse is called. */
  readonly from: string;
  /** By `schema.table`, what was copied of it. */
  readonly done: Readonly<Record<string, Contents>>;
}

/** Undefined: it isn't being filled. */
export async function fillingOf(db: Db): Promise<Filling | undefined> {
  return stored.optional().parse(await factOf(db, FILLING));
}

/** Undefined: from now on the warehouse is a whole one. Within a transaction. */
export async function recordFilling(db: Db, filling: Filling | undefined): Promise<void> {
  await keepFact(db, FILLING, filling);
}
