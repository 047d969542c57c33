import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import { stageColumns } from "../../rows/batch.ts";
import type { Fragment, Trx } from "../database.ts";
import type { Destination, Stage } from "../destination.ts";
import { anyDiffers, columnList, countOf, equal, knownRows, rowStateRef, tableRef } from "../sql_fragments.ts";
import { aliveRows, countSurplus, stageAnswers } from "./answers.ts";
import { linesOf } from "./lines.ts";
import { type Diff, dropTemporary, type LoadTarget, temporaryNames, wasMissed } from "./load_target.ts";

/**
 * The difference between stage and warehouse, by key and hash alone. Leaves two temporary tables for `applyDiff`: `changed`
 * (op: i new, r returned, u changed, v volatile fields only, s stored under another schema fingerprint, m no longer missing; on
 * the way also g missing, x seen but not stored) and, where `withMissing`, `missing`.
 */
export async function compare(destination: Destination, target: LoadTarget, withMissing: boolean): Promise<Diff> {
  const rows = target.stage.staged;
  return destination.withRoom("compare", () => findDifference(destination, target, withMissing), { rows });
}

/**
 * Keys of missing rows, at most `limit`: the ones that no earlier scan missed first, then those that come after a key's
 * values, so that runs which go on after the last one get round to all of them.
 */
export async function missingKeys(
  destination: Destination,
  target: LoadTarget,
  limit: number,
  after: readonly string[] = [],
): Promise<Record<string, string>[]> {
  const key = target.tables.main.key;
  const later = after.length === key.length ? sql`(${columnList(key)}) > (${sql.join(after)}) desc,` : sql``;
  const { rows } = await sql<
    Record<string, string>
  >`select ${columnList(key)} from ${sql.id(temporaryNames(target).missing)}
    order by missing_since is null desc, ${later} ${columnList(key)} limit ${sql.lit(limit)}`.execute(destination.db);
  return rows;
}

/** Keys of the first `limit` rows that the scan listed and that can be stored. */
export async function listedKeys(
  destination: Destination,
  { stage, tables }: LoadTarget,
  limit: number,
): Promise<Record<string, string>[]> {
  const { rows } = await sql<Record<string, string>>`select ${columnList(tables.main.key)} from ${stage.keys()} k
    where _hash is not null order by _seq limit ${sql.lit(limit)}`.execute(destination.db);
  return rows;
}

interface Repeats extends Pick<Diff, "conflicting"> {
  readonly repeated: number;
}

const noRepeats: Repeats = { repeated: 0, conflicting: undefined };

/** Rows by `op`, as in `changed`. */
type Counts = Readonly<Partial<Record<string, number>>>;

async function findDifference(destination: Destination, target: LoadTarget, withMissing: boolean): Promise<Diff> {
  return destination.db.transaction().execute(async trx => {
    await dropTemporary(trx, target);
    const rowState = rowStateRef(destination, target.tables.main);
    const { known, live } = await knownRows(trx, rowState, target.company);
    const whole = target.parent === undefined && (withMissing || known === 0);
    const atOnce = whole ? await joinAtOnce(trx, destination, target, { known, live }) : undefined;
    const { repeated, conflicting } = atOnce ?? (await joinLatest(trx, destination, target, known, withMissing));
    if (withMissing && atOnce !== undefined) await separateMissing(trx, destination, target, atOnce.counts);
    let counts = atOnce?.counts ?? (await countByOp(trx, target));
    if ((counts["s"] ?? 0) > 0) {
      await rehash(trx, destination, target);
      counts = await countByOp(trx, target);
    }
    const missing = withMissing ? await countMissing(trx, target) : { missing: 0, missedBefore: 0 };
    const of = (...ops: string[]) => ops.reduce((sum, op) => sum + (counts[op] ?? 0), 0);
    const touched = of("i", "u", "r", "v", "s", "m");
    if (destination.dialect.plansByStatistics) await estimable(trx, target, touched, missing.missing);
    const { staged } = target.stage;
    return {
      staged,
      distinct: staged - repeated,
      conflicting,
      inserted: of("i"),
      updated: of("u", "r"),
      refreshed: of("v", "s"),
      touched,
      ...missing,
      known,
      live,
    };
  });
}

