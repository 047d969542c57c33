import { type Kysely, sql } from "kysely";
import type { ColumnProblems } from "../encoder.ts";
import type { Stream } from "../stream.ts";
import type { Destination } from "./destination.ts";
import { ledgerRef } from "./fragments.ts";
import { liveParents, type Parents, presentParents } from "./parents.ts";
import type { StateTables } from "./state_tables.ts";

/** Adds what a publish could not read to the table `problems`: one row a column and reason, first and last seen. */
export async function saveProblems(
  db: Kysely<StateTables>,
  company: string,
  stream: string,
  problems: readonly ColumnProblems[],
  rows: number,
  now: string,
): Promise<void> {
  for (const { table, column, reason, example, rows: affected } of problems) {
    const [known] = await db
      .deleteFrom("problems")
      .where("company", "=", company)
      .where("table_name", "=", table)
      .where("column_name", "=", column)
      .where("reason", "=", reason)
      .returning("first_seen_at")
      .execute();
    await db
      .insertInto("problems")
      .values({
        company,
        stream,
        table_name: table,
        column_name: column,
        reason,
        rows: affected,
        share: affected / Math.max(1, rows),
        example,
        first_seen_at: known?.first_seen_at.toISOString() ?? now,
        last_seen_at: now,
      })
      .execute();
  }
}

/** The stream's row in `streams`, as of this publish. `completeTo` null leaves what it was; `counted` saves a look at the ledger. */
export async function saveDashboard(
  db: Kysely<StateTables>,
  destination: Destination,
  company: string,
  stream: Stream,
  now: string,
  completeTo: string | null,
  parent: Parents | undefined,
  counted?: { readonly known: number; readonly live: number },
): Promise<void> {
  const table = stream.tables.main;
  const before = await db
    .selectFrom("streams")
    .selectAll()
    .where("company", "=", company)
    .where("table_name", "=", table.name)
    .executeTakeFirst();
  const { known, live } = counted ?? (await countRows(db, destination, company, stream));
  const row = {
    stream: stream.name,
    on: true,
    off_since: null,
    last_success_at: now,
    complete_to: completeTo ?? before?.complete_to?.toISOString() ?? null,
    rows: known,
    live_rows: live,
    details_pending: parent === undefined ? null : await pendingDetails(db, destination, company, stream.name, parent),
  };
  if (before === undefined)
    await db
      .insertInto("streams")
      .values({ company, table_name: table.name, ...row, note: null })
      .execute();
  else
    await db
      .updateTable("streams")
      .set(row)
      .where("company", "=", company)
      .where("table_name", "=", table.name)
      .execute();
}

async function countRows(
  db: Kysely<StateTables>,
  destination: Destination,
  company: string,
  stream: Stream,
): Promise<{ known: number; live: number }> {
  const { rows } = await sql<{ known: number; live: number }>`
    select count(*) as known, count(*) - count(deleted_at) as live
    from ${ledgerRef(destination, stream.tables.main)} where _company = ${company}`.execute(db);
  return { known: Number(rows[0]?.known ?? 0), live: Number(rows[0]?.live ?? 0) };
}

/** Live parents whose detail was never fetched, failed, or is of an earlier state of the parent. */
export async function pendingDetails(
  db: Kysely<StateTables>,
  destination: Destination,
  company: string,
  stream: string,
  parents: Parents,
): Promise<number> {
  const present = await presentParents({ db, schema: destination.schema }, parents);
  const changed = parents.kind === "values" && parents.aged ? sql`` : sql` or d.parent_hash <> p.parent_hash`;
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${liveParents(destination, company, present)} p
    left join ${sql.id(destination.stateSchema, "details")} d
      on d.company = ${company} and d.stream = ${stream} and d.parent_key = p.parent_key
    where d.parent_key is null or d.outcome = 'failed'${changed}`.execute(db);
  return Number(rows[0]?.n ?? 0);
}
