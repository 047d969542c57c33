import { sql } from "kysely";
import type { Outcome } from "../encoder.ts";
import type { Publication } from "./comparison.ts";
import { deleteRows } from "./deletion.ts";
import type { Destination, Stage } from "./destination.ts";
import { columnList, equal, type Fragment, ledgerRef } from "./fragments.ts";
import type { Parents } from "./parents.ts";
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

/** Of the details of a stage that answered 404 those that have live rows, and of how many parents there are such rows at all. */
export async function absentWithRows(
  destination: Destination,
  { company, tables, stage }: Pick<Publication, "company" | "tables" | "stage">,
): Promise<{ readonly absent: number; readonly all: number }> {
  const own = sql`cast(${sql.id("t", tables.main.key[0]!)} as varchar)`;
  const { rows } = await sql<{ absent: number; all: number }>`select count(*) as "all", count(o.parent_key) as absent
    from (select distinct ${own} as parent_key from ${ledgerRef(destination, tables.main)} t
      where t._company = ${company} and t.deleted_at is null) l
    left join (select distinct parent_key from ${stage.outcomes()} x where outcome = 'absent') o
      on o.parent_key = l.parent_key`.execute(destination.db);
  return { absent: Number(rows[0]?.absent ?? 0), all: Number(rows[0]?.all ?? 0) };
}

/**
 * What became of the detail requests: the ledger rows of live parents, in the same transaction as the details' rows.
 * Deleted are the rows of 404s that are believed, those that a parent's answer no longer has, and those of values that no row
 * carries any more. Returns how many.
 */
export async function publishOutcomes(work: Work, parents: Parents, absence: Absent): Promise<number> {
  const { trx, destination, publication, names } = work;
  const { company, stream, tables, stage } = publication;
  const details = sql.id(destination.stateSchema, "details");
  const outcomes = sql`(select * from (
      select o.*, row_number() over (partition by o.parent_key order by o._seq desc) as nth from ${stage.outcomes()} o) n
    where nth = 1${absence === "kept back" ? sql` and outcome <> 'absent'` : sql``} and ${isLive(work, parents, sql`n.parent_key`)})`;
  const outcome =
    absence === "doubted" ? sql`case when o.outcome = 'absent' then 'failed' else o.outcome end` : sql`o.outcome`;
  // Failures back off: ten minutes, doubled each time, a day at most.
  const attempts = sql`(case when ${outcome} = 'failed' then coalesce(d.attempts, 0) + 1 else 0 end)`;
  const fresh = sql.id(names.changed.replace("changed", "outcome"));
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
  const own = sql`cast(${sql.id("t", tables.main.key[0]!)} as varchar)`;
  const leaving: Fragment[] = [];
  const absent = await sql`select 1 as one from ${fresh} where outcome = 'absent' limit 1`.execute(trx);
  if (absent.rows.length > 0)
    leaving.push(sql`exists (select 1 from ${fresh} o where o.outcome = 'absent' and o.parent_key = ${own})`);
  if (publication.many === true) {
    leaving.push(sql`exists (select 1 from ${sql.id(names.answers)} a join ${fresh} o on o.parent_key = a.parent_key
        where a.whole and o.outcome = 'ok' and a.parent_key = ${own})
      and not exists (select 1 from ${sql.id(names.staged)} s where ${equal("s", "t", tables.main.key)})`);
  }
  if (parents.kind === "values" && publication.settled === true) {
    leaving.push(sql`not ${isLive(work, parents, own)}`);
    await sql`delete from ${details} where company = ${company} and stream = ${stream}
      and parent_key not in (select p.parent_key from ${sql.id(names.parents)} p)`.execute(trx);
  }
  const deleted = leaving.length === 0 ? 0 : await deleteThose(work, leaving);
  await sql`drop table ${fresh}`.execute(trx);
  return deleted;
}

/** Whether a parent is among the live ones. */
function isLive({ destination, publication, names }: Work, parents: Parents, key: Fragment): Fragment {
  if (parents.kind === "values")
    return sql`exists (select 1 from ${sql.id(names.parents)} p where p.parent_key = ${key})`;
  return sql`exists (select 1 from ${ledgerRef(destination, parents.tables.main)} p
    where p._company = ${publication.company} and p.deleted_at is null and ${parentKey("p", parents)} = ${key})`;
}

/** Deletes the live rows `t` of the ledger for which one of the conditions holds. */
async function deleteThose(work: Work, conditions: readonly Fragment[]): Promise<number> {
  const { trx, destination, publication, names } = work;
  const { company, tables } = publication;
  const leaving = sql.id(names.changed.replace("changed", "leaving"));
  await sql`drop table if exists ${leaving}`.execute(trx);
  const each = conditions.map(
    condition => sql`select ${columnList(tables.main.key, "t")} from ${ledgerRef(destination, tables.main)} t
      where t._company = ${company} and t.deleted_at is null and ${condition}`,
  );
  await sql`create temporary table ${leaving} as ${sql.join(each, sql` union `)}`.execute(trx);
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${leaving}`.execute(trx);
  const count = Number(rows[0]?.n ?? 0);
  if (count > 0) await deleteRows(work, leaving);
  await sql`drop table ${leaving}`.execute(trx);
  return count;
}