/** Fewer rows than these are soon gone through, whatever PostgreSQL takes them for. */
const ESTIMATED_FROM = 500;

/**
 * Nobody but who made a temporary table can gather its statistics. Without them PostgreSQL takes 1 % of `changed` for what a
 * publish writes, and goes through a child table, or all of the detail state, once for each of its rows.
 */
async function estimable(db: Trx, target: LoadTarget, touched: number, missing: number): Promise<void> {
  const { changed, missing: missed } = temporaryNames(target);
  if (touched >= ESTIMATED_FROM) await sql`analyze ${sql.id(changed)}`.execute(db);
  if (missing >= ESTIMATED_FROM) await sql`analyze ${sql.id(missed)}`.execute(db);
}

const columnsOfStaged = (key: readonly string[]): Fragment => sql`s._seq, ${columnList(key, "s")}, s._hash, s._vhash`;

const firstLoad = sql`cast(null as timestamptz) as first_seen_at, cast(null as timestamptz) as was_deleted_at,
  cast(null as bigint) as was_hash`;
const before = sql`l.first_seen_at, l.deleted_at as was_deleted_at, l.hash as was_hash`;

const opOf = (
  schemaFingerprint: number,
): Fragment => sql`case when l.stamp is null then 'i' when l.deleted_at is not null then 'r'
  when l.stamp <> ${sql.lit(schemaFingerprint)} then 's' when l.hash <> s._hash then 'u' when l.vhash <> s._vhash then 'v' else 'm' end`;

const differs = (
  schemaFingerprint: number,
): Fragment => sql`(l.stamp is null or l.deleted_at is not null or l.stamp <> ${sql.lit(schemaFingerprint)}
  or l.hash <> s._hash or l.vhash <> s._vhash or l.missing_since is not null)`;

/**
 * A list against all that is known, in one pass over both: a second one, for keys that come twice, would cost as much as
 * the join, and they nearly never do. Where each live row was met exactly once, none did; else, and where rows were seen
 * that cannot be stored, nothing is left behind and the answer is undefined. Missing rows are in `changed`, as `g`.
 */
async function joinAtOnce(
  db: Trx,
  destination: Destination,
  target: LoadTarget,
  { known, live }: { readonly known: number; readonly live: number },
): Promise<(Repeats & { readonly counts: Counts }) | undefined> {
  const { tables, stage, company, schemaFingerprint } = target;
  const { key } = tables.main;
  const changed = sql.id(temporaryNames(target).changed);
  const keys = stage.keys();
  if (known === 0) {
    await sql`create temporary table ${changed} as select ${columnsOfStaged(key)}, ${firstLoad},
      cast(null as timestamptz) as missing_since, case when s._hash is null then 'x' else 'i' end as op from ${keys} s`.execute(
      db,
    );
  } else {
    for (const statement of destination.dialect.findsLittle) await statement.execute(db);
    const either = sql.join(
      key.map(name => sql`coalesce(${sql.id("s", name)}, ${sql.id("l", name)}) as ${sql.id(name)}`),
    );
    await sql`create temporary table ${changed} as
      select s._seq, ${either}, s._hash, s._vhash, ${before}, l.missing_since,
        case when s._seq is null then 'g' when s._hash is null then 'x' else ${opOf(schemaFingerprint)} end as op
      from ${keys} s full join (select ${columnList(key)}, hash, vhash, stamp, first_seen_at, missing_since, deleted_at
        from ${rowStateRef(destination, tables.main)} where _company = ${company}) l on ${equal("l", "s", key)}
      where case when s._seq is null then l.deleted_at is null else s._hash is null or ${differs(schemaFingerprint)} end`.execute(
      db,
    );
  }
  const counts = await countByOp(db, target);
  const { i: added = 0, r: returned = 0, g: missing = 0, x: seenOnly = 0 } = counts;
  const met = stage.staged - added - returned;
  if (seenOnly === 0 && met === live - missing && (await areDistinct(db, target, added + returned)))
    return { counts, repeated: 0, conflicting: undefined };
  await sql`drop table ${changed}`.execute(db);
  return undefined;
}

