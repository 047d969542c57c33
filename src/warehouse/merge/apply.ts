import { sql } from "kysely";
import { stageColumns } from "../../rows/batch.ts";
import type { ColumnProblems } from "../../rows/encoder.ts";
import type { Trx } from "../database.ts";
import { withTables } from "../ddl/present_tables.ts";
import type { Destination } from "../destination.ts";
import { parentKey, restamped } from "../details/parents.ts";
import { keptStreams } from "../history/row_history.ts";
import { beginVersions, endVersions, followRows } from "../history/row_versions.ts";
import { assignments, columnList, equal, rowStateRef, tableRef, takeTurns, timestampOf } from "../sql_fragments.ts";
import { noteDue } from "./causes.ts";
import { deleteMissing, restoreDetails, type Verdict } from "./deletion.ts";
import type { DeletionLimits, DetailGuard } from "./deletion_limits.ts";
import { type BlockedLines, judgeLines, noteKept, overwriting, publishChildren } from "./lines.ts";
import { type Diff, dropTemporary, type LoadTarget, type Publishing, temporaryNames } from "./load_target.ts";
import { type Absent, judgeAnswers, type Parted, publishOutcomes, withholdLines } from "./outcomes.ts";
import { noteUnfilled } from "./unfilled.ts";

interface LoadDecision {
  /** Undefined: no row is missing, or what is missing was not asked or came too late to say anything. */
  readonly verdict?: Verdict | undefined;
  /** Details: what their 404s mean. */
  readonly absent: Absent;
  /** Details: how many of their rows may go; absent: all may. */
  readonly guard?: DetailGuard | undefined;
  /** How many lines of a child table may leave with empty arrays; undefined: all may. */
  readonly lineLimits?: DeletionLimits | undefined;
}

export interface Published {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly refreshed: number;
  readonly repeated: number;
  readonly missing: number;
  readonly deleted: number;
  /** Of details: what went, or did not, by what answers and values no longer have. */
  readonly parted: Parted;
  /** Lines of child tables whose row stays. */
  readonly linesDeleted: number;
  /** Child tables that got lines, and by how many rows, deleted ones included, they are more. */
  readonly filled: ReadonlyMap<string, number>;
  readonly blockedLines: BlockedLines | undefined;
  /** Rows that the table had though the row state did not know them. */
  readonly unknown: number;
  readonly problems: readonly ColumnProblems[];
}

/** Runs the one transaction of a publish, with the room that it needs; `work` is done again where the database asks for it. */
export async function inPublish<T>(
  destination: Destination,
  target: LoadTarget,
  diff: Diff,
  work: (trx: Trx) => Promise<T>,
): Promise<T> {
  await pickChanged(destination, target, diff);
  const { widest } = target.stage;
  const publish = async (trx: Trx) => {
    const result = await work(trx);
    if (diff.isSame !== true) await dropTemporary(trx, target);
    return result;
  };
  const { touched, missing } = diff;
  // Of what was asked for the state is written anew, whatever the answer said: how much that is the stage does not tell.
  const replaced = target.parent === undefined ? touched + missing : undefined;
  const room = { widest: touched === 0 ? undefined : widest, tables: target.tables, touched: replaced };
  return destination.withRoom("write", () => destination.db.transaction().execute(publish), room);
}

/** Of so many staged rows, when no larger share is touched, the touched ones are picked out first. */
const PICKED_FROM = 20_000;
const PICKED_SHARE = 0.1;

async function pickChanged({ db }: Destination, target: LoadTarget, { staged, touched }: Diff): Promise<void> {
  const { stage } = target;
  if (stage.only === undefined || staged < PICKED_FROM || touched === 0 || touched > PICKED_SHARE * staged) return;
  const { rows } = await sql<{ _seq: number }>`select _seq from ${sql.id(temporaryNames(target).changed)}
    order by _seq`.execute(db);
  await stage.only(rows.map(row => Number(row._seq)));
}

/** Begins a publish in its transaction: from here on no other publish to the same tables is under way. `isPart`: other sessions write the stream's state beside this one, also where no row is touched. */
export async function openPublish(
  trx: Trx,
  destination: Destination,
  target: LoadTarget,
  { touched, missing }: Diff,
): Promise<Omit<Publishing, "timestamp">> {
  // A look at the catalogue costs more than an unchanged publish of a small list, which touches no details.
  const untouched = touched === 0 && missing === 0 && target.parent === undefined;
  const details = untouched ? [] : await withTables({ ...destination, db: trx }, target.details);
  const streams = [target, ...details].map(({ tables }) => tables.main.name);
  if (!untouched) await takeTurn(trx, destination, streams);
  return {
    trx,
    destination,
    target: { ...target, details },
    names: temporaryNames(target),
    versioned: untouched ? new Set() : await keptStreams(trx, target.company, streams),
  };
}

