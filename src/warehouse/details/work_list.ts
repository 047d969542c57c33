import { sql } from "kysely";
import type { Db, Fragment, Trx } from "../database.ts";
import type { Looked } from "../ddl/present_tables.ts";
import type { Destination, Stage } from "../destination.ts";
import { countOf, dropTables, temporaryName } from "../sql_fragments.ts";
import type { Promised } from "./freshness.ts";
import { liveParents, type Parents, parentRows, presentParents } from "./parents.ts";
import { divide, isActive, planNight } from "./planner.ts";
import { noteLooks } from "./samples.ts";

/** Why a detail is fetched: its parent is new or changed, it failed before, it was read with other formats, it was absent or lacked lines (recheck), it is due, a related row changed, its turn in the audit has come, or all are asked for. */
export type Reason = "new" | "changed" | "retry" | "formats" | "recheck" | "refresh" | "caused" | "audit" | "forced";

/** So many details that a cause made due and that were as before, since one had changed: it is said, and other causes go first. */
export const IN_VAIN = 500;

/** How many details of unchanged parents a run looks at: of those that a related row's change made due, and of the others. */
function budgetOf(
  { audit: share, room }: Pick<WorkRequest, "audit" | "room">,
  { caused = 0, audit = 0, ...due }: Readonly<Partial<Record<Reason, number>>>,
) {
  const first = Object.values(due).reduce((sum, count) => sum + count, 0);
  const budget =
    room === undefined ? Math.ceil(share * (caused + audit)) : Math.min(Math.max(0, room - first), caused + audit);
  if (budget === 0) return { budget: 0, caused: 0, audit: 0 };
  const { caused: served, sample, oldest, index } = divide(budget, caused);
  return { budget, caused: served, audit: Math.min(audit, sample + oldest + index) };
}

/** One detail to fetch. `params`: the path's parameters by the parent's column. */
export interface WorkItem {
  readonly parentKey: string;
  readonly parentHash: string;
  readonly params: Readonly<Record<string, string>>;
  readonly reason: Reason;
}

/** Which details of a stream are asked for: of which parents, by which column dated and in what range, and what makes one due. */
export interface WorkRequest {
  readonly company: string;
  readonly stream: string;
  readonly parents: Parents;
  /** Parent columns that the path needs. */
  readonly columns: readonly string[];
  /** Parent's flag column: these first; a look at them counts twice. */
  readonly open: string | undefined;
  /** Parent's date or moment column: newest first; nothing before `start`, nothing from `to` on (YYYY-MM-DD). Parents without a date have no end: they are due unless there is a `to`. */
  readonly newest: string | undefined;
  readonly start: string | undefined;
  readonly to?: string | undefined;
  /** Share of the unchanged parents to look at again. */
  readonly audit: number;
  /** Requests that the details may take: what is due comes first, and all that is left of it goes to unchanged ones instead of a share. */
  readonly room?: number | undefined;
  readonly fresh: Promised;
  /** Older details of open parents, or of all where no column says which are open, are due, whatever became of these; those of values that go by age alone by nothing else. */
  readonly everyMs?: number | undefined;
  /** All live parents, whatever the detail state says. */
  readonly force: boolean;
  /** Only parents with these keys, also those that a broken-off run has asked for a moment ago. */
  readonly only?: readonly string[] | undefined;
  /** Those that were fetched are due as the detail state does not say yet: the next run reads with other formats. */
  readonly otherFormats?: boolean;
  /** The most that a run asks for: what was never fetched first, then what was fetched longest ago. */
  readonly limit: number | undefined;
  readonly now: string;
}

/** The details to fetch or refetch, in order. A query over row state and detail state (the states): it survives crashes and heals itself. */
export interface WorkList extends AsyncDisposable {
  readonly total: number;
  readonly reasons: Readonly<Partial<Record<Reason, number>>>;
  /** The temporary table that it is, with `parent_key` and `reason`; undefined: it is none. */
  readonly table: Fragment | undefined;
  /** Due as well, but beyond the limit; of these the ones that failed before. */
  readonly left: number;
  readonly leftFailed: number;
  /** The next items, at most `count`; empty at the end. */
  next(count: number): Promise<WorkItem[]>;
  /** Notes what looks at unchanged parents found: called once answers are published. */
  noteLooks?(): Promise<void>;
}