async function areDistinct(db: Trx, target: LoadTarget, count: number): Promise<boolean> {
  if (count < 2) return true;
  const changed = sql.id(temporaryNames(target).changed);
  const keys = sql`(select distinct ${columnList(target.tables.main.key)} from ${changed} where op in ('i', 'r')) d`;
  return (await countOf(db, keys)) === count;
}

/** Takes the missing rows out of `changed` into `missing`, but for those that were not asked for. */
async function separateMissing(db: Trx, destination: Destination, target: LoadTarget, counts: Counts): Promise<void> {
  const names = temporaryNames(target);
  const { scope } = target;
  const inScope = scope === undefined ? sql`` : sql` and ${scopeOf(destination, target, scope)}`;
  await sql`create temporary table ${sql.id(names.missing)} as
    select ${columnList(target.tables.main.key, "l")}, l.missing_since, false as is_gone
    from ${sql.id(names.changed)} l where op = 'g'${inScope}`.execute(db);
  if ((counts["g"] ?? 0) > 0) await sql`delete from ${sql.id(names.changed)} where op = 'g'`.execute(db);
}

/** The last version of each staged row against the row state, step by step. */
async function joinLatest(
  db: Trx,
  destination: Destination,
  target: LoadTarget,
  known: number,
  withMissing: boolean,
): Promise<Repeats> {
  const { tables, stage, company, schemaFingerprint } = target;
  const names = temporaryNames(target);
  const { key } = tables.main;
  const rowState = rowStateRef(destination, tables.main);
  const alive = await aliveRows(db, destination, target, names);
  // A first load needs no difference: its keys go straight into `changed`, and one copy of them is saved.
  const first = known === 0;
  const keys = target.many
    ? await stageAnswers(db, target, names)
    : first
      ? stage.keys()
      : await materialize(db, destination, stage, names.staged);
  // What answers replace of a detail's rows is no row of the last answer.
  const surplus = target.many ? await countSurplus(db, keys, target) : undefined;
  const twice = surplus === 0 ? noRepeats : await repeats(db, keys, key);
  const repeated = surplus ?? twice.repeated;
  const latest = repeated === 0 ? sql`${keys} s` : latestOf(keys, key);
  const told = first ? sql`${firstLoad}, 'i' as op` : sql`${before}, ${opOf(schemaFingerprint)} as op`;
  const compared = first ? sql`` : sql`left join ${rowState} l on l._company = ${company} and ${equal("l", "s", key)}`;
  await sql`
    create temporary table ${sql.id(names.changed)} as select ${columnsOfStaged(key)}, ${told}
    from ${latest} ${compared} where s._hash is not null and ${first ? sql`true` : differs(schemaFingerprint)} and ${alive}`.execute(
    db,
  );
  if (withMissing) {
    const inScope = target.scope === undefined ? sql`` : sql` and ${scopeOf(destination, target, target.scope)}`;
    await sql`
      create temporary table ${sql.id(names.missing)} as
      select ${columnList(key, "l")}, l.missing_since, false as is_gone from ${rowState} l
      where l._company = ${company} and l.deleted_at is null
        and not exists (select 1 from ${keys} s where ${equal("s", "l", key)})${inScope}`.execute(db);
  }
  return { repeated, conflicting: twice.conflicting };
}

function scopeOf(
  destination: Destination,
  { company, tables }: LoadTarget,
  scope: { column: string; from: string },
): Fragment {
  return sql`exists (select 1 from ${tableRef(destination, tables.main)} t where t._company = ${company}
    and ${equal("t", "l", tables.main.key)} and ${sql.id("t", scope.column)} >= cast(${scope.from} as timestamptz))`;
}

