import { z } from "zod";
import type { Db, Fragment } from "../database.ts";
import { factOf, recordFact } from "../state/facts.ts";

const KEY = "tables";
const COLUMNS = "columns";
/** Facts about the tables that this database has. */
export const TABLE_FACTS = [KEY, COLUMNS] as const;
const storedNames = z.array(z.string()).default([]);
const storedColumns = z.record(z.string(), z.record(z.string(), z.string())).default({});

/** The data tables that were made once and not dropped by us: one of them that isn't there was lost. */
export async function recordedTables(db: Db): Promise<ReadonlySet<string>> {
  return new Set(storedNames.parse(await factOf(db, KEY)));
}

export const recordTables = (stateSchema: string, names: ReadonlySet<string>): readonly Fragment[] =>
  recordFact(stateSchema, KEY, [...names].sort());

/** By table, the columns of the rows' own that it was given, with their types: one that isn't there, or has another type, was altered by somebody. */
export type RecordedColumns = ReadonlyMap<string, ReadonlyMap<string, string>>;

export async function recordedColumns(db: Db): Promise<RecordedColumns> {
  const stored = storedColumns.parse(await factOf(db, COLUMNS));
  return new Map(Object.entries(stored).map(([table, types]) => [table, new Map(Object.entries(types))]));
}

export function recordColumns(stateSchema: string, columns: RecordedColumns): readonly Fragment[] {
  return recordFact(
    stateSchema,
    COLUMNS,
    Object.fromEntries([...columns].map(([table, types]) => [table, Object.fromEntries(types)])),
  );
}