export async function openWorkList(
  destination: Destination,
  request: WorkRequest & { readonly stage: Stage },
): Promise<WorkList> {
  const { db } = destination;
  const parents = await presentParents(destination, request.parents);
  const query = candidateQuery(destination, { ...request, parents }, request.stage);
  const name = sql.id(temporaryName("work", request.company, request.stream));
  const candidates = sql.id(temporaryName("due", request.company, request.stream));
  const list = async (trx: Trx) => {
    await dropTables(trx, [name]);
    await sql`create temporary table ${candidates} as ${query}`.execute(trx);
    const { counts, active } = await countByReason(trx, sql`${candidates} c`, isActive(request.now));
    const unchanged = (counts.caused ?? 0) + (counts.audit ?? 0);
    const { budget } = budgetOf(request, counts);
    const { company, stream, now } = request;
    const night = { company, stream, candidates, budget, now, seed: `${stream} ${now}` };
    const plan = budget === 0 ? undefined : await planNight(trx, destination, night);
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const most = request.limit;
    const limit = most === undefined ? sql`` : sql` limit ${sql.lit(most)}`;
    const oldest = request.limit === undefined ? sql`` : sql` q.fetched_at nulls first,`;
    const [rank, join, chosen] =
      plan === undefined
        ? [sql`cast(null as bigint)`, sql``, sql``]
        : [
            sql`t.rank`,
            sql` left join ${plan.table} t on t.parent_key = d.parent_key`,
            sql` or t.parent_key is not null`,
          ];
    await sql`
      create temporary table ${name} as
      select row_number() over (order by q.rank nulls first,${oldest} q.open desc, q.newest desc nulls last, q.parent_key) as nth, q.*
      from (select d.*, ${rank} as rank from ${candidates} d${join}
        where d.reason not in ('caused', 'audit')${chosen}) q order by nth ${limit}`.execute(trx);
    await sql`drop table ${candidates}`.execute(trx);
    return { plan, live: all, activeLive: active, due: all - unchanged, retry: counts.retry ?? 0 };
  };
  const { plan, live, activeLive, due, retry } = await destination.withRoom("compare", () =>
    db.transaction().execute(list),
  );
  const slice = async (from: number, to: number) => {
    const { rows } = await sql<Record<string, unknown>>`select * from ${name} where nth > ${sql.lit(from)}
      and nth <= ${sql.lit(to)} order by nth`.execute(db);
    return rows.map(row => workItem(row, request.columns, row["reason"] as Reason));
  };
  const first = await slice(0, FEW);
  const isAll = first.length < FEW;
  const reasons = isAll ? reasonsOf(first) : (await countByReason(db, name)).counts;
  const total = Object.values(reasons).reduce((sum, count) => sum + count, 0);
  let position = 0;
  return {
    total,
    reasons,
    table: name,
    left: Math.max(0, due - (total - (reasons.audit ?? 0) - (reasons.caused ?? 0))),
    leftFailed: Math.max(0, retry - (reasons["retry"] ?? 0)),
    async next(count) {
      const from = position;
      position += count;
      return isAll ? first.slice(from, position) : slice(from, position);
    },
    async noteLooks() {
      if (plan === undefined) return;
      const { company, stream, now, fresh } = request;
      await noteLooks(destination, plan, name, { company, stream, live, activeLive, now }, fresh);
    },
    async [Symbol.asyncDispose]() {
      // A session that is gone has taken them with it; what it was lost by is the error to tell.
      await dropTables(db, plan === undefined ? [name] : [name, plan.table]).catch(() => undefined);
    },
  };
}

/** A line of `parentRows`, and why its detail is fetched. */
export const workItem = (
  row: Readonly<Record<string, unknown>>,
  columns: readonly string[],
  reason: Reason,
): WorkItem => ({
  parentKey: String(row["parent_key"]),
  parentHash: String(row["parent_hash"]),
  params: Object.fromEntries(columns.map(column => [column, String(row[`p_${column}`])])),
  reason,
});

