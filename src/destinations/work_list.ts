import { sql, type Transaction } from "kysely";
import type { Kin } from "./comparison.ts";
import type { Destination, Stage } from "./destination.ts";
import { type Fragment, ledgerRef, tableRef, temporaryName } from "./fragments.ts";
import type { StateTables } from "./state_tables.ts";
import { parentKey } from "./work.ts";

/** Why a detail is fetched: its parent is new or changed, it failed before, it is due, its turn in the audit has come, or all are asked for. */
export type Reason = "new" | "changed" | "retry" | "refresh" | "audit" | "forced";

/** One detail to fetch. `params`: the path's parameters by the parent's column. */
export interface WorkItem {
  readonly parentKey: string;
  readonly parentHash: string;
  readonly params: Readonly<Record<string, string>>;
  readonly reason: Reason;
}

export interface WorkRequest {
  readonly company: string;
  readonly stream: string;
  readonly parent: Kin;
  readonly stage: Stage;
  /** Parent columns that the path needs. */
  readonly columns: readonly string[];
  /** Parent's flag column: these first, and three of four audits. */
  readonly open: string | undefined;
  /** Parent's date or moment column: newest first; nothing before `start`, nothing from `to` on (YYYY-MM-DD). Parents without a date have no end: they are due unless there is a `to`. */
  readonly newest: string | undefined;
  readonly start: string | undefined;
  readonly to?: string | undefined;
  /** Share of the unchanged parents to look at again. */
  readonly audit: number;
  readonly refresh: { readonly while: string; readonly everyMs: number } | undefined;
  /** All live parents, whatever the ledger says. */
  readonly force: boolean;
  readonly limit: number | undefined;
  readonly now: string;
}

/** The details to fetch, in order. A query over ledgers: it survives crashes and heals itself. */
export interface WorkList {
  readonly total: number;
  readonly reasons: Readonly<Partial<Record<Reason, number>>>;
  /** The next items, at most `count`; empty at the end. */
  next(count: number): Promise<WorkItem[]>;
  close(): Promise<void>;
}

export async function openWorkList(destination: Destination, request: WorkRequest): Promise<WorkList> {
  const { db } = destination;
  const name = sql.id(temporaryName("work", request.company, request.stream));
  const candidates = sql.id(temporaryName("due", request.company, request.stream));
  const list = async (trx: Transaction<StateTables>) => {
    await sql`drop table if exists ${name}`.execute(trx);
    await sql`drop table if exists ${candidates}`.execute(trx);
    await sql`create temporary table ${candidates} as ${candidateQuery(destination, request, request.stage)}`.execute(
      trx,
    );
    const unchanged = await sql<{ n: number }>`select count(*) as n from ${candidates} where reason = 'audit'`.execute(
      trx,
    );
    const audited = Math.ceil(request.audit * Number(unchanged.rows[0]?.n ?? 0));
    const limit = request.limit === undefined ? sql`` : sql` limit ${sql.lit(request.limit)}`;
    // Of the audit's turns three of four go to rows that can still change: their n-th counts as a third of a turn.
    await sql`
      create temporary table ${name} as
      select row_number() over (order by q.audit, q.open desc, q.newest desc nulls last, q.parent_key) as nth, q.* from (
        select c.*, c.reason = 'audit' as audit, row_number() over (
            partition by c.reason = 'audit' order by case when c.open then c.turn / 3.0 else c.turn end, c.parent_key) as place
        from (select d.*, row_number() over (partition by d.reason = 'audit', d.open order by d.fetched_at, d.parent_key) as turn
          from ${candidates} d) c
      ) q where not q.audit or q.place <= ${sql.lit(audited)} order by nth ${limit}`.execute(trx);
    await sql`drop table ${candidates}`.execute(trx);
  };
  await destination.withRoom("compare", () => db.transaction().execute(list));
  const counted = await sql<{
    reason: Reason;
    n: number;
  }>`select reason, count(*) as n from ${name} group by reason`.execute(db);
  const reasons = Object.fromEntries(counted.rows.map(row => [row.reason, Number(row.n)]));
  let position = 0;
  return {
    total: counted.rows.reduce((sum, row) => sum + Number(row.n), 0),
    reasons,
    async next(count) {
      const from = position;
      position += count;
      const { rows } = await sql<Record<string, unknown>>`select * from ${name} where nth > ${sql.lit(from)}
        and nth <= ${sql.lit(position)} order by nth`.execute(db);
      return rows.map(row => ({
        parentKey: String(row["parent_key"]),
        parentHash: String(row["parent_hash"]),
        params: Object.fromEntries(request.columns.map(column => [column, String(row[`p_${column}`])])),
        reason: row["reason"] as Reason,
      }));
    },
    async close() {
      await sql`drop table if exists ${name}`.execute(db);
    },
  };
}