/**
 * The staged rows become the analysts' tables: rows, children, row state, soft deletes, details of deleted and returned rows.
 * Touches only what `compare` found to differ.
 */
export async function applyDiff(
  publishing: Publishing,
  found: Diff,
  { verdict, absent: absence, guard, lineLimits }: LoadDecision,
): Promise<Published> {
  const { target, names } = publishing;
  const { parent, company, tables } = target;
  const unknown = await takeUnknownRows(publishing, found);
  const { inserted, updated, known } = found;
  const compared = { ...found, inserted: inserted - unknown, updated: updated + unknown, known: known + unknown };
  const judged = parent === undefined ? undefined : await judgeAnswers(publishing, parent, absence, guard, compared);
  const { diff: answered, deleted, blocked } = judged ?? { diff: compared, deleted: 0, blocked: undefined };
  const lines = await judgeLines(publishing, answered, lineLimits);
  const diff = await withholdLines(publishing, lines, answered, judged?.outcomes);
  let linesDeleted = 0;
  const filled = new Map<string, number>();
  let problems: readonly ColumnProblems[] = [];
  // The first load of a list tells of no change.
  const changing =
    compared.known === 0 ? undefined : sql`(select * from ${sql.id(names.changed)} where op in ('i', 'u', 'r'))`;
  const isChanging = changing !== undefined && diff.inserted + diff.updated > 0;
  if (isChanging && diff.updated > 0) await noteDue(publishing, changing);
  if (diff.touched > 0) {
    await replaceRows(publishing, diff);
    for (const child of tables.children) {
      const { inserted, deleted, added } = await publishChildren(publishing, child, lines.kept.includes(child));
      linesDeleted += Number(deleted);
      if (inserted > 0n) filled.set(child.name, Number(added));
    }
    problems = await noteKept(publishing, lines.kept);
    if (diff.refreshed + diff.updated > 0) {
      const changed = sql`${sql.id(names.changed)} c`;
      await followRows(
        publishing,
        tables,
        changed,
        sql`t._company = ${company} and ${equal("t", "c", tables.main.key)}`,
      );
    }
    await writeRowState(publishing, diff);
    await noteUnfilled(publishing);
    // Rows that came back are among the updated.
    if (diff.updated > 0) await restoreDetails(publishing);
    if (isChanging) await noteDue(publishing, changing);
  }
  const ofMissing = verdict === undefined ? 0 : await deleteMissing(publishing, verdict);
  const absent = parent === undefined || judged === undefined ? 0 : await publishOutcomes(publishing, parent, judged);
  return {
    ...summary(diff, ofMissing + deleted + absent, ofMissing),
    parted: { deleted, blocked },
    linesDeleted,
    filled,
    blockedLines: lines.blocked,
    unknown,
    problems,
  };
}

/**
 * New rows that the table has already, for the row state is older than the table, are updated: inserted they would meet the
 * primary key, or be there twice where there is none. Returns how many. A lake restores both at once.
 */
async function takeUnknownRows({ trx, destination, target, names }: Publishing, { inserted }: Diff): Promise<number> {
  if (inserted === 0 || !destination.dialect.rowsAreNear) return 0;
  const { main } = target.tables;
  const { numAffectedRows = 0n } = await sql`update ${sql.id(names.changed)} c
    set op = 'u', first_seen_at = t._first_seen_at from ${tableRef(destination, main)} t
    where c.op = 'i' and t._company = ${target.company} and ${equal("t", "c", main.key)}`.execute(trx);
  return Number(numAffectedRows);
}

/**
 * Moments are to be in the order in which publishes become visible: who copies by them would miss rows of one that began
 * before another company's and was committed after it. DuckDB has one session, whose transactions run one after another.
 */
export const takeTurn = (
  trx: Trx,
  { dialect, schema }: Pick<Destination, "dialect" | "schema">,
  tables: readonly string[],
): Promise<void> =>
  takeTurns(
    trx,
    dialect,
    tables.map(table => `tributary publishes ${schema}.${table}`),
  );

