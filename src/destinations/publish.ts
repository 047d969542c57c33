import { type Kysely, sql, type Transaction } from "kysely";
import { stageColumns } from "../batch.ts";
import { publishChildren } from "./children.ts";
import { type Comparison, dropTemporary, type Kin, type Publication, temporaryNames } from "./comparison.ts";
import type { Destination } from "./destination.ts";
import { assignments, columnList, equal, equalPairs, type Fragment, ledgerRef, tableRef } from "./fragments.ts";
import { publishOutcomes } from "./outcomes.ts";
import type { StateTables } from "./state_tables.ts";

/** Which missing rows are gone for good; the others stay live and are remembered as missing. */
export type Verdict =
  | { readonly absent: "none" }
  | { readonly absent: "all" }
  /** Those that an earlier complete scan missed too (when `before`), and those whose own endpoint answered 404. */
  | {
      readonly absent: "some";
      readonly before: boolean;
      readonly confirmed: readonly Readonly<Record<string, string>>[];
    };

/** How a publish is to end. */
export interface PublishOrder {
  readonly comparison: Comparison;
  /** ISO 8601; `_changed_at` of everything this publish touches. Never before an earlier publish's. */
  readonly moment: string;
  /** Undefined: the scan was not complete, nothing is remembered as missing. */
  readonly verdict: Verdict | undefined;
  /** Details: 404s count as failures because there are too many of them to be believed. */
  readonly doubtAbsent: boolean;
  /** What becomes true in the same transaction: marks, scan state, counters. */
  readonly also: (trx: Transaction<StateTables>, published: Published) => Promise<void>;
}

export interface Published {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly refreshed: number;
  readonly repeated: number;
  readonly missing: number;
  readonly deleted: number;
}

/**
 * The staged rows become the analysts' tables, in one transaction: rows, children, ledger, deletions, details of deleted
 * and returned rows, and whatever `also` writes. Touches only what `compare` found to differ.
 */
export async function publish(
  destination: Destination,
  publication: Publication,
  order: PublishOrder,
): Promise<Published> {
  const published = await destination.db.transaction().execute(async trx => {
    const work: Work = { trx, destination, publication, moment: order.moment, names: temporaryNames(publication) };
    await replaceRows(work, order.comparison);
    for (const child of publication.tables.children) await publishChildren(work, child);
    await writeLedger(work);
    await restoreDetails(work);
    const deleted = order.verdict === undefined ? 0 : await deleteMissing(work, order.verdict);
    const absent = publication.parent === undefined ? 0 : await publishOutcomes(work, order.doubtAbsent);
    const result = summary(order.comparison, order.verdict !== undefined, deleted + absent, deleted);
    await order.also(trx, result);
    return result;
  });
  await dropTemporary(destination.db, publication);
  return published;
}

/** What every step of a publish needs. */
export interface Work {
  readonly trx: Kysely<StateTables>;
  readonly destination: Destination;
  readonly publication: Publication;
  readonly moment: string;
  readonly names: { readonly changed: string; readonly gone: string };
}

function summary(comparison: Comparison, complete: boolean, deleted: number, ofMissing: number): Published {
  const { staged, distinct, inserted, updated, refreshed, missing } = comparison;
  return {
    inserted,
    updated,
    refreshed,
    unchanged: distinct - inserted - updated,
    repeated: staged - distinct,
    missing: complete ? missing - ofMissing : 0,
    deleted,
  };
}

const moment = (work: Work): Fragment => sql`cast(${work.moment} as timestamptz)`;

async function replaceRows(work: Work, comparison: Comparison): Promise<void> {
  const { trx, destination, publication, names } = work;
  const { main } = publication.tables;
  const target = tableRef(destination, main);
  const rows = publication.stage.rows(main);
  const columns = [...stageColumns(main).map(column => column.name), "_extra", "_problems"];
  const into = sql`insert into ${target} (_company, ${columnList(columns)}, _first_seen_at, _changed_at)`;
  const { inserted, updated, staged, distinct, refreshed } = comparison;
  if (inserted > 0 && inserted === distinct && staged === distinct) {
    // A first load needs no look at the difference: every staged row is new.
    await sql`${into} select ${work.publication.company}, ${columnList(columns, "r")}, ${moment(work)}, ${moment(work)}
      from ${rows} r`.execute(trx);
    return;
  }
  const changed = sql.id(names.changed);
  const same = sql`t._company = ${publication.company} and ${equal("t", "c", main.key)}`;
  if (refreshed > 0) {
    const own = [
      ...stageColumns(main)
        .filter(column => column.volatile)
        .map(column => column.name),
      "_extra",
      "_problems",
    ];
    await sql`update ${target} t set ${assignments(own, "r")} from ${changed} c join ${rows} r on r._seq = c._seq
      where ${same} and c.op in ('v', 's')`.execute(trx);
  }
  if (updated > 0)
    await sql`delete from ${target} t using ${changed} c where ${same} and c.op in ('u', 'r')`.execute(trx);
  if (inserted + updated > 0) {
    await sql`${into} select ${publication.company}, ${columnList(columns, "r")}, coalesce(c.first_seen_at, ${moment(work)}), ${moment(work)}
      from ${changed} c join ${rows} r on r._seq = c._seq where c.op in ('i', 'u', 'r')`.execute(trx);
  }
}

