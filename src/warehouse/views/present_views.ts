import { z } from "zod";
import type { Db, Fragment } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { factOf, recordFact } from "../state/facts.ts";
import type { ViewRecord } from "./view.ts";

export const VIEWS = "views";
const recorded = z.object({ definition: z.string(), comments: z.string(), made: z.string().optional() });
const storedRecord = z.record(z.string(), recorded).default({});

export interface PresentViews {
  readonly isSchemaThere: boolean;
  /** True for a view that is ours: it was recorded, and has a comment still, or is what the database made of it then. */
  readonly names: ReadonlyMap<string, boolean>;
  /** What views read that are bound to it, `schema.name`, by the view's name. */
  readonly reads: ReadonlyMap<string, readonly string[]>;
  /** Those that lost their comments. */
  readonly bare: ReadonlySet<string>;
  readonly record: ViewRecord;
}

export const noViews: PresentViews = {
  isSchemaThere: false,
  names: new Map(),
  reads: new Map(),
  bare: new Set(),
  record: {},
};

/** Reads what is there, in two small queries. */
export async function presentViews(db: Db, dialect: Dialect, schema: string): Promise<PresentViews> {
  const { rows } = await dialect.relationLines(schema).execute(db);
  const record = storedRecord.parse(await factOf(db, VIEWS));
  const lines = rows.filter(line => line.name !== null);
  return {
    isSchemaThere: rows.length > 0,
    names: new Map(
      lines.map(({ name, is_view, is_commented, print }) => {
        const made = Object.hasOwn(record, name!) ? record[name!] : undefined;
        return [name!, is_view && made !== undefined && (is_commented || made.made === print)];
      }),
    ),
    reads: new Map(lines.map(({ name, reads }) => [name!, reads ?? []])),
    bare: new Set(lines.flatMap(({ name, is_commented }) => (is_commented ? [] : [name!]))),
    record,
  };
}

/** The record of views that have just been made, with what the database keeps of them. */
export async function asMade(db: Db, dialect: Dialect, schema: string, record: ViewRecord): Promise<ViewRecord> {
  const { rows } = await dialect.relationLines(schema, Object.keys(record)).execute(db);
  const prints = new Map(rows.map(({ name, print }) => [name, print ?? undefined]));
  return Object.fromEntries(Object.entries(record).map(([name, own]) => [name, { ...own, made: prints.get(name) }]));
}

export function recordViews(stateSchema: string, record: ViewRecord): readonly Fragment[] {
  const sorted = Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  return recordFact(stateSchema, VIEWS, sorted.length === 0 ? undefined : Object.fromEntries(sorted));
}
