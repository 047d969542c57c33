import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import type { Stream } from "../../catalog/stream.ts";
import type { Message } from "../../message.ts";
import type { Db, Fragment } from "../database.ts";
import { versionsName } from "../ddl/as_of.ts";
import { NO_FINGERPRINT } from "../ddl/shape.ts";
import type { Destination } from "../destination.ts";
import { interruptHistory, keptStreams } from "../history/row_history.ts";
import { columnList, equal, rowStateRef, tableRef } from "../sql_fragments.ts";
import { lastPublish, loadStreamState, saveStreamState } from "../state/run_log.ts";
import { readStreamState } from "../state/stream_state.ts";
import { deleteRowsWith } from "../state_rows.ts";
import { tablesMessages } from "./messages.ts";

/** One company's streams; the run holds their locks. */
export interface Watched {
  readonly company: string;
  readonly streams: readonly Stream[];
  /** Whose rows are counted: the first run's of a day through with a stream, or all. Empty tables are found without. */
  readonly counts: "none" | "daily" | "all";
  /** Streams of which every version of a row is kept. */
  readonly versioned: ReadonlySet<string>;
  readonly now: string;
}

export interface Mended {
  readonly done: readonly string[];
  readonly warnings: readonly Message[];
}

/**
 * Finds rows that somebody took out of the tables, or that came back with a backup, and has them loaded again: the row state, by
 * which a run knows what is stored, is made as the table is, and the stream is read whole.
 */
export async function mendLostRows(destination: Destination, watched: Watched): Promise<Mended> {
  const { db, dialect } = destination;
  const { company, counts, now } = watched;
  const rows = await db
    .selectFrom("streams")
    .select("stream")
    .where("company", "=", company)
    .where("rows", ">", 0)
    .execute();
  const published = new Set(rows.map(({ stream }) => stream));
  const streams = watched.streams.filter(({ name }) => published.has(name));
  if (streams.length === 0) return { done: [], warnings: [] };
  const done: string[] = [];
  const warnings: Message[] = [];
  const emptied = dialect.rowsAreNear ? await emptiedTables(destination, watched, streams) : [];
  // The days of a snapshot cannot be loaded again: they are counted, for a warning says how many there were.
  const emptiedDays = emptied.filter(({ stream, role }) => stream.mode.kind === "snapshot" && role === "main");
  for (const found of emptied.filter(each => !emptiedDays.includes(each))) {
    await mend(destination, watched, found);
    done.push(`${found.stream.name}: ${found.table} was emptied for ${company}, its rows are loaded again`);
  }
  const judged = counts === "daily" ? await succeededOn(db, company, now.slice(0, 10)) : new Set<string>();
  const isCounted = (stream: Stream) =>
    emptiedDays.some(each => each.stream === stream) || (counts !== "none" && !judged.has(stream.name));
  for (const { table, state, stream } of await differingStreams(destination, company, streams.filter(isCounted))) {
    // The service sends neither past days of a snapshot nor rows that it deleted.
    const isReadAgain = stream.mode.kind !== "snapshot" && table.live !== state.live;
    await mend(destination, watched, { stream, role: isReadAgain ? "main" : "row_state" });
    const of = { table: stream.tables.main.name, company };
    warnings.push(
      isReadAgain
        ? tablesMessages.rows_differ({ ...of, rows: Number(table.live), known: Number(state.live) })
        : tablesMessages.past_rows_differ({ ...of, rows: Number(table.rows), known: Number(state.rows) }),
    );
  }
  return { done, warnings };
}

/** The streams of a company that a run of this day (UTC) was through with. */
async function succeededOn(db: Db, company: string, day: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom("stream_runs")
    .select("stream")
    .distinct()
    .where("company", "=", company)
    .where("started_at", ">=", sql<Date>`cast(${`${day}T00:00:00Z`} as timestamptz)`)
    .where("status", "in", ["succeeded", "warning"])
    .execute();
  return new Set(rows.map(({ stream }) => stream));
}

/** Makes the row state as the tables are, and has the stream read whole where rows are missing. The history catches up afterwards. */
async function mend(
  destination: Destination,
  { company, now }: Watched,
  {
    stream,
    role,
    table,
  }: Pick<Emptied, "stream"> & { readonly role: Emptied["role"] | "row_state"; readonly table?: string },
): Promise<void> {
  const { name, tables } = stream;
  await destination.withRoom("write", () =>
    destination.db.transaction().execute(async trx => {
      await interruptHistory(trx, [name], company);
      if (role === "versions") return;
      const state = await loadStreamState(trx, company, name);
      const moment = new Date(Math.max(Date.parse(now), lastPublish(state) + 1)).toISOString();
      if (role === "child") await forgetLines(trx, destination, company, tables);
      else await alignRowState(trx, destination, company, tables, moment);
      const filled = state.filled.filter(child => child !== table);
      const isAnew = role !== "row_state";
      const next = { ...state, filled, lastMoment: moment, lastKeys: null };
      const anew = isAnew ? { ...next, highWaterMark: null, lastFullAt: null } : next;
      await saveStreamState(trx, company, name, anew, now);
      if (!isAnew) return;
      await trx
        .updateTable("streams")
        .set({ complete_to: null })
        .where(({ and }) => and({ company, stream: name }))
        .execute();
    }),
  );
}

interface Emptied {
  readonly stream: Stream;
  readonly table: string;
  readonly role: "main" | "child" | "versions";
}

