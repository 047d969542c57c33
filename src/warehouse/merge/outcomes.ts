import { sql } from "kysely";
import type { Outcome } from "../../rows/batch.ts";
import type { Fragment } from "../database.ts";
import type { Destination, Stage } from "../destination.ts";
import { type Parents, parentKey, type ValueSource } from "../details/parents.ts";
import { columnList, countOf, equal, rowStateRef, tableRef } from "../sql_fragments.ts";
import { lastOutcomes, withhold } from "./answers.ts";
import { settleDue } from "./causes.ts";
import { deleteRows } from "./deletion.ts";
import { type DetailGuard, mayLeave } from "./deletion_limits.ts";
import { type JudgedLines, rowsKeeping } from "./lines.ts";
import type { Diff, LoadTarget, Publishing } from "./load_target.ts";

/** What a publish makes of 404s: they mark rows deleted, count as failures because there are too many, or wait for the next publish. */
export type Absent = "believed" | "doubted" | "kept back";

/** The details of a stage that answered 404 when they were last asked for. */
export async function stagedAbsent(destination: Destination, stage: Stage): Promise<Outcome[]> {
  const { rows } = await sql<{ parent_key: string; parent_hash: string; fetched_at: Date; reason: string | null }>`
    select parent_key, cast(parent_hash as varchar) as parent_hash, fetched_at, reason from ${lastOutcomes(stage)} o
    where outcome = 'absent'`.execute(destination.db);
  return rows.map(row => ({
    parentKey: row.parent_key,
    parentHash: row.parent_hash,
    outcome: "absent",
    fetchedAt: row.fetched_at.toISOString(),
    reason: row.reason ?? undefined,
  }));
}

export const stagedAnswers = ({ db }: Destination, stage: Stage): Promise<number> =>
  countOf(db, sql`${lastOutcomes(stage)} o`);

/** Of the details of a stage that answered 404 those that have live rows, and of how many parents there are such rows at all. */
export async function absentWithRows(
  destination: Destination,
  { company, tables, stage }: Pick<LoadTarget, "company" | "tables" | "stage">,
): Promise<{ readonly absent: number; readonly all: number }> {
  const own = sql`cast(${sql.id("t", tables.main.key[0]!)} as varchar)`;
  const { rows } = await sql<{ absent: number; all: number }>`select count(*) as "all", count(o.parent_key) as absent
    from (select distinct ${own} as parent_key from ${rowStateRef(destination, tables.main)} t
      where t._company = ${company} and t.deleted_at is null) l
    left join (select parent_key from ${lastOutcomes(stage)} x where outcome = 'absent') o
      on o.parent_key = l.parent_key`.execute(destination.db);
  return rows[0]!;
}

/** What answers and values made a publish of details delete. */
export interface Parted {
  readonly deleted: number;
  readonly blocked: { readonly leaving: number; readonly live: number } | undefined;
}

/** What a publish of details still has to write when the rows of before have gone. */
export interface Judged extends Parted {
  /** Without the answers that are held back. */
  readonly diff: Diff;
  readonly outcomes: Fragment;
}

/** Hours from an answer to the next night, whenever in the night the run comes to it. */
const HALF_A_DAY = 12;

const nextNight = sql`o.fetched_at + interval '1 hour' * ${sql.lit(HALF_A_DAY)}`;

/**
 * Before any row is written: which answers are published. Where so many are allowed, the rows that a parent's answer no
 * longer has and those of values that no row carries any more are deleted; else such answers are held back whole, their
 * rows leave the diff, and their parents are due again, so that the next run asks for them.
 */
