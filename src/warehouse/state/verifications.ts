import { type Insertable, sql } from "kysely";
import type { Destination } from "../destination.ts";
import { countOf } from "../sql_fragments.ts";
import type { StateTables } from "../state_tables.ts";
import { lockedPrivacyRecords, type PrivacyRecord } from "./privacy_record.ts";

/** Rows of one INSERT. */
const AT_ONCE = 500;

/** Keeps what a verification found, in one transaction: values only where `mayHold` says so. Answers whether they were kept. */
export async function saveVerification(
  destination: Pick<Destination, "db" | "dialect" | "stateSchema">,
  lines: readonly Insertable<StateTables["verifications"]>[],
  differences: readonly Insertable<StateTables["verification_differences"]>[],
  mayHold: (privacy: readonly PrivacyRecord[]) => boolean,
): Promise<boolean> {
  return destination.db.transaction().execute(async trx => {
    const whole = mayHold(await lockedPrivacyRecords(trx, destination));
    const kept = whole
      ? differences
      : differences.map(each => ({ ...each, warehouse_value: null, service_value: null }));
    for (let i = 0; i < lines.length; i += AT_ONCE)
      await trx
        .insertInto("verifications")
        .values(lines.slice(i, i + AT_ONCE))
        .execute();
    for (let i = 0; i < kept.length; i += AT_ONCE)
      await trx
        .insertInto("verification_differences")
        .values(kept.slice(i, i + AT_ONCE))
        .execute();
    return whole;
  });
}

/** Details of a stream that were fetched, of rows that a company has; what the detail state says. */
export async function fetchedCount(
  { db, stateSchema }: Pick<Destination, "db" | "stateSchema">,
  company: string,
  stream: string,
): Promise<number> {
  const details = sql.id(stateSchema, "details");
  return countOf(db, sql`${details} where company = ${company} and stream = ${stream} and outcome = 'ok'`);
}