/** Tables without a row of the company's, though rows of it were loaded into them. */
async function emptiedTables(
  destination: Destination,
  { company, versioned }: Watched,
  streams: readonly Stream[],
): Promise<readonly Emptied[]> {
  const { db, schema } = destination;
  const states = await db
    .selectFrom("stream_state")
    .select(["stream", "state"])
    .where("company", "=", company)
    .execute();
  const filled = new Map(states.map(({ stream, state }) => [stream, readStreamState(state).filled]));
  const kept = await keptStreams(
    db,
    company,
    streams.map(({ name }) => name),
  );
  const of = (from: Fragment, and = sql``) => sql`exists (select 1 from ${from} where _company = ${company}${and})`;
  const live = sql` and _deleted_at is null`;
  const looks: { readonly found: Emptied; readonly where: Fragment }[] = [];
  for (const stream of streams) {
    const { main, children } = stream.tables;
    const look = (role: Emptied["role"], table: string, before: Fragment) =>
      looks.push({ found: { stream, table, role }, where: sql`${before} and not ${of(sql.id(schema, table))}` });
    look("main", main.name, of(rowStateRef(destination, main)));
    for (const child of children)
      if (filled.get(stream.name)?.includes(child.name)) look("child", child.name, of(tableRef(destination, main)));
    for (const table of kept.has(stream.name) && versioned.has(stream.name) ? [main, ...children] : [])
      look("versions", versionsName(table), of(tableRef(destination, table), live));
  }
  const each = looks.map(({ where }, place) => sql`select ${sql.lit(place)} as place where ${where}`);
  const { rows } = await sql<{ place: number }>`${sql.join(each, sql` union all `)}`.execute(db);
  return rows.map(({ place }) => looks[place]!.found);
}

interface Counts {
  readonly rows: number;
  readonly live: number;
}

/** Streams whose main table has other rows than the row state. */
async function differingStreams(
  destination: Destination,
  company: string,
  streams: readonly Stream[],
): Promise<readonly { readonly stream: Stream; readonly table: Counts; readonly state: Counts }[]> {
  if (streams.length === 0) return [];
  const count = (place: number, isTable: boolean, from: Fragment, deleted: string) =>
    sql`select ${sql.lit(place)} as place, ${sql.lit(isTable)} as "isTable", count(*) as rows,
      count(*) - count(${sql.id(deleted)}) as live from ${from} where _company = ${company}`;
  const each = streams.flatMap(({ tables: { main } }, place) => [
    count(place, true, tableRef(destination, main), "_deleted_at"),
    count(place, false, rowStateRef(destination, main), "deleted_at"),
  ]);
  const { rows: all } = await sql<Counts & { place: number; isTable: boolean }>`
    ${sql.join(each, sql` union all `)}`.execute(destination.db);
  return streams.flatMap((stream, at) => {
    const table = all.find(({ place, isTable }) => place === at && isTable)!;
    const state = all.find(({ place, isTable }) => place === at && !isTable)!;
    return table.rows === state.rows && table.live === state.live ? [] : [{ stream, table, state }];
  });
}

/** The row state gets exactly the rows of the table; what it learns of them is compared with the next answer. Lines of rows that are gone leave with them. */
async function alignRowState(
  trx: Db,
  destination: Destination,
  company: string,
  { main, children }: TableSet,
  moment: string,
): Promise<void> {
  const [table, rowState] = [tableRef(destination, main), rowStateRef(destination, main)];
  const keys = columnList(main.key);
  const same = sql`t._company = ${company} and ${equal("t", "r", main.key)}`;
  const lost = sql`${rowState} r where r._company = ${company} and not exists (select 1 from ${table} t where ${same})`;
  const details = sql.id(destination.stateSchema, "details");
  const at = sql`cast(${moment} as timestamptz)`;
  for (const child of children)
    await sql`update ${tableRef(destination, child)} l set _deleted_at = ${at}, _changed_at = ${at}
      where l._company = ${company} and l._deleted_at is null
        and exists (select 1 from ${lost} and ${equal("r", "l", main.key)})`.execute(trx);
  await sql`delete from ${details} where company = ${company} and stream = ${main.name}
    and parent_key in (select cast(${sql.id("r", main.key[0]!)} as varchar) from ${lost})`.execute(trx);
  await sql`delete from ${lost}`.execute(trx);
  await sql`insert into ${rowState} (_company, ${keys}, hash, vhash, stamp, first_seen_at, deleted_at)
    select _company, ${keys}, 0, 0, ${sql.lit(NO_FINGERPRINT)}, _first_seen_at, _deleted_at from ${table} t
    where _company = ${company} and not exists (select 1 from ${rowState} r where r._company = ${company} and ${equal("r", "t", main.key)})`.execute(
    trx,
  );
  await sql`update ${rowState} r set deleted_at = t._deleted_at, stamp = ${sql.lit(NO_FINGERPRINT)} from ${table} t
    where r._company = ${company} and ${same} and (r.deleted_at is null) <> (t._deleted_at is null)`.execute(trx);
}

/** Which rows had the lines is not known: each is compared with the next answer, and each detail is requested again. */
async function forgetLines(trx: Db, destination: Destination, company: string, { main }: TableSet): Promise<void> {
  await sql`update ${rowStateRef(destination, main)} set stamp = ${sql.lit(NO_FINGERPRINT)} where _company = ${company}`.execute(
    trx,
  );
  await deleteRowsWith(trx, ["details"], { company, stream: main.name, outcome: "ok" });
}