function summary(diff: Diff, deleted: number, ofMissing: number) {
  const { staged, distinct, inserted, updated, refreshed, missing } = diff;
  return {
    inserted,
    updated,
    refreshed,
    unchanged: distinct - inserted - updated,
    repeated: staged - distinct,
    missing: missing - ofMissing,
    deleted,
  };
}

/** The upsert of main rows: those that changed are deleted and inserted again, which both databases do faster than MERGE, or UPDATE. */
async function replaceRows(publishing: Publishing, diff: Diff): Promise<void> {
  const { trx, destination, target, names } = publishing;
  const { main } = target.tables;
  const table = tableRef(destination, main);
  const rows = target.stage.rows(main);
  const columns = [...stageColumns(main).map(column => column.name), "_extra", "_problems"];
  const into = sql`insert into ${table} (_company, ${columnList(columns)}, _first_seen_at, _changed_at)`;
  const { inserted, updated, staged, distinct, refreshed, known } = diff;
  const changed = sql.id(names.changed);
  const same = sql`t._company = ${target.company} and ${equal("t", "c", main.key)}`;
  if (inserted > 0 && inserted === distinct && staged === distinct) {
    // A first load needs no look at the difference: every staged row is new.
    await sql`${into} select ${publishing.target.company}, ${columnList(columns, "r")}, ${timestampOf(publishing)}, ${timestampOf(publishing)}
      from ${rows} r`.execute(trx);
    // Where the company had no rows all that are there now are meant.
    const [others, match] = known === 0 ? [undefined, sql`t._company = ${target.company}`] : [sql`${changed} c`, same];
    await beginVersions(publishing, target.tables, main, others, match);
    return;
  }
  if (refreshed > 0) {
    const own = [
      ...stageColumns(main)
        .filter(column => column.volatile)
        .map(column => column.name),
      "_extra",
      "_problems",
    ];
    await sql`update ${table} t set ${assignments(own, "r")} from ${changed} c join ${rows} r on r._seq = c._seq
      where ${same} and c.op in ('v', 's')`.execute(trx);
  }
  const replaced = sql`${same} and c.op in ('u', 'r')`;
  if (updated > 0)
    await (main.extended === undefined
      ? sql`delete from ${table} t using ${changed} c where ${replaced}`
      : sql`update ${table} t set ${overwriting(publishing, main)}
          from ${changed} c join ${rows} r on r._seq = c._seq where ${replaced}`
    ).execute(trx);
  if (inserted + updated > 0) {
    await sql`${into} select ${target.company}, ${columnList(columns, "r")}, coalesce(c.first_seen_at, ${timestampOf(publishing)}), ${timestampOf(publishing)}
      from ${changed} c join ${rows} r on r._seq = c._seq where c.op in ('i', 'u', 'r')
      ${main.extended === undefined ? sql`` : sql`and (c.op = 'i' or not exists (select 1 from ${table} t where ${same}))`}`.execute(
      trx,
    );
    const those = sql`${changed} c`;
    if (updated > 0) await endVersions(publishing, target.tables, main, those, replaced);
    await beginVersions(publishing, target.tables, main, those, sql`${same} and c.op in ('i', 'u', 'r')`);
  }
}

async function writeRowState(publishing: Publishing, { refreshed }: Diff): Promise<void> {
  const { trx, destination, target, names } = publishing;
  const { company, tables, schemaFingerprint } = target;
  const rowState = rowStateRef(destination, tables.main);
  const changed = sql.id(names.changed);
  // Rows of another stamp are among the refreshed.
  for (const detail of refreshed > 0 ? target.details : []) {
    // The parent is the same row under another hash: nothing has to be fetched again for it.
    await sql`update ${sql.id(destination.stateSchema, "details")} d set parent_hash = c._hash from ${changed} c
      where c.op = 's' and d.company = ${company} and d.stream = ${detail.stream} and d.parent_hash = c.was_hash
        and d.parent_key = ${parentKey("c", detail)}`.execute(trx);
  }
  await sql`delete from ${rowState} l using ${changed} c where l._company = ${company} and ${equal("l", "c", tables.main.key)}
    and c.op <> 'i'`.execute(trx);
  await sql`insert into ${rowState} (_company, ${columnList(tables.main.key)}, hash, vhash, stamp, first_seen_at)
    select ${company}, ${columnList(tables.main.key, "c")}, c._hash, c._vhash, ${sql.lit(schemaFingerprint)}, coalesce(c.first_seen_at, ${timestampOf(publishing)})
    from ${changed} c`.execute(trx);
  for (const detail of target.valueDriven ?? []) await restamped(destination, company, detail, changed).execute(trx);
}