/** How many details are due by reason, counted without writing anything; parents that a run under way has asked for count too. */
export async function countWork(
  reading: Pick<Destination, "db" | "schema" | "stateSchema">,
  request: Omit<WorkRequest, "stage">,
): Promise<Readonly<Partial<Record<Reason, number>>>> {
  const { rows } = await sql<{ reason: Reason; n: number }>`
    select reason, count(*) as n from (${candidateQuery(reading, request, undefined)}) due group by reason`.execute(
    reading.db,
  );
  const counts = Object.fromEntries(rows.map(row => [row.reason, Number(row.n)]));
  return { ...counts, audit: Math.ceil(request.audit * (counts["audit"] ?? 0)) };
}

function candidateQuery(
  destination: Pick<Destination, "schema" | "stateSchema">,
  request: Omit<WorkRequest, "stage">,
  stage: Stage | undefined,
): Fragment {
  const { company, stream, parent, now } = request;
  const main = parent.tables.main;
  const moment = sql`cast(${now} as timestamptz)`;
  const open = request.open === undefined ? sql`false` : sql`coalesce(${sql.id("m", request.open)}, false)`;
  const newest = request.newest === undefined ? sql`cast(null as date)` : sql.id("m", request.newest);
  const inRange =
    request.start === undefined || request.newest === undefined
      ? sql``
      : sql` and (${newest} is null or ${newest} >= cast(${request.start} as date))`;
  const before =
    request.to === undefined || request.newest === undefined
      ? sql``
      : sql` and ${newest} < cast(${request.to} as date)`;
  const due =
    request.refresh === undefined
      ? sql`false`
      : sql`(${sql.id("m", request.refresh.while)} and d.fetched_at < cast(${agoIso(now, request.refresh.everyMs)} as timestamptz))`;
  const reason = request.force
    ? sql`'forced'`
    : sql`case when d.parent_key is null then 'new'
        when d.outcome = 'failed' then case when d.next_try <= ${moment} then 'retry' else 'waiting' end
        when d.parent_hash <> p.hash then 'changed'
        when ${due} then 'refresh' else 'audit' end`;
  const columns = request.columns.map(
    column => sql`, cast(${sql.id("m", column)} as varchar) as ${sql.id(`p_${column}`)}`,
  );
  const asked =
    stage === undefined
      ? sql``
      : sql` and not exists (select 1 from ${stage.outcomes()} o
          where o.parent_key = ${parentKey("p", parent)} and o.parent_hash = p.hash)`;
  const keys = main.key.map(name => sql`${sql.id("m", name)} = ${sql.id("p", name)}`);
  return sql`select * from (
    select ${parentKey("p", parent)} as parent_key, cast(p.hash as varchar) as parent_hash, ${open} as open, ${newest} as newest,
      d.fetched_at, ${reason} as reason${sql.join(columns, sql``)}
    from ${ledgerRef(destination, main)} p
    join ${tableRef(destination, main)} m on m._company = p._company and ${sql.join(keys, sql` and `)}
    left join ${sql.id(destination.stateSchema, "details")} d
      on d.company = ${company} and d.stream = ${stream} and d.parent_key = ${parentKey("p", parent)}
    where p._company = ${company} and p.deleted_at is null${inRange}${before}${asked}
    ) candidates where reason <> 'waiting'`;
}

function agoIso(now: string, milliseconds: number): string {
  return new Date(Date.parse(now) - milliseconds).toISOString();
}