async function materialize(db: Trx, destination: Destination, stage: Stage, name: string): Promise<Fragment> {
  if (destination.dialect.stagesAreTables) return stage.keys();
  await sql`create temporary table ${sql.id(name)} as select * from ${stage.keys()} k`.execute(db);
  return sql.id(name);
}

function latestOf(keys: Fragment, key: readonly string[]): Fragment {
  return sql`(select * from (select k.*, row_number() over (partition by ${columnList(key, "k")} order by k._seq desc) as nth
    from ${keys} k) n where nth = 1) s`;
}

/** Rows of the stage that a later one of the same key replaces, and keys whose rows differ. */
async function repeats(db: Trx, keys: Fragment, key: readonly string[]): Promise<Repeats> {
  const names = columnList(key, "k");
  const { rows } = await sql<{ surplus: number; differing: number; example: string | null }>`
    select coalesce(sum(n - 1), 0) as surplus, count(case when differs then 1 end) as differing,
      min(case when differs then example end) as example
    from (select count(*) as n, min(k._hash) <> max(k._hash) as differs, concat_ws(', ', ${names}) as example
      from ${keys} k group by ${names} having count(*) > 1) r`.execute(db);
  const { surplus, differing, example } = rows[0]!;
  const conflicting = differing === 0 ? undefined : { keys: Number(differing), example: example ?? "" };
  return { repeated: Number(surplus), conflicting };
}

/** Hashes made over other columns say nothing: those rows are compared column by column, and become `u` only if one differs. */
async function rehash(db: Trx, destination: Destination, target: LoadTarget): Promise<void> {
  const { tables, stage, company } = target;
  const changed = sql.id(temporaryNames(target).changed);
  const key = tables.main.key;
  const stable = (table: TableSet["main"]) =>
    stageColumns(table)
      .filter(column => !column.volatile && !key.includes(column.name))
      .map(column => column.name);
  const differing = [
    sql`select c._seq from ${changed} c join ${stage.rows(tables.main)} r on r._seq = c._seq
      join ${tableRef(destination, tables.main)} t on t._company = ${company} and ${equal("t", "c", key)}
      where c.op = 's' and ${anyDiffers("r", "t", stable(tables.main))}`,
    ...tables.children.flatMap(child => [
      sql`select c._seq from ${changed} c join ${linesOf(stage, child)} r on r._seq = c._seq
        left join ${tableRef(destination, child)} t on t._company = ${company} and ${equal("t", "c", key)}
          and t._index = r._index and t._deleted_at is null
        where c.op = 's' and (t._company is null or ${anyDiffers("r", "t", stable(child))})`,
      sql`select c._seq from ${changed} c join ${tableRef(destination, child)} t
          on t._company = ${company} and ${equal("t", "c", key)} and t._deleted_at is null
        left join ${linesOf(stage, child)} r on r._seq = c._seq and r._index = t._index
        where c.op = 's' and r._seq is null`,
    ]),
  ];
  await sql`update ${changed} set op = 'u' where _seq in (${sql.join(differing, sql` union `)})`.execute(db);
}

async function countByOp(db: Trx, target: LoadTarget): Promise<Counts> {
  const { rows } = await sql<{ op: string; n: number }>`select op, count(*) as n
    from ${sql.id(temporaryNames(target).changed)} group by op`.execute(db);
  return Object.fromEntries(rows.map(({ op, n }) => [op, n]));
}

async function countMissing(db: Trx, target: LoadTarget): Promise<Pick<Diff, "missing" | "missedBefore">> {
  const { rows } = await sql<Pick<Diff, "missing" | "missedBefore">>`
    select count(*) as missing, count(case when ${wasMissed(target)} then 1 end) as "missedBefore"
    from ${sql.id(temporaryNames(target).missing)}`.execute(db);
  return rows[0]!;
}