/** How many details are due by reason, counted without writing anything; without a stage parents that a run under way has asked for count too. */
export async function countWork(
  reading: Looked,
  request: WorkRequest & { readonly stage?: Stage },
): Promise<Readonly<Partial<Record<Reason, number>>>> {
  const { stage, ...asked } = request;
  const { counts } = await countByReason(reading.db, sql`${await candidatesOf(reading, asked, stage)} due`);
  const { caused, audit } = budgetOf(request, counts);
  return { ...counts, ...(counts.caused === undefined ? {} : { caused }), audit };
}

/** Details that are due, and those of unchanged parents, as a FROM item: written nowhere. */
export async function candidatesOf(reading: Looked, request: WorkRequest, stage?: Stage): Promise<Fragment> {
  const parents = await presentParents(reading, request.parents);
  return sql`(${candidateQuery(reading, { ...request, parents }, stage)})`;
}

/** Details that failed before and wait for their next try: how many, when the first may be tried, and why one failed. */
export interface Waiting {
  readonly waiting: number;
  readonly next: Date | undefined;
  readonly reason: string | undefined;
  /** Details of which it is known how they ended. */
  readonly known: number;
  /** Those of them that answered 404. */
  readonly absent: number;
}

/** Of parents in the range, where there is one. */
export async function countWaiting(reading: Looked, request: WorkRequest): Promise<Waiting> {
  const { db, stateSchema } = reading;
  const { company, stream, now, newest, start, to } = request;
  const parents = await presentParents(reading, request.parents);
  const columns = { open: undefined, newest, params: [] };
  const ranged =
    newest === undefined || (start === undefined && to === undefined)
      ? sql``
      : sql` and d.parent_key in (select p.parent_key from ${parentRows(reading, company, parents, columns)} p
          where true${rangeOf(request)})`;
  const isWaiting = sql`outcome = 'failed' and next_try > ${now}`;
  const { rows } = await sql<{
    known: number;
    waiting: number;
    absent: number;
    next: Date | null;
    reason: string | null;
  }>`
    select count(*) as known, count(*) filter (where outcome = 'absent') as absent,
      count(*) filter (where ${isWaiting}) as waiting, min(next_try) filter (where ${isWaiting}) as next,
      min(reason) filter (where ${isWaiting}) as reason
    from ${sql.id(stateSchema, "details")} d where company = ${company} and stream = ${stream}${ranged}`.execute(db);
  const { next, reason, ...counts } = rows[0]!;
  return { ...counts, next: next ?? undefined, reason: reason ?? undefined };
}

/** How many details of live parents answered 404 when a run last requested them. */
export const countAbsent = ({ db, stateSchema }: Looked, company: string, stream: string): Promise<number> =>
  countOf(
    db,
    sql`${sql.id(stateSchema, "details")} where company = ${company} and stream = ${stream} and outcome = 'absent'`,
  );

/** Of a list that is no longer the first look at it brings all. */
const FEW = 1_000;

const reasonsOf = (items: readonly WorkItem[]): WorkList["reasons"] =>
  Object.fromEntries(
    Map.groupBy(items, ({ reason }) => reason)
      .entries()
      .map(([reason, { length }]) => [reason, length]),
  );

/** By reason, and of how many a condition holds. */
async function countByReason(db: Db, from: Fragment, condition = sql`true`) {
  const { rows } = await sql<{ reason: Reason; n: number; active: number }>`
    select reason, count(*) as n, count(case when ${condition} then 1 end) as active from ${from} group by reason`.execute(
    db,
  );
  return {
    counts: Object.fromEntries(rows.map(({ reason, n }) => [reason, n])) as WorkList["reasons"],
    active: rows.reduce((sum, row) => sum + row.active, 0),
  };
}

function rangeOf({ newest, start, to }: Pick<WorkRequest, "newest" | "start" | "to">): Fragment {
  if (newest === undefined) return sql``;
  const from = start === undefined ? sql`` : sql` and (p.newest is null or p.newest >= cast(${start} as date))`;
  return sql`${from}${to === undefined ? sql`` : sql` and p.newest < cast(${to} as date)`}`;
}