export async function judgeAnswers(
  publishing: Publishing,
  parents: Parents,
  absence: Absent,
  guard: DetailGuard | undefined,
  diff: Diff,
): Promise<Judged> {
  const { trx, destination, target, names } = publishing;
  const { company, stream, stage } = target;
  const details = sql.id(destination.stateSchema, "details");
  const outcomes = sql`(select * from ${lastOutcomes(stage)} n
    where ${isLive(publishing, parents, sql`n.parent_key`)}${absence === "kept back" ? sql` and outcome <> 'absent'` : sql``})`;
  const outcome =
    absence === "doubted" ? sql`case when o.outcome = 'absent' then 'failed' else o.outcome end` : sql`o.outcome`;
  const attempts = sql`(case when ${outcome} = 'ok' then 0 when d.outcome = ${outcome} then coalesce(d.attempts, 0) + 1 else 1 end)`;
  const found = changedBy(publishing, sql`o.parent_key`);
  // The same answer lacks the same lines.
  const isAsBefore = sql`(d.outcome = 'ok' and d.next_try is not null and not ${found})`;
  const fresh = sql.id(names.changed.replace("changed", "outcome"));
  // Of answers that a killed run left the reason is not known.
  const [work, why] =
    target.work === undefined
      ? [sql``, sql`cast(null as varchar)`]
      : [sql` left join ${target.work} w on w.parent_key = o.parent_key`, sql`w.reason`];
  await sql`create temporary table ${fresh} as
    select o.parent_key, o.parent_hash, o.fetched_at, ${outcome} as outcome, ${attempts} as attempts, ${why} as why,
      d.fetched_at as previous_at, d.changed_at, ${found} as found,
      case when ${outcome} = 'ok' and ${isAsBefore} then d.reason else o.reason end as reason,
      case when ${outcome} = 'failed' then o.fetched_at + interval '1 minute' * cast(least(1440, 5 * power(2, least(${attempts}, 12))) as integer)
        when ${outcome} = 'absent' then o.fetched_at + interval '1 hour' * cast(24 * power(2, least(${attempts}, 7) - 1) - ${sql.lit(HALF_A_DAY)} as integer)
        when ${isAsBefore} then ${nextNight} end as next_try
    from ${outcomes} o left join ${details} d on d.company = ${company} and d.stream = ${stream} and d.parent_key = o.parent_key${work}`.execute(
    trx,
  );
  return { ...(await deleteUnanswered(publishing, parents, fresh, guard, diff)), outcomes: fresh };
}

/**
 * What became of the detail requests: the detail state rows of live parents, in the same transaction as the details' rows.
 * Says how many rows went with 404s that are believed.
 */
export async function publishOutcomes(
  publishing: Publishing,
  parents: Parents,
  { blocked, outcomes: fresh }: Judged,
): Promise<number> {
  const { trx, destination, target, names } = publishing;
  const { company, stream } = target;
  const details = sql.id(destination.stateSchema, "details");
  const gone = await deleteAbsent(publishing, fresh);
  await sql`delete from ${details} d using ${fresh} o
    where d.company = ${company} and d.stream = ${stream} and d.parent_key = o.parent_key`.execute(trx);
  await sql`insert into ${details} (company, stream, parent_key, parent_hash, fetched_at, outcome, attempts, next_try,
      reason, why, previous_at, found, changed_at)
    select ${company}, ${stream}, parent_key, parent_hash, fetched_at, outcome, attempts, next_try,
      reason, why, previous_at, case when previous_at is not null then found end,
      case when previous_at is null or found then fetched_at else changed_at end
    from ${fresh}`.execute(trx);
  await settleDue(publishing, fresh);
  if (parents.kind === "values" && target.parentsComplete === true && blocked === undefined) {
    await sql`delete from ${details} where company = ${company} and stream = ${stream}
      and parent_key not in (select p.parent_key from ${sql.id(names.parents)} p)`.execute(trx);
  }
  await sql`drop table ${fresh}`.execute(trx);
  return gone;
}

