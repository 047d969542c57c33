import { sql } from "kysely";
import type { Db, Fragment } from "../database.ts";
import { IN_VAIN } from "../details/work_list.ts";
import { equal, rowStateRef, tableRef, timestampOf } from "../sql_fragments.ts";
import { putRow, rowWith } from "../state_rows.ts";
import type { LoadCause, Publishing } from "./load_target.ts";

/**
 * Notes what is due as rows change: called before rows are replaced, for what they named until then, and after it, for what they
 * name now, or when they go. Only details that were fetched before: others are due anyhow. Of two changes the earlier one stays.
 */
export async function noteDue(publishing: Publishing, rows: Fragment): Promise<void> {
  const { trx, destination, target } = publishing;
  const due = sql.id(destination.stateSchema, "detail_due");
  const details = sql.id(destination.stateSchema, "details");
  for (const cause of target.causes ?? []) {
    const streams = sql.join(cause.details);
    await sql`insert into ${due} (company, stream, parent_key, cause, since)
      select d.company, d.stream, d.parent_key, ${target.stream}, ${timestampOf(publishing)}
      from (${namedBy(publishing, cause, rows)}) n
      join ${details} d on d.company = ${target.company} and d.stream in (${streams}) and d.parent_key = n.parent_key
      where not exists (select 1 from ${due} x where x.company = d.company and x.stream = d.stream
        and x.parent_key = d.parent_key and x.cause = ${target.stream})`.execute(trx);
  }
}

/** The keys of the parents that rows tell by what stands in their table at this moment. */
function namedBy({ destination, target }: Publishing, cause: LoadCause, rows: Fragment): Fragment {
  const { company, tables } = target;
  const { column, parents, parentColumn } = cause;
  const value = sql`cast(${sql.id("t", column)} as varchar)`;
  const told = sql`select distinct ${value} as parent_key from ${rows} c
    join ${tableRef(destination, tables.main)} t on t._company = ${company} and ${equal("t", "c", tables.main.key)}
    where ${sql.id("t", column)} is not null`;
  if (parentColumn === undefined) return told;
  const key = sql`cast(${sql.id("m", parents.main.key[0]!)} as varchar)`;
  return sql`select distinct ${key} as parent_key from ${tableRef(destination, parents.main)} m
    join ${rowStateRef(destination, parents.main)} p on p._company = m._company and ${equal("p", "m", parents.main.key)}
    where m._company = ${company} and p.deleted_at is null
      and cast(${sql.id("m", parentColumn)} as varchar) in (select parent_key from (${told}) v)`;
}

/** What answers settle: a detail that was asked for after a change is due for it no longer. Counts for each cause whether it had changed. */
export async function settleDue(publishing: Publishing, fresh: Fragment): Promise<void> {
  const { trx, destination, target, timestamp } = publishing;
  const { company, stream } = target;
  const due = sql.id(destination.stateSchema, "detail_due");
  const settled = sql`u.company = ${company} and u.stream = ${stream} and u.parent_key = o.parent_key and o.outcome <> 'failed'
    and u.since <= o.fetched_at`;
  const { rows } = await sql<{ cause: string; found: number; unchanged: number }>`
    select u.cause, count(case when o.why = 'caused' and o.found then 1 end) as found,
      count(case when o.why = 'caused' and o.found is not true then 1 end) as unchanged
    from ${due} u join ${fresh} o on ${settled} group by u.cause order by u.cause`.execute(trx);
  if (rows.length === 0) return;
  for (const { cause, found, unchanged } of rows.filter(row => row.found + row.unchanged > 0)) {
    const same = { company, stream, cause };
    const known = await rowWith(trx, "detail_causes", same);
    const next = {
      found: (known?.found ?? 0) + found,
      unchanged: (known?.unchanged ?? 0) + unchanged,
      in_vain: found > 0 ? 0 : (known?.in_vain ?? 0) + unchanged,
      updated_at: timestamp,
    };
    await putRow(trx, "detail_causes", { ...same, ...next });
  }
  await sql`delete from ${due} u using ${fresh} o where ${settled}`.execute(trx);
}

export async function idleCauses(
  db: Db,
  company: string,
  stream: string,
): Promise<readonly { readonly cause: string; readonly in_vain: number }[]> {
  return db
    .selectFrom("detail_causes")
    .select(["cause", "in_vain"])
    .where(({ and }) => and({ company, stream }))
    .where("in_vain", ">=", IN_VAIN)
    .orderBy("cause")
    .execute();
}
