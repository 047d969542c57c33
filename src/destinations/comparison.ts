import { type Kysely, sql } from "kysely";
import { stageColumns } from "../batch.ts";
import type { TableSet } from "../columns.ts";
import { aliveRows, countSurplus, stageAnswers } from "./answers.ts";
import type { Destination, Stage } from "./destination.ts";
import { anyDiffers, columnList, equal, type Fragment, ledgerRef, tableRef, temporaryName } from "./fragments.ts";
import type { Parents, ValueSource } from "./parents.ts";
import type { StateTables } from "./state_tables.ts";

/** A stream whose rows belong to another stream's: `on` pairs its key columns with that stream's. */
export interface Kin {
  readonly stream: string;
  readonly tables: TableSet;
  readonly on: readonly (readonly [own: string, parents: string])[];
}

/** One company's stream, ready to be published from its stage. */
export interface Publication {
  readonly company: string;
  readonly stream: string;
  readonly tables: TableSet;
  readonly stage: Stage;
  /** Which columns the hashes cover; see `layoutStamp`. */
  readonly stamp: number;
  /** What it is asked for, when it is a detail: rows of parents that are no longer live are skipped. */
  readonly parent: Parents | undefined;
  /** An answer holds many rows, all that its parent has: those of an earlier answer that it lacks are gone. */
  readonly many?: boolean;
  /** The parents are known whole: what belongs to a value that none carries any more is gone. */
  readonly settled?: boolean;
  /** Its details: they go and come back with its rows. */
  readonly details: readonly Kin[];
  /** Details that are asked for by values of its rows. */
  readonly valued?: readonly { readonly stream: string; readonly source: ValueSource }[];
  /** The list is asked for from a day on only: rows whose moment lies before it are not missing, they were not asked for. */
  readonly scope: { readonly column: string; readonly from: string } | undefined;
}

/** What a publish would do. `updated` includes rows that came back; `refreshed` ones differ in volatile fields only. */
export interface Comparison {
  /** Rows staged, every version. */
  readonly staged: number;
  readonly distinct: number;
  readonly inserted: number;
  readonly updated: number;
  readonly refreshed: number;
  /** Staged rows of which anything has to be written, the ledger's note that they are missing included. */
  readonly touched: number;
  /** Live rows that the scan did not see (0 when not asked for). */
  readonly missing: number;
  /** Of those, the ones that the complete scan before missed too. */
  readonly missedBefore: number;
  readonly live: number;
}

/**
 * The difference between stage and warehouse, by key and hash alone. Leaves two temporary tables for `publish`: `changed`
 * (op: i new, r returned, u changed, v volatile fields only, s stamp only, m no longer missing) and, where `withMissing`, `gone`.
 */
export async function compare(
  destination: Destination,
  publication: Publication,
  withMissing: boolean,
): Promise<Comparison> {
  return destination.withRoom("compare", () => difference(destination, publication, withMissing));
}

