import { z } from "zod";
import type { Db, Fragment } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { factOf, recordFact } from "../state/facts.ts";
import type { ViewRecord } from "./view.ts";

export const VIEWS = "views";
const storedRecord = z.record(z.string(), z.object({ definition: z.string(), comments: z.string() })).default({});

export interface PresentViews {
  readonly isSchemaThere: boolean;
  /** True for a view that is ours: it was recorded, and has a comment still, which one that was made again by hand lacks. */
  readonly names: ReadonlyMap<string, boolean>;
  /** What views read that are bound to it, `schema.name`, by the view's name. */
  readonly reads: ReadonlyMap<string, readonly string[]>;
  readonly record: ViewRecord;
}

export const noViews: PresentViews = { isSchemaThere: false, names: new Map(), reads: new Map(), record: {} };

/** Reads what is there, in two small queries. */
export async function presentViews(db: Db, dialect: Dialect, schema: string): Promise<PresentViews> {
  const { rows } = await dialect.relationLines(schema).execute(db);
  const record = storedRecord.parse(await factOf(db, VIEWS));
  const lines = rows.filter(line => line.name !== null);
  return {
    isSchemaThere: rows.length > 0,
    names: new Map(
      lines.map(({ name, is_view, is_commented }) => [name!, is_view && is_commented && Object.hasOwn(record, name!)]),
    ),
    reads: new Map(lines.map(({ name, reads }) => [name!, reads ?? []])),
    record,
  };
}

export function recordViews(stateSchema: string, record: ViewRecord): readonly Fragment[] {
  const sorted = Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  return recordFact(stateSchema, VIEWS, sorted.length === 0 ? undefined : Object.fromEntries(sorted));
}
