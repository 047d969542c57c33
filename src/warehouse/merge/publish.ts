import { sql, type Transaction } from "kysely";
import { stageColumns } from "../../rows/batch.ts";
import { withTables } from "../ddl/present_tables.ts";
import type { Destination } from "../destination.ts";
import { parentKey } from "../details/child_stream.ts";
import { restamped } from "../details/parents.ts";
import { keptStreams } from "../history/row_history.ts";
import { beginVersions, endVersions, followRows } from "../history/row_versions.ts";
import { assignments, columnList, equal, momentOf, rowStateRef, tableRef } from "../sql_fragments.ts";
import type { StateTables } from "../state_tables.ts";
import { publishChildren } from "./children.ts";
import { deleteMissing, restoreDetails, type Verdict } from "./deletion.ts";
import { type Absent, type Allows, judgeAnswers, type Parted, publishOutcomes } from "./outcomes.ts";
import type { Comparison, Publication } from "./publication.ts";
import type { Work } from "./publish_context.ts";
import { dropTemporary, temporaryNames } from "./temporary_tables.ts";
import { noteUnfilled } from "./unfilled.ts";

/** How a publish is to end. */
export interface PublishOrder {
  readonly comparison: Comparison;
  /**
   * ISO 8601; `_changed_at` of everything this publish touches. Asked for in its transaction, when no other publish to the
   * same tables is under way: later than that of every one before it.
   */
  readonly moment: (trx: Transaction<StateTables>) => Promise<string>;
  /** Undefined: the scan was not complete, nothing is remembered as missing. */
  readonly verdict: Verdict | undefined;
  /** Details: what their 404s mean. */
  readonly absent: Absent;
  /** Details: whether so many of their rows may go; absent: they may. */
  readonly allows?: Allows | undefined;
  /** What becomes true in the same transaction: high-water mark, scan state, counters. */
  readonly also: (trx: Transaction<StateTables>, published: Published, moment: string) => Promise<void>;
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
}

/**
 * The staged rows become the analysts' tables, in one transaction: rows, children, row state, deletions, details of deleted
 * and returned rows, and whatever `also` writes. Touches only what `compare` found to differ.
 */
export async function publish(
  destination: Destination,
  publication: Publication,
  order: PublishOrder,
): Promise<Published> {
  await pickChanged(destination, publication, order.comparison);
  const { widest } = publication.stage;
  const published = await destination.withRoom(
    "write",
    () => publishAtOnce(destination, publication, order),
    order.comparison.touched === 0 ? {} : { widest },
  );
  await dropTemporary(destination.db, publication);
  return published;
}

/** Of so many staged rows, when no larger share is touched, the touched ones are picked out first. */
const PICKED_FROM = 20_000;
const PICKED_SHARE = 0.1;

async function pickChanged(
  { db }: Destination,
  publication: Publication,
  { staged, touched }: Comparison,
): Promise<void> {
  const { stage } = publication;
  if (stage.only === undefined || staged < PICKED_FROM || touched === 0 || touched > PICKED_SHARE * staged) return;
  const { rows } = await sql<{ _seq: number }>`select _seq from ${sql.id(temporaryNames(publication).changed)}
    order by _seq`.execute(db);
  await stage.only(rows.map(row => Number(row._seq)));
}

async function publishAtOnce(
  destination: Destination,
  publication: Publication,
  order: PublishOrder,
): Promise<Published> {
  return destination.db.transaction().execute(async trx => {
    const { parent } = publication;
    // A look at the catalogue costs more than an unchanged publish of a small list, which touches no details.
    const untouched = order.comparison.touched === 0 && order.comparison.missing === 0 && parent === undefined;
    const details = untouched ? [] : await withTables({ db: trx, schema: destination.schema }, publication.details);
    const whole = { ...publication, details };
    const streams = [publication, ...details].map(({ tables }) => tables.main.name);
    if (!untouched) await takeTurn(trx, destination, streams);
    const moment = await order.moment(trx);
    const work: Work = {
      trx,
      destination,
      publication: whole,
      moment,
      names: temporaryNames(publication),
      versioned: untouched ? new Set() : await keptStreams(trx, publication.company, streams),
    };
    const judged =
      parent === undefined
        ? undefined
        : await judgeAnswers(work, parent, order.absent, order.allows ?? (() => true), order.comparison);
    const { comparison, left, held } = judged ?? { comparison: order.comparison, left: 0, held: undefined };
    if (comparison.touched > 0) {
      await replaceRows(work, comparison);
      for (const child of publication.tables.children) await publishChildren(work, child);
      if (comparison.refreshed + comparison.updated > 0) {
        const { company, tables } = publication;
        const changed = sql`${sql.id(work.names.changed)} c`;
        await followRows(work, tables, changed, sql`t._company = ${company} and ${equal("t", "c", tables.main.key)}`);
      }
      await writeRowState(work, comparison);
      await noteUnfilled(work);
      // Rows that came back are among the updated.
      if (comparison.updated > 0) await restoreDetails(work);
    }
    const ofMissing = order.verdict === undefined ? 0 : await deleteMissing(work, order.verdict);
    const absent = parent === undefined || judged === undefined ? 0 : await publishOutcomes(work, parent, judged);
    const result = summary(comparison, ofMissing + left + absent, ofMissing, { left, held });
    await order.also(trx, result, moment);
    return result;
  });
}

