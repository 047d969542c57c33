import { type Insertable, sql } from "kysely";
import type { Destination } from "./destination.ts";
import type { VerificationDifferencesTable, VerificationsTable } from "./state_tables.ts";

/** Rows of one INSERT. */
const AT_ONCE = 500;

/** Keeps what a verification found, in one transaction. */
export async function saveVerification(
  { db }: Pick<Destination, "db">,
  lines: readonly Insertable<VerificationsTable>[],
  differences: readonly Insertable<VerificationDifferencesTable>[],
): Promise<void> {
  await db.transaction().execute(async trx => {
    for (let i = 0; i < lines.length; i += AT_ONCE)
      await trx
        .insertInto("verifications")
        .values(lines.slice(i, i + AT_ONCE))
        .execute();
    for (let i = 0; i < differences.length; i += AT_ONCE)
      await trx
        .insertInto("verification_differences")
        .values(differences.slice(i, i + AT_ONCE))
        .execute();
  });
}

/** Details of a stream that were fetched, of rows that a company has; what the ledger of details says. */
export async function fetchedCount(
  { db, stateSchema }: Pick<Destination, "db" | "stateSchema">,
  company: string,
  stream: string,
): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.id(stateSchema, "details")}
    where company = ${company} and stream = ${stream} and outcome = 'ok'`.execute(db);
  return Number(rows[0]?.n ?? 0);
}