async function difference(
  destination: Destination,
  publication: Publication,
  withMissing: boolean,
): Promise<Comparison> {
  return destination.db.transaction().execute(async trx => {
    const { tables, stage, company, stamp } = publication;
    const names = temporaryNames(publication);
    const key = tables.main.key;
    const ledger = ledgerRef(destination, tables.main);
    await dropTemporary(trx, publication);
    const alive = await aliveRows(trx, destination, publication, names);
    const live = await liveCount(trx, ledger, company);
    // A first load needs no difference: its keys go straight into `changed`, and one copy of them is saved.
    const first = live.known === 0;
    const keys = publication.many
      ? await stageAnswers(trx, publication, names)
      : first
        ? stage.keys()
        : await materialize(trx, destination, stage, names.staged);
    const repeated = publication.many ? await countSurplus(trx, keys, publication) : await repeats(trx, keys, key);
    const latest = repeated === 0 ? sql`${keys} s` : latestOf(keys, key);
    const known = first
      ? sql`cast(null as timestamptz) as first_seen_at, cast(null as timestamptz) as was_deleted_at, cast(null as bigint) as was_hash, 'i' as op`
      : sql`l.first_seen_at, l.deleted_at as was_deleted_at, l.hash as was_hash,
          case when l._company is null then 'i' when l.deleted_at is not null then 'r' when l.stamp <> ${sql.lit(stamp)} then 's'
            when l.hash <> s._hash then 'u' when l.vhash <> s._vhash then 'v' else 'm' end as op`;
    const compared = first ? sql`` : sql`left join ${ledger} l on l._company = ${company} and ${equal("l", "s", key)}`;
    const differs = first
      ? sql`true`
      : sql`(l._company is null or l.deleted_at is not null or l.stamp <> ${sql.lit(stamp)}
          or l.hash <> s._hash or l.vhash <> s._vhash or l.missing_since is not null)`;
    await sql`
      create temporary table ${sql.id(names.changed)} as
      select s._seq, ${columnList(key, "s")}, s._hash, s._vhash, ${known}
      from ${latest} ${compared} where s._hash is not null and ${differs} and ${alive}`.execute(trx);
    await settleStamps(trx, destination, publication);
    if (withMissing) {
      const inScope =
        publication.scope === undefined ? sql`` : sql` and ${scopeOf(destination, publication, publication.scope)}`;
      await sql`
        create temporary table ${sql.id(names.gone)} as
        select ${columnList(key, "l")}, l.missing_since, false as absent from ${ledger} l
        where l._company = ${company} and l.deleted_at is null
          and not exists (select 1 from ${keys} s where ${equal("s", "l", key)})${inScope}`.execute(trx);
    }
    return count(trx, publication, repeated, live.live, withMissing);
  });
}

function scopeOf(
  destination: Destination,
  { company, tables }: Publication,
  scope: { column: string; from: string },
): Fragment {
  return sql`exists (select 1 from ${tableRef(destination, tables.main)} t where t._company = ${company}
    and ${equal("t", "l", tables.main.key)} and ${sql.id("t", scope.column)} >= cast(${scope.from} as timestamptz))`;
}

/** DuckDB would read the key files again for each question; PostgreSQL's stage is a table already. */
async function materialize(
  db: Kysely<StateTables>,
  destination: Destination,
  stage: Stage,
  name: string,
): Promise<Fragment> {
  if (destination.dialect.name === "postgres") return stage.keys();
  await sql`create temporary table ${sql.id(name)} as select * from ${stage.keys()} k`.execute(db);
  return sql.id(name);
}

function latestOf(keys: Fragment, key: readonly string[]): Fragment {
  return sql`(select * from (select k.*, row_number() over (partition by ${columnList(key, "k")} order by k._seq desc) as nth
    from ${keys} k) n where nth = 1) s`;
}

/** Rows of the stage that a later one of the same key replaces. */
async function repeats(db: Kysely<StateTables>, keys: Fragment, key: readonly string[]): Promise<number> {
  const { rows } = await sql<{ surplus: number }>`select coalesce(sum(n - 1), 0) as surplus from (
    select count(*) as n from ${keys} k group by ${columnList(key, "k")} having count(*) > 1) r`.execute(db);
  return Number(rows[0]?.surplus ?? 0);
}

async function liveCount(
  db: Kysely<StateTables>,
  ledger: Fragment,
  company: string,
): Promise<{ known: number; live: number }> {
  const { rows } = await sql<{
    known: number;
    live: number;
  }>`select count(*) as known, count(*) - count(deleted_at) as live
    from ${ledger} where _company = ${company}`.execute(db);
  return { known: Number(rows[0]?.known ?? 0), live: Number(rows[0]?.live ?? 0) };
}

