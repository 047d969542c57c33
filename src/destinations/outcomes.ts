import { sql } from "kysely";
import type { Outcome } from "../encoder.ts";
import type { Kin } from "./comparison.ts";
import { markDeleted } from "./deletion.ts";
import type { Destination, Stage } from "./destination.ts";
import { ledgerRef } from "./fragments.ts";
import { parentKey, type Work } from "./work.ts";

/** What a publish makes of 404s: they mark rows deleted, count as failures because there are too many, or wait for the next publish. */
export type Absent = "believed" | "doubted" | "kept back";

/** The details of a stage that answered 404. */
export async function stagedAbsent(destination: Destination, stage: Stage): Promise<Outcome[]> {
  const { rows } = await sql<{ parent_key: string; parent_hash: string; fetched_at: Date; reason: string | null }>`
    select parent_key, cast(parent_hash as varchar) as parent_hash, fetched_at, reason from ${stage.outcomes()} o
    where outcome = 'absent'`.execute(destination.db);
  return rows.map(row => ({
    parentKey: row.parent_key,
    parentHash: row.parent_hash,
    outcome: "absent",
    fetchedAt: row.fetched_at.toISOString(),
    reason: row.reason ?? undefined,
  }));
}

/**
 * What became of the detail requests: the ledger rows of live parents, in the same transaction as the details' rows.
 * 404s that are believed mark the detail's rows deleted. Returns how many were marked.
 */
export async function publishOutcomes(work: Work, absence: Absent): Promise<number> {
  const { trx, destination, publication } = work;
  const { company, stream, tables, stage } = publication;
  const parent = publication.parent as Kin;
  const details = sql.id(destination.stateSchema, "details");
  const outcomes = sql`(select * from (
      select o.*, row_number() over (partition by o.parent_key order by o._seq desc) as nth from ${stage.outcomes()} o) n
    where nth = 1${absence === "kept back" ? sql` and outcome <> 'absent'` : sql``} and exists (select 1 from ${ledgerRef(destination, parent.tables.main)} p
      where p._company = ${company} and p.deleted_at is null and ${parentKey("p", parent)} = n.parent_key))`;
  const outcome =
    absence === "doubted" ? sql`case when o.outcome = 'absent' then 'failed' else o.outcome end` : sql`o.outcome`;
  // Failures back off: ten minutes, doubled each time, a day at most.
  const attempts = sql`(case when ${outcome} = 'failed' then coalesce(d.attempts, 0) + 1 else 0 end)`;
  const fresh = sql.id(work.names.changed.replace("changed", "outcome"));
  await sql`drop table if exists ${fresh}`.execute(trx);
  await sql`create temporary table ${fresh} as
    select o.parent_key, o.parent_hash, o.fetched_at, ${outcome} as outcome, ${attempts} as attempts,
      case when ${outcome} = 'failed' then o.fetched_at + interval '1 minute' * cast(least(1440, 5 * power(2, least(${attempts}, 12))) as integer)
        end as next_try
    from ${outcomes} o left join ${details} d on d.company = ${company} and d.stream = ${stream} and d.parent_key = o.parent_key`.execute(
    trx,
  );
  await sql`delete from ${details} d using ${fresh} o
    where d.company = ${company} and d.stream = ${stream} and d.parent_key = o.parent_key`.execute(trx);
  await sql`insert into ${details} (company, stream, parent_key, parent_hash, fetched_at, outcome, attempts, next_try)
    select ${company}, ${stream}, parent_key, parent_hash, fetched_at, outcome, attempts, next_try from ${fresh}`.execute(
    trx,
  );
  const absent = sql`(select * from ${fresh} where outcome = 'absent')`;
  const match = sql`t._company = ${company} and cast(${sql.id("t", parent.on[0]![0])} as varchar) = g.parent_key`;
  const marked = await sql<{
    n: number;
  }>`select count(*) as n from ${ledgerRef(destination, tables.main)} t, ${absent} g
    where ${match} and t.deleted_at is null`.execute(trx);
  const count = Number(marked.rows[0]?.n ?? 0);
  if (count > 0) await markDeleted(work, tables, absent, match);
  await sql`drop table ${fresh}`.execute(trx);
  return count;
}