async function writeLedger(work: Work): Promise<void> {
  const { trx, destination, publication, names } = work;
  const { company, tables, stamp } = publication;
  const ledger = ledgerRef(destination, tables.main);
  const changed = sql.id(names.changed);
  for (const detail of publication.details) {
    // The parent is the same row under another hash: nothing has to be fetched again for it.
    await sql`update ${sql.id(destination.stateSchema, "details")} d set parent_hash = c._hash from ${changed} c
      where c.op = 's' and d.company = ${company} and d.stream = ${detail.stream} and d.parent_hash = c.was_hash
        and d.parent_key = ${parentKey("c", detail)}`.execute(trx);
  }
  await sql`delete from ${ledger} l using ${changed} c where l._company = ${company} and ${equal("l", "c", tables.main.key)}
    and c.op <> 'i'`.execute(trx);
  await sql`insert into ${ledger} (_company, ${columnList(tables.main.key)}, hash, vhash, stamp, first_seen_at)
    select ${company}, ${columnList(tables.main.key, "c")}, c._hash, c._vhash, ${sql.lit(stamp)}, coalesce(c.first_seen_at, ${moment(work)})
    from ${changed} c`.execute(trx);
}

/** The parent's key as the details ledger names it: its first (for now: only) paired column. */
export function parentKey(of: string, detail: Kin): Fragment {
  return sql`cast(${sql.id(of, detail.on[0]![1])} as varchar)`;
}

/** Rows that came back bring back those of their details that went with them (others had gone before on their own). */
async function restoreDetails(work: Work): Promise<void> {
  const { trx, destination, publication, names } = work;
  for (const detail of publication.details) {
    const { main, children } = detail.tables;
    const back = sql`from ${sql.id(names.changed)} c where c.op = 'r' and t._company = ${publication.company}
      and ${equalPairs("t", "c", detail.on)}`;
    for (const table of [main, ...children]) {
      await sql`update ${tableRef(destination, table)} t set _deleted_at = null, _changed_at = ${moment(work)}
        ${back} and t._deleted_at = c.was_deleted_at`.execute(trx);
    }
    await sql`update ${ledgerRef(destination, main)} t set deleted_at = null ${back} and t.deleted_at = c.was_deleted_at`.execute(
      trx,
    );
  }
}

async function deleteMissing(work: Work, verdict: Verdict): Promise<number> {
  const { trx, destination, publication, names } = work;
  const { company, tables, details } = publication;
  const gone = sql.id(names.gone);
  if (verdict.absent === "all") await sql`update ${gone} set absent = true`.execute(trx);
  if (verdict.absent === "some") {
    if (verdict.before) await sql`update ${gone} set absent = true where missing_since is not null`.execute(trx);
    for (const key of verdict.confirmed) {
      const match = tables.main.key.map(name => sql`${sql.id(name)} = ${key[name]}`);
      await sql`update ${gone} set absent = true where ${sql.join(match, sql` and `)}`.execute(trx);
    }
  }
  const absent = await sql<{ n: number }>`select count(*) as n from ${gone} where absent`.execute(trx);
  const ledger = ledgerRef(destination, tables.main);
  const same = sql`t._company = ${company} and ${equal("t", "g", tables.main.key)}`;
  await sql`update ${ledger} t set missing_since = ${moment(work)} from ${gone} g where ${same} and not g.absent
    and t.missing_since is null`.execute(trx);
  const deleted = Number(absent.rows[0]?.n ?? 0);
  if (deleted === 0) return 0;
  const absentRows = sql`(select * from ${gone} where absent)`;
  await markDeleted(work, tables, absentRows, same);
  for (const detail of details) {
    await markDeleted(
      work,
      detail.tables,
      absentRows,
      sql`t._company = ${company} and ${equalPairs("t", "g", detail.on)}`,
    );
    await sql`delete from ${sql.id(destination.stateSchema, "details")} d using ${absentRows} g
      where d.company = ${company} and d.stream = ${detail.stream} and d.parent_key = ${parentKey("g", detail)}`.execute(
      trx,
    );
  }
  return deleted;
}

/** Marks the live rows `t` of a stream's tables that match the rows `g` as deleted, with their ledger. */
export async function markDeleted(
  work: Work,
  tables: Publication["tables"],
  rows: Fragment,
  match: Fragment,
): Promise<void> {
  const { trx, destination } = work;
  for (const table of [tables.main, ...tables.children]) {
    await sql`update ${tableRef(destination, table)} t set _deleted_at = ${moment(work)}, _changed_at = ${moment(work)}
      from ${rows} g where ${match} and t._deleted_at is null`.execute(trx);
  }
  await sql`update ${ledgerRef(destination, tables.main)} t set deleted_at = ${moment(work)}, missing_since = null
    from ${rows} g where ${match} and t.deleted_at is null`.execute(trx);
}
