import { sql } from "kysely";
import type { Stream } from "../../catalog/stream.ts";
import type { Db } from "../database.ts";
import { withTables } from "../ddl/present_tables.ts";
import type { Destination } from "../destination.ts";
import { liveParents, type Parents, presentParents } from "../details/parents.ts";
import { knownRows, rowStateRef } from "../sql_fragments.ts";
import { putRow, rowWith } from "../state_rows.ts";

/** What a stream's main table holds, and of details what there is to ask for. */
export interface TableCounts {
  readonly known: number;
  readonly live: number;
  readonly parents: ParentCounts | undefined;
}

/** Live parents; those whose detail was never fetched, failed, or is of an earlier state of the parent; the first of these alone; those that have none. */
export interface ParentCounts {
  readonly all: number;
  readonly pending: number;
  readonly never: number;
  readonly absent: number;
}

/** A company's stream whose rows are counted; `parent`: what a detail is asked for. */
interface Counted<P> {
  readonly company: string;
  readonly stream: Stream;
  readonly parent: P;
}

interface PublishFacts {
  readonly now: string;
  /** Null leaves what it was. */
  readonly completeTo: string | null;
  /** Saves a look at the row state. */
  readonly counted: { readonly known: number; readonly live: number } | undefined;
}

export async function saveDashboard(
  db: Db,
  destination: Destination,
  { company, stream, parent }: Counted<Parents | undefined>,
  { now, completeTo, counted }: PublishFacts,
): Promise<TableCounts> {
  const table = stream.tables.main;
  const { known, live } = counted ?? (await knownRows(db, rowStateRef(destination, table), company));
  const parents = parent === undefined ? undefined : await countParents(db, destination, company, stream.name, parent);
  await putRow(db, "streams", {
    ...{ company, stream: stream.name, table_name: table.name, on: true, off_since: null, last_success_at: now },
    ...(completeTo === null ? {} : { complete_to: completeTo }),
    ...{ rows: known, live_rows: live, ...columnsOf(parents) },
  });
  return { known, live, parents };
}

/** The names of those of a company's streams that were ever published: the others have no counts and no problems. */
export async function publishedAmong(
  db: Db,
  company: string,
  streams: readonly Stream[],
): Promise<ReadonlySet<string>> {
  if (streams.length === 0) return new Set();
  const tables = streams.map(({ tables: { main } }) => main.name);
  const rows = await db
    .selectFrom("streams")
    .select("table_name")
    .where(({ and }) => and({ company }))
    .where("table_name", "in", tables)
    .execute();
  const published = new Set(rows.map(row => row.table_name));
  return new Set(streams.filter(({ tables: { main } }) => published.has(main.name)).map(({ name }) => name));
}

/** Counts the rows of a published detail and what there is to ask for it anew, after something else than its own publish touched them. */
export async function recountDetail(
  db: Db,
  destination: Destination,
  { company, stream, parent }: Counted<Parents>,
): Promise<void> {
  // One that is off may have no tables any more, nor the list that it was asked for by.
  const needed = [stream, ...(parent.kind === "rows" ? [parent] : parent.sources.slice(0, 1))];
  if ((await withTables({ ...destination, db }, needed)).length < needed.length) return;
  const { known, live } = await knownRows(db, rowStateRef(destination, stream.tables.main), company);
  const parents = await countParents(db, destination, company, stream.name, parent);
  await db
    .updateTable("streams")
    .set({ rows: known, live_rows: live, ...columnsOf(parents) })
    .where(({ and }) => and({ company, table_name: stream.tables.main.name }))
    .execute();
}

const columnsOf = (parents: ParentCounts | undefined) => ({
  details_pending: parents?.pending ?? null,
  details_wanted: parents?.all ?? null,
  details_never: parents?.never ?? null,
});

/** How far those of these streams that are on, and were ever complete, are so together; null: none was. */
export async function completeTogether(db: Db, company: string, streams: readonly string[]): Promise<string | null> {
  const rows = await db
    .selectFrom("streams")
    .select("complete_to")
    .where(({ and }) => and({ company, on: true }))
    .where("stream", "in", streams)
    .where("complete_to", "is not", null)
    .orderBy("complete_to")
    .limit(1)
    .execute();
  return rows[0]?.complete_to?.toISOString() ?? null;
}

export async function isComplete(db: Db, company: string, stream: string): Promise<boolean> {
  return ((await rowWith(db, "streams", { company, stream }))?.complete_to ?? null) !== null;
}

/** Live rows of a table as of its last publish; null before the first. */
export async function liveRows(db: Db, company: string, table: string): Promise<number | null> {
  return (await rowWith(db, "streams", { company, table_name: table }))?.live_rows ?? null;
}

/** Counts the rows or values that a stream's details are asked for. */
async function countParents(
  db: Db,
  destination: Destination,
  company: string,
  stream: string,
  parents: Parents,
): Promise<ParentCounts> {
  const present = await presentParents({ ...destination, db }, parents);
  const changed = parents.kind === "values" && parents.aged ? sql`` : sql` or d.parent_hash <> p.parent_hash`;
  const { rows } = await sql<ParentCounts>`select count(*) as "all",
      count(*) filter (where d.parent_key is null or d.outcome = 'failed' or d.parent_hash is null${changed}) as pending,
      count(*) filter (where d.parent_key is null) as never,
      count(*) filter (where d.outcome = 'absent') as absent
    from ${liveParents(destination, company, present)} p
    left join ${sql.id(destination.stateSchema, "details")} d
      on d.company = ${company} and d.stream = ${stream} and d.parent_key = p.parent_key`.execute(db);
  return rows[0]!;
}