/** The rows of details that are not there any more. */
async function deleteAbsent(publishing: Publishing, fresh: Fragment): Promise<number> {
  const { trx, target } = publishing;
  const absent = await sql`select 1 as one from ${fresh} where outcome = 'absent' limit 1`.execute(trx);
  if (absent.rows.length === 0) return 0;
  const leaving = await leavingRows(publishing, [
    sql`exists (select 1 from ${fresh} o where o.outcome = 'absent' and o.parent_key = ${ownKey(target.tables)})`,
  ]);
  if (leaving.count > 0) {
    await noteFound(publishing, fresh, leaving.rows);
    await deleteRows(publishing, leaving.rows);
  }
  await sql`drop table ${leaving.rows}`.execute(trx);
  return leaving.count;
}

/** Whether rows of a parent's answer are new or others than before. */
function changedBy({ target, names }: Publishing, parent: Fragment): Fragment {
  const own = sql`cast(${sql.id("c", target.tables.main.key[0]!)} as varchar)`;
  return sql`${parent} in (select ${own} from ${sql.id(names.changed)} c where c.op in ('i', 'u', 'r'))`;
}

/** Rows that an answer no longer has are a change of it, too. */
const noteFound = ({ trx, target }: Publishing, fresh: Fragment, leaving: Fragment) =>
  sql`update ${fresh} o set found = true where o.parent_key in (select ${ownKey(target.tables)} from ${leaving} t)`.execute(
    trx,
  );

/** Deletes what answers and values no longer have, or holds such answers back. */
async function deleteUnanswered(
  publishing: Publishing,
  parents: Parents,
  fresh: Fragment,
  guard: DetailGuard | undefined,
  diff: Diff,
): Promise<Omit<Judged, "outcomes">> {
  const { trx, target, names } = publishing;
  const { tables, many, parentsComplete } = target;
  const own = ownKey(tables);
  const conditions: Fragment[] = [];
  if (many === true) {
    conditions.push(sql`exists (select 1 from ${sql.id(names.answers)} a join ${fresh} o on o.parent_key = a.parent_key
        where a.whole and o.outcome = 'ok' and a.parent_key = ${own})
      and not exists (select 1 from ${sql.id(names.staged)} s where ${equal("s", "t", tables.main.key)})`);
  }
  if (parents.kind === "values" && parentsComplete === true)
    conditions.push(sql`not ${isLive(publishing, parents, own)}`);
  if (conditions.length === 0) return { deleted: 0, blocked: undefined, diff };
  const leaving = await leavingRows(publishing, conditions);
  const allowed = leaving.count === 0 || mayLeave(guard, leaving.count, diff.live);
  let published = diff;
  if (!allowed) {
    published = await withholdAnswers(publishing, fresh, sql`(select ${ownKey(tables)} from ${leaving.rows} t)`, diff);
  } else if (leaving.count > 0) {
    await noteFound(publishing, fresh, leaving.rows);
    await deleteRows(publishing, leaving.rows);
  }
  await sql`drop table ${leaving.rows}`.execute(trx);
  return allowed
    ? { deleted: leaving.count, blocked: undefined, diff }
    : { deleted: 0, blocked: { leaving: leaving.count, live: diff.live }, diff: published };
}

/** Takes the answers of these parents out of the diff and makes them due again. */
async function withholdAnswers(publishing: Publishing, fresh: Fragment, parents: Fragment, diff: Diff): Promise<Diff> {
  const { trx, target, names } = publishing;
  const { key } = target.tables.main;
  await sql`update ${fresh} o set outcome = 'failed', attempts = 1, next_try = o.fetched_at,
      reason = 'too many rows or lines would be deleted'
    where o.outcome = 'ok' and o.parent_key in ${parents}`.execute(trx);
  if (target.many !== true && target.tables.children.length === 0) return diff;
  const staged = target.many === true ? { rows: names.staged, key } : undefined;
  return withhold(publishing, sql`cast(${sql.id("c", key[0]!)} as varchar) in ${parents}`, diff, staged);
}

