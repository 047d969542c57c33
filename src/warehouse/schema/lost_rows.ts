import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import type { Stream } from "../../catalog/stream.ts";
import type { Message } from "../../message.ts";
import type { Db, Fragment } from "../database.ts";
import { versionsName } from "../ddl/as_of.ts";
import type { Looked } from "../ddl/present_tables.ts";
import { NO_FINGERPRINT } from "../ddl/shape.ts";
import type { Destination } from "../destination.ts";
import { interruptHistory, keptStreams } from "../history/row_history.ts";
import { columnList, equal, rowStateRef, tableRef } from "../sql_fragments.ts";
import { lastPublish, loadStreamState, saveStreamState, streamStatesOf } from "../state/run_log.ts";
import { readStreamState } from "../state/stream_state.ts";
import { deleteRowsWith } from "../state_rows.ts";
import { tablesMessages } from "./messages.ts";

/** One company's streams; the run holds their locks. */
export interface Watched {
  readonly company: string;
  readonly streams: readonly Stream[];
  /** Whose rows are counted: the first run's of a day through with a stream, or all. Empty tables are found without where rows are near. */
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
  const streams = await publishedOf(db, company, watched.streams);
  if (streams.length === 0) return { done: [], warnings: [] };
  const done: string[] = [];
  const warnings: Message[] = [];
  const emptied = dialect.rowsAreNear || counts === "all" ? await emptiedTables(destination, watched, streams) : [];
  // The days of a snapshot cannot be loaded again: they are counted, for a warning says how many there were.
  const emptiedDays = emptied.filter(({ stream, role }) => stream.mode.kind === "snapshot" && role === "main");
  for (const found of emptied.filter(each => !emptiedDays.includes(each))) {
    await mend(destination, watched, found);
    done.push(`${found.stream.name}: ${found.table} was emptied for ${company}, its rows are loaded again`);
  }
  const judged = counts === "daily" ? await succeededOn(db, company, now.slice(0, 10)) : new Set<string>();
  const isCounted = (stream: Stream) =>
    emptiedDays.some(each => each.stream === stream) || (counts !== "none" && !judged.has(stream.name));
  for (const { stream, main, state, lines, versions } of await countedStreams(
    destination,
    watched,
    streams.filter(isCounted),
  )) {
    const of = { table: stream.tables.main.name, company };
    const fewer = lines.filter(({ rows, known = 0 }) => rows < known);
    if (main.rows !== state.rows || main.live !== state.live) {
      // The service sends neither past days of a snapshot nor rows that it deleted.
      const isReadAgain = stream.mode.kind !== "snapshot" && main.live !== state.live;
      await mend(destination, watched, { stream, role: isReadAgain ? "main" : "row_state" });
      warnings.push(
        isReadAgain
          ? tablesMessages.rows_differ({ ...of, rows: main.live, known: state.live })
          : tablesMessages.past_rows_differ({ ...of, rows: main.rows, known: state.rows }),
      );
    } else if (fewer.length > 0) await mend(destination, watched, { stream, role: "child" });
    else if (versions.length > 0) await mend(destination, watched, { stream, role: "versions" });
    for (const { table, rows, known = 0 } of fewer)
      warnings.push(tablesMessages.lines_differ({ table, company, rows, known }));
    for (const { table, rows, known } of fewer.length > 0 ? [] : versions)
      warnings.push(tablesMessages.versions_differ({ table, company, versions: rows, rows: known }));
    if (lines.some(({ rows, known }) => rows !== known)) await noteLines(destination, watched, stream, lines);
  }
  return { done, warnings };
}

/** Tables that have lost all rows, and those with other rows than tributary stored. `streams`: those whose tables are there. */
export async function lossesNow(
  looked: Looked,
  watched: Pick<Watched, "company" | "versioned" | "streams">,
): Promise<{ readonly emptied: readonly string[]; readonly differing: readonly Differing[] }> {
  const streams = await publishedOf(looked.db, watched.company, watched.streams);
  if (streams.length === 0) return { emptied: [], differing: [] };
  const emptied = await emptiedTables(looked, watched, streams);
  const others = streams.filter(stream => !emptied.some(each => each.stream === stream));
  const counted = await countedStreams(looked, watched, others);
  const differing = counted.flatMap(({ stream: { name: table }, main, state, lines, versions }) => [
    ...(main.live === state.live ? [] : [{ table, rows: main.live, known: state.live }]),
    ...(main.live !== state.live || main.rows === state.rows ? [] : [{ table, rows: main.rows, known: state.rows }]),
    ...lines.flatMap(({ known = 0, ...line }) => (line.rows < known ? [{ ...line, known }] : [])),
    ...versions,
  ]);
  return { emptied: emptied.map(({ table }) => table), differing };
}