/** An order for all details takes what a broken-off run left for asked when it is no older than this. */
const RECENT_MS = 6 * 3_600_000;

function candidateQuery(
  place: Pick<Destination, "schema" | "stateSchema" | "dialect">,
  request: WorkRequest,
  stage: Stage | undefined,
): Fragment {
  const { company, stream, parents, now, columns, open, newest, everyMs, only } = request;
  const aged = parents.kind === "values" && parents.aged;
  const live = parentRows(place, company, parents, {
    open,
    newest,
    params: columns,
  });
  const ago = (ms: number) => sql`cast(${agoIso(now, ms)} as timestamptz)`;
  const olderThan = (ms: number) => sql`d.fetched_at < ${ago(ms)}`;
  const isOpen = open === undefined ? sql`` : sql` and p.open`;
  const refreshed = everyMs === undefined ? sql`false` : sql`(${olderThan(everyMs)}${isOpen})`;
  const changed = aged ? sql`` : sql` when d.parent_hash <> p.parent_hash then 'changed'`;
  const otherwise = aged ? sql`'waiting'` : sql`'audit'`;
  const reason = request.force
    ? sql`'forced'`
    : sql`case when d.parent_key is null then 'new'
        when d.outcome = 'failed' then case when d.next_try <= ${ago(0)} then 'retry' else 'waiting' end
        when ${request.otherFormats === true ? sql`d.outcome = 'ok'` : sql`d.parent_hash is null`} then 'formats'${changed}
        when d.next_try <= ${ago(0)} then 'recheck'
        when ${refreshed} then 'refresh' when u.parent_key is not null then 'caused' else ${otherwise} end`;
  const recent = request.force ? sql` and o.fetched_at >= ${ago(RECENT_MS)}` : sql``;
  const asked =
    stage === undefined || only !== undefined
      ? sql``
      : sql` and not exists (select 1 from ${stage.outcomes()} o
          where o.parent_key = p.parent_key and o.parent_hash = p.parent_hash${recent})`;
  const params = columns.map(column => sql`, ${sql.id("p", `p_${column}`)}`);
  return sql`select * from (
    select p.parent_key, cast(p.parent_hash as varchar) as parent_hash, p.open, p.newest, d.fetched_at, d.changed_at, u.since, u.idle,
      ${reason} as reason${sql.join(params, sql``)}
    from ${live} p
    left join ${sql.id(place.stateSchema, "details")} d
      on d.company = ${company} and d.stream = ${stream} and d.parent_key = p.parent_key
    left join ${dueBy(place, request)} u on u.parent_key = p.parent_key
    where true${only === undefined ? sql`` : sql` and ${isAmong(only)}`}${rangeOf(request)}${asked}
    ) candidates where reason <> 'waiting'`;
}

/** What changes of related rows made due, since when, and whether only by causes that find nothing. */
function dueBy(
  { stateSchema }: Pick<Destination, "stateSchema">,
  { company, stream }: Pick<WorkRequest, "company" | "stream">,
): Fragment {
  return sql`(select x.parent_key, min(x.since) as since,
      min(case when coalesce(n.in_vain, 0) < ${sql.lit(IN_VAIN)} then 0 else 1 end) as idle
    from ${sql.id(stateSchema, "detail_due")} x
    left join ${sql.id(stateSchema, "detail_causes")} n
      on n.company = x.company and n.stream = x.stream and n.cause = x.cause
    where x.company = ${company} and x.stream = ${stream} group by x.parent_key)`;
}

const isAmong = (keys: readonly string[]): Fragment => sql`p.parent_key in (${sql.join(keys.map(key => sql`${key}`))})`;

export async function keysOfLive(
  place: Looked,
  company: string,
  parents: Parents,
  keys: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ parent_key: string }>`select p.parent_key from ${liveParents(place, company, parents)} p
    where ${isAmong(keys)}`.execute(place.db);
  return rows.map(row => row.parent_key);
}

function agoIso(now: string, milliseconds: number): string {
  return new Date(Date.parse(now) - milliseconds).toISOString();
}