/** Takes rows out of the diff whose lines may not leave; of details (`fresh`: their outcomes) whole answers. Details whose lines stay for want of an array are due again. */
export async function withholdLines(
  publishing: Publishing,
  { withheld, kept }: JudgedLines,
  diff: Diff,
  fresh: Fragment | undefined,
): Promise<Diff> {
  const { trx, target, names } = publishing;
  const own = sql`select cast(${sql.id("c", target.tables.main.key[0]!)} as varchar)`;
  if (fresh !== undefined)
    for (const child of kept)
      await sql`update ${fresh} o set next_try = ${nextNight}, reason = ${`no array at ${child.path.join(".")}`}
        where o.parent_key in (${own} from ${rowsKeeping(publishing, child)})`.execute(trx);
  if (withheld === undefined) return diff;
  if (fresh === undefined) return withhold(publishing, withheld, diff, undefined);
  const parents = sql.id(names.changed.replace("changed", "withheld"));
  await sql`create temporary table ${parents} as ${own} as parent_key from ${sql.id(names.changed)} c where ${withheld}`.execute(
    trx,
  );
  const rest = await withholdAnswers(publishing, fresh, sql`(select parent_key from ${parents})`, diff);
  await sql`drop table ${parents}`.execute(trx);
  return rest;
}

const ownKey = ({ main }: Publishing["target"]["tables"]): Fragment =>
  sql`cast(${sql.id("t", main.key[0]!)} as varchar)`;

function isLive({ destination, target, names }: Publishing, parents: Parents, key: Fragment): Fragment {
  if (parents.kind === "values")
    return sql`exists (select 1 from ${sql.id(names.parents)} p where p.parent_key = ${key})`;
  return sql`exists (select 1 from ${rowStateRef(destination, parents.tables.main)} p
    where p._company = ${target.company} and p.deleted_at is null and ${parentKey("p", parents)} = ${key})`;
}

/** The keys of the live rows `t` of the row state for which one of the conditions holds, in a table to be dropped. */
async function leavingRows(
  { trx, destination, target, names }: Publishing,
  conditions: readonly Fragment[],
): Promise<{ readonly rows: Fragment; readonly count: number }> {
  const { company, tables } = target;
  const rows = sql.id(names.changed.replace("changed", "leaving"));
  const each = conditions.map(
    condition => sql`select ${columnList(tables.main.key, "t")} from ${rowStateRef(destination, tables.main)} t
      where t._company = ${company} and t.deleted_at is null and ${condition}`,
  );
  await sql`create temporary table ${rows} as ${sql.join(each, sql` union `)}`.execute(trx);
  return { rows, count: await countOf(trx, rows) };
}

/** Whether the last rows of snapshots whose field names are values hold an object: else nobody knows which values there are. */
export async function areReadable(
  destination: Destination,
  company: string,
  sources: readonly ValueSource[],
): Promise<boolean> {
  for (const { tables, column, latestBy } of sources) {
    const isJson = tables.main.columns.some(({ name, kind }) => name === column && kind === "json");
    if (latestBy === undefined || !isJson) continue;
    const { main } = tables;
    const isObject = sql`coalesce(cast(${sql.id("m", column)} as varchar), '') like '{%'`;
    const { rows } = await sql<{ rows: number; objects: number }>`select count(*) as rows,
        count(case when ${isObject} then 1 end) as objects
      from ${rowStateRef(destination, main)} p join ${tableRef(destination, main)} m on m._company = p._company and ${equal("m", "p", main.key)}
      where p._company = ${company} and p.deleted_at is null
        and ${sql.id("p", latestBy)} = (select max(${sql.id("x", latestBy)}) from ${rowStateRef(destination, main)} x
          where x._company = ${company} and x.deleted_at is null)`.execute(destination.db);
    const { rows: all, objects } = rows[0]!;
    if (all === 0 || objects < all) return false;
  }
  return true;
}