/** Those of the streams that brought rows of the company. */
async function publishedOf(db: Db, company: string, streams: readonly Stream[]): Promise<readonly Stream[]> {
  const rows = await db
    .selectFrom("streams")
    .select("stream")
    .where("company", "=", company)
    .where("rows", ">", 0)
    .execute();
  const published = new Set(rows.map(({ stream }) => stream));
  return streams.filter(({ name }) => published.has(name));
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
      const lineRows = table === undefined ? state.lineRows : { ...state.lineRows, [table]: 0 };
      const next = { ...state, filled, lineRows, lastMoment: moment, lastKeys: null };
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
  destination: Looked,
  { company, versioned }: Pick<Watched, "company" | "versioned">,
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

/** A table with other rows than are known. */
interface Differing {
  readonly table: string;
  readonly rows: number;
  readonly known: number;
}

interface Counts {
  readonly rows: number;
  readonly live: number;
}

/** A stream's rows in its tables, and as tributary knows of them. */
interface Counted {
  readonly stream: Stream;
  readonly main: Counts;
  readonly state: Counts;
  /** Child tables; `known` is undefined where nobody counted before. */
  readonly lines: readonly { readonly table: string; readonly rows: number; readonly known: number | undefined }[];
  /** Tables of versions that have other present versions than their table has live rows (`known`). */
  readonly versions: readonly Differing[];
}

/** Counts the tables of streams, in one statement. */
async function countedStreams(
  destination: Looked,
  { company, versioned }: Pick<Watched, "company" | "versioned">,
  streams: readonly Stream[],
): Promise<readonly Counted[]> {
  if (streams.length === 0) return [];
  const { db, schema } = destination;
  const names = streams.map(({ name }) => name);
  const kept = await keptStreams(db, company, names);
  const states = await streamStatesOf(db, names);
  const each: Fragment[] = [];
  const count = (from: Fragment, ended: string) => {
    const of = sql`select ${sql.lit(each.length)} as place, count(*) as rows, count(*) - count(${sql.id(ended)}) as live`;
    return each.push(sql`${of} from ${from} where _company = ${company}`) - 1;
  };
  const places = streams.map(({ name, tables: { main, children } }) => ({
    state: count(rowStateRef(destination, main), "deleted_at"),
    tables: [main, ...children].map(table => ({
      table,
      rows: count(tableRef(destination, table), "_deleted_at"),
      versions:
        kept.has(name) && versioned.has(name) ? count(sql.id(schema, versionsName(table)), "_valid_to") : undefined,
    })),
  }));
  const { rows } = await sql<Counts & { place: number }>`${sql.join(each, sql` union all `)}`.execute(db);
  const all = new Map(rows.map(({ place, rows, live }) => [place, { rows: Number(rows), live: Number(live) }]));
  return streams.map((stream, at) => {
    const { state, tables } = places[at]!;
    const before = states.find(each => each.company === company && each.stream === stream.name)?.state.lineRows ?? {};
    return {
      stream,
      main: all.get(tables[0]!.rows)!,
      state: all.get(state)!,
      lines: tables.slice(1).map(({ table: { name }, rows }) => ({
        ...{ table: name, rows: all.get(rows)!.rows, known: before[name] },
      })),
      versions: tables.flatMap(({ table, rows, versions }) => {
        const [present, live] = [versions === undefined ? undefined : all.get(versions)!.live, all.get(rows)!.live];
        return present === undefined || present === live
          ? []
          : [{ table: versionsName(table), rows: present, known: live }];
      }),
    };
  });
}

/** The next count is compared with these lines. */
async function noteLines(
  destination: Destination,
  { company, now }: Watched,
  { name }: Stream,
  lines: Counted["lines"],
): Promise<void> {
  const lineRows = Object.fromEntries(lines.map(({ table, rows }) => [table, rows]));
  await destination.withRoom("write", () =>
    destination.db.transaction().execute(async trx => {
      await saveStreamState(trx, company, name, { ...(await loadStreamState(trx, company, name)), lineRows }, now);
    }),
  );
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
