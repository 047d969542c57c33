import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { Treatment } from "../../catalog/columns.ts";
import type { Db, Trx } from "../database.ts";
import type { Destination } from "../destination.ts";
import { putRow } from "../state_rows.ts";

/** What becomes, and became, of one column's values. */
export interface PrivacyRecord {
  readonly table: string;
  readonly column: string;
  readonly treatment: Treatment | null;
  readonly was: Treatment | null;
  readonly keyId: string | null;
  /** False: files may still hold what was there before. */
  readonly isClean: boolean;
}

export interface KeptRecord extends PrivacyRecord {
  readonly since: Date;
}

/** What the warehouse was written under, and what is under way. */
export async function privacyRecords(db: Db): Promise<readonly KeptRecord[]> {
  const rows = await db.selectFrom("privacy").selectAll().execute();
  return rows.map(row => ({
    table: row.table_name,
    column: row.column_name,
    treatment: treatmentOf(row.treatment),
    was: treatmentOf(row.was),
    keyId: row.key_id,
    isClean: row.cleaned_at !== null,
    since: row.since,
  }));
}

/** What the warehouse is written under until the transaction ends: whoever changes it waits, as this does for one who is about to. */
export async function lockedPrivacyRecords(
  trx: Trx,
  { dialect, stateSchema }: Pick<Destination, "dialect" | "stateSchema">,
): Promise<readonly KeptRecord[]> {
  for (const lock of dialect.lockTables([sql.id(stateSchema, "privacy")], "share")) await lock.execute(trx);
  return privacyRecords(trx);
}

/**
 * Keeps the record for this transaction. False: another run has changed it since it was `read`, and has to be looked at first.
 * In a new warehouse no stream's lock holds a second company's first run back.
 */
export async function claimRecords(
  trx: Trx,
  { dialect, stateSchema }: Pick<Destination, "dialect" | "stateSchema">,
  read: readonly KeptRecord[],
): Promise<boolean> {
  if (!dialect.hasOtherWriters) return true;
  for (const lock of dialect.lockTables([sql.id(stateSchema, "privacy")], "share row exclusive"))
    await lock.execute(trx);
  const lines = (records: readonly KeptRecord[]) => records.map(record => JSON.stringify(record)).sort();
  return isDeepStrictEqual(lines(await privacyRecords(trx)), lines(read));
}

/** Records these in place of what was recorded of the same columns. */
export async function recordPrivacy(db: Db, records: readonly PrivacyRecord[], now: string): Promise<void> {
  for (const { table, column, treatment, was, keyId } of records) {
    const key = { table_name: table, column_name: column };
    await putRow(db, "privacy", { ...key, treatment, was, key_id: keyId, since: now, cleaned_at: null });
  }
}

/** Nothing holds any more what was there before. Columns without a treatment stay too: who began under the one before has to learn of it. */
export async function recordClean(db: Db, now: string): Promise<void> {
  await db.updateTable("privacy").set({ was: null, cleaned_at: now }).where("cleaned_at", "is", null).execute();
}

function treatmentOf(text: string | null): Treatment | null {
  return text === "exclude" || text === "hash" || text === "mask" ? text : null;
}
