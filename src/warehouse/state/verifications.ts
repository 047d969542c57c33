import type { Insertable } from "kysely";
import type { Destination } from "../destination.ts";
import { insertRows } from "../state_rows.ts";
import type { StateTables } from "../state_tables.ts";
import { lockedPrivacyRecords, type PrivacyRecord } from "./privacy_record.ts";

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
    await insertRows(trx, "verifications", lines);
    await insertRows(trx, "verification_differences", kept);
    return whole;
  });
}