/** Hashes made over other columns say nothing: those rows are compared column by column, and become `u` only if one differs. */
async function settleStamps(
  db: Kysely<StateTables>,
  destination: Destination,
  publication: Publication,
): Promise<void> {
  const { tables, stage, company } = publication;
  const changed = sql.id(temporaryNames(publication).changed);
  const restamped = await sql<{ n: number }>`select count(*) as n from ${changed} where op = 's'`.execute(db);
  if (Number(restamped.rows[0]?.n ?? 0) === 0) return;
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
      sql`select c._seq from ${changed} c join ${stage.rows(child)} r on r._seq = c._seq
        left join ${tableRef(destination, child)} t on t._company = ${company} and ${equal("t", "c", key)}
          and t._index = r._index and t._deleted_at is null
        where c.op = 's' and (t._company is null or ${anyDiffers("r", "t", stable(child))})`,
      sql`select c._seq from ${changed} c join ${tableRef(destination, child)} t
          on t._company = ${company} and ${equal("t", "c", key)} and t._deleted_at is null
        left join ${stage.rows(child)} r on r._seq = c._seq and r._index = t._index
        where c.op = 's' and r._seq is null`,
    ]),
  ];
  await sql`update ${changed} set op = 'u' where _seq in (${sql.join(differing, sql` union `)})`.execute(db);
}

async function count(
  db: Kysely<StateTables>,
  publication: Publication,
  repeated: number,
  live: number,
  withMissing: boolean,
): Promise<Comparison> {
  const names = temporaryNames(publication);
  const { rows } = await sql<{ op: string; n: number }>`select op, count(*) as n from ${sql.id(names.changed)}
    group by op`.execute(db);
  const of = (...ops: string[]) =>
    rows.filter(row => ops.includes(row.op)).reduce((sum, row) => sum + Number(row.n), 0);
  const gone = withMissing
    ? await sql<{ n: number; before: number }>`select count(*) as n, count(missing_since) as before
        from ${sql.id(names.gone)}`.execute(db)
    : { rows: [] };
  const { staged } = publication.stage;
  return {
    staged,
    distinct: staged - repeated,
    inserted: of("i"),
    updated: of("u", "r"),
    refreshed: of("v", "s"),
    touched: of("i", "u", "r", "v", "s", "m"),
    missing: Number(gone.rows[0]?.n ?? 0),
    missedBefore: Number(gone.rows[0]?.before ?? 0),
    live,
  };
}

/** Keys of missing rows, the ones that no earlier scan missed first: they are what a 404 can settle. At most `limit`. */
export async function missingKeys(
  destination: Destination,
  publication: Publication,
  limit: number,
): Promise<Record<string, string>[]> {
  const key = publication.tables.main.key;
  const { rows } = await sql<
    Record<string, string>
  >`select ${columnList(key)} from ${sql.id(temporaryNames(publication).gone)}
    where missing_since is null order by ${columnList(key)} limit ${sql.lit(limit)}`.execute(destination.db);
  return rows;
}

export interface TemporaryNames {
  readonly staged: string;
  readonly changed: string;
  readonly gone: string;
  /** Values that live rows carry, of a detail that is asked for by them. */
  readonly parents: string;
  /** Of a detail with many rows an answer: which of the staged rows each parent's last answer is. */
  readonly answers: string;
}

export function temporaryNames({ company, stream }: Publication): TemporaryNames {
  const name = (purpose: string) => temporaryName(purpose, company, stream);
  return {
    staged: name("staged"),
    changed: name("changed"),
    gone: name("gone"),
    parents: name("parents"),
    answers: name("answers"),
  };
}

/** Drops the ones that a comparison of this kind makes: each statement for nothing costs DuckDB most of a millisecond. */
export async function dropTemporary(db: Kysely<StateTables>, publication: Publication): Promise<void> {
  const { staged, changed, gone, parents, answers } = temporaryNames(publication);
  const made = [staged, changed, gone];
  if (publication.parent?.kind === "values") made.push(parents);
  if (publication.many === true) made.push(answers);
  await sql
    .join(
      made.map(name => sql`drop table if exists ${sql.id(name)}`),
      sql`; `,
    )
    .execute(db);
}