/**
 * Moments are to be in the order in which publishes become visible: who copies by them would miss rows of one that began
 * before another company's and was committed after it. DuckDB has one session, whose transactions run one after another.
 */
async function takeTurn(
  trx: Transaction<StateTables>,
  { dialect, schema }: Destination,
  tables: readonly string[],
): Promise<void> {
  if (dialect.name !== "postgres") return;
  const names = tables.map(table => `tributary publishes ${schema}.${table}`);
  // In one order for all, so that no two wait for each other.
  await sql`select pg_advisory_xact_lock(key) from (
    select distinct hashtextextended(name, 0) as key from unnest(${names}::text[]) as name order by key) keys`.execute(
    trx,
  );
}

function summary(comparison: Comparison, deleted: number, ofMissing: number, parted: Parted): Published {
  const { staged, distinct, inserted, updated, refreshed, missing } = comparison;
  return {
    inserted,
    updated,
    refreshed,
    unchanged: distinct - inserted - updated,
    repeated: staged - distinct,
    missing: missing - ofMissing,
    deleted,
    parted,
  };
}

/** The upsert of main rows: those that changed are deleted and inserted again, which both databases do faster than MERGE. */
async function replaceRows(work: Work, comparison: Comparison): Promise<void> {
  const { trx, destination, publication, names } = work;
  const { main } = publication.tables;
  const target = tableRef(destination, main);
  const rows = publication.stage.rows(main);
  const columns = [...stageColumns(main).map(column => column.name), "_extra", "_problems"];
  const into = sql`insert into ${target} (_company, ${columnList(columns)}, _first_seen_at, _changed_at)`;
  const { inserted, updated, staged, distinct, refreshed, known } = comparison;
  const changed = sql.id(names.changed);
  const same = sql`t._company = ${publication.company} and ${equal("t", "c", main.key)}`;
  if (inserted > 0 && inserted === distinct && staged === distinct) {
    // A first load needs no look at the difference: every staged row is new.
    await sql`${into} select ${work.publication.company}, ${columnList(columns, "r")}, ${momentOf(work)}, ${momentOf(work)}
      from ${rows} r`.execute(trx);
    // Where the company had no rows all that are there now are meant.
    const [others, match] =
      known === 0 ? [undefined, sql`t._company = ${publication.company}`] : [sql`${changed} c`, same];
    await beginVersions(work, publication.tables, main, others, match);
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
    await sql`update ${target} t set ${assignments(own, "r")} from ${changed} c join ${rows} r on r._seq = c._seq
      where ${same} and c.op in ('v', 's')`.execute(trx);
  }
  if (updated > 0)
    await sql`delete from ${target} t using ${changed} c where ${same} and c.op in ('u', 'r')`.execute(trx);
  if (inserted + updated > 0) {
    await sql`${into} select ${publication.company}, ${columnList(columns, "r")}, coalesce(c.first_seen_at, ${momentOf(work)}), ${momentOf(work)}
      from ${changed} c join ${rows} r on r._seq = c._seq where c.op in ('i', 'u', 'r')`.execute(trx);
    const those = sql`${changed} c`;
    if (updated > 0) await endVersions(work, publication.tables, main, those, sql`${same} and c.op in ('u', 'r')`);
    await beginVersions(work, publication.tables, main, those, sql`${same} and c.op in ('i', 'u', 'r')`);
  }
}

async function writeRowState(work: Work, { refreshed }: Comparison): Promise<void> {
  const { trx, destination, publication, names } = work;
  const { company, tables, schemaFingerprint } = publication;
  const rowState = rowStateRef(destination, tables.main);
  const changed = sql.id(names.changed);
  // Rows of another stamp are among the refreshed.
  for (const detail of refreshed > 0 ? publication.details : []) {
    // The parent is the same row under another hash: nothing has to be fetched again for it.
    await sql`update ${sql.id(destination.stateSchema, "details")} d set parent_hash = c._hash from ${changed} c
      where c.op = 's' and d.company = ${company} and d.stream = ${detail.stream} and d.parent_hash = c.was_hash
        and d.parent_key = ${parentKey("c", detail)}`.execute(trx);
  }
  await sql`delete from ${rowState} l using ${changed} c where l._company = ${company} and ${equal("l", "c", tables.main.key)}
    and c.op <> 'i'`.execute(trx);
  await sql`insert into ${rowState} (_company, ${columnList(tables.main.key)}, hash, vhash, stamp, first_seen_at)
    select ${company}, ${columnList(tables.main.key, "c")}, c._hash, c._vhash, ${sql.lit(schemaFingerprint)}, coalesce(c.first_seen_at, ${momentOf(work)})
    from ${changed} c`.execute(trx);
  for (const detail of publication.valueDriven ?? [])
    await restamped(destination, company, detail, changed).execute(trx);
}
