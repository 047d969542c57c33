import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import type { Fragment } from "../database.ts";
import { parentKey } from "../details/parents.ts";
import { beginVersions, endVersions } from "../history/row_versions.ts";
import { countOf, equal, equalPairs, rowStateRef, tableRef, timestampOf } from "../sql_fragments.ts";
import { noteDue } from "./causes.ts";
import { type Publishing, wasMissed } from "./load_target.ts";

/** Which rows of the table `missing` are gone for good; the others stay live. */
export interface Verdict {
  /** The scan was complete: what it missed is remembered as missing. */
  readonly remember: boolean;
  readonly all: boolean;
  /** Those that an earlier complete scan missed too. */
  readonly before: boolean;
  /** Those whose own endpoint answered 404, by key. */
  readonly confirmed: readonly Readonly<Record<string, string>>[];
}

/** Rows that came back bring back those of their details that went with them (others had gone before on their own). */
export async function restoreDetails(publishing: Publishing): Promise<void> {
  const { trx, destination, target, names } = publishing;
  for (const detail of target.details) {
    const { main, children } = detail.tables;
    const returned = sql`${sql.id(names.changed)} c`;
    const match = sql`c.op = 'r' and t._company = ${target.company} and ${equalPairs("t", "c", detail.on)}`;
    const back = sql`from ${returned} where ${match}`;
    for (const table of [main, ...children]) {
      await sql`update ${tableRef(destination, table)} t set _deleted_at = null, _changed_at = ${timestampOf(publishing)}
        ${back} and t._deleted_at = c.was_deleted_at`.execute(trx);
      await beginVersions(publishing, detail.tables, table, returned, match);
    }
    await sql`update ${rowStateRef(destination, main)} t set deleted_at = null ${back} and t.deleted_at = c.was_deleted_at`.execute(
      trx,
    );
  }
}

export async function deleteMissing(publishing: Publishing, verdict: Verdict): Promise<number> {
  const { trx, destination, target, names } = publishing;
  const { company, tables } = target;
  const missing = sql.id(names.missing);
  if (verdict.all) await sql`update ${missing} set is_gone = true`.execute(trx);
  if (verdict.before) await sql`update ${missing} set is_gone = true where ${wasMissed(target)}`.execute(trx);
  for (const key of verdict.confirmed) {
    const match = tables.main.key.map(name => sql`${sql.id(name)} = ${key[name]}`);
    await sql`update ${missing} set is_gone = true where ${sql.join(match, sql` and `)}`.execute(trx);
  }
  const deleted = await countOf(trx, sql`${missing} where is_gone`);
  const rowState = rowStateRef(destination, tables.main);
  const same = sql`t._company = ${company} and ${equal("t", "g", tables.main.key)}`;
  if (verdict.remember) {
    await sql`update ${rowState} t set missing_since = ${timestampOf(publishing)} from ${missing} g where ${same} and not g.is_gone
      and t.missing_since is null`.execute(trx);
  }
  if (deleted === 0) return 0;
  await deleteRows(publishing, sql`(select * from ${missing} where is_gone)`);
  return deleted;
}

/** Soft-deletes live rows (sets `_deleted_at`), by key, and with them their details, and forgets that these were fetched: should the rows return, they are fetched anew. */
export async function deleteRows(publishing: Publishing, rows: Fragment): Promise<void> {
  const { trx, destination, target } = publishing;
  const { company, tables, details } = target;
  await noteDue(publishing, rows);
  await markDeleted(publishing, tables, rows, sql`t._company = ${company} and ${equal("t", "g", tables.main.key)}`);
  for (const detail of details) {
    await markDeleted(
      publishing,
      detail.tables,
      rows,
      sql`t._company = ${company} and ${equalPairs("t", "g", detail.on)}`,
    );
    for (const state of ["details", "detail_due"])
      await sql`delete from ${sql.id(destination.stateSchema, state)} d using ${rows} g
        where d.company = ${company} and d.stream = ${detail.stream} and d.parent_key = ${parentKey("g", detail)}`.execute(
        trx,
      );
  }
}

/** The soft delete itself: sets `_deleted_at` of the live rows `t` of a stream's tables that match the rows `g`, and of their row state. */
async function markDeleted(publishing: Publishing, tables: TableSet, rows: Fragment, match: Fragment): Promise<void> {
  const { trx, destination } = publishing;
  for (const table of [tables.main, ...tables.children]) {
    await sql`update ${tableRef(destination, table)} t set _deleted_at = ${timestampOf(publishing)}, _changed_at = ${timestampOf(publishing)}
      from ${rows} g where ${match} and t._deleted_at is null`.execute(trx);
    await endVersions(publishing, tables, table, sql`${rows} g`, match);
  }
  await sql`update ${rowStateRef(destination, tables.main)} t set deleted_at = ${timestampOf(publishing)}, missing_since = null
    from ${rows} g where ${match} and t.deleted_at is null`.execute(trx);
}
