import { sql } from "kysely";
import type { Message } from "../../message.ts";
import type { Db, Fragment } from "../database.ts";
import { hasState } from "../ddl/present_tables.ts";
import type { Destination } from "../destination.ts";
import type { CountedBy, StateColumn, WrittenRow } from "../state_columns.ts";
import { putRow, rowWith } from "../state_rows.ts";
import { stateTables } from "../state_tables.ts";
import { readStreamState, type StreamState, storedStreamState } from "./stream_state.ts";

/** What a stream did in a run: a row of `stream_runs` without its identity. */
export type StreamRun = Omit<
  WrittenRow<(typeof stateTables)["stream_runs"]>,
  "run_id" | "company" | "stream" | "status" | "recent"
> & { status: "running" | "succeeded" | "warning" | "incomplete" | "failed" | "stopped" | "skipped" };

/** Of it, what says whether the tables have all that the service has. */
export type Proven = Pick<StreamRun, "service_rows" | "table_rows" | "difference" | "difference_reason">;

const { run_id: _run, company: _company, stream: _stream, recent: _recent, ...own } = stateTables.stream_runs.columns;

type Own = typeof own;
type Counter<By extends CountedBy> = {
  [Name in keyof Own]: Own[Name] extends { readonly counts: By } ? Name : never;
}[keyof Own];

const counters = <By extends CountedBy>(by: By) =>
  Object.entries<StateColumn>(own).flatMap(([name, { counts }]) => (counts === by ? [name as Counter<By>] : []));

export const PUBLISHING_COUNTERS = counters("publishing");

/** What adds up where several runs, or attempts at one, did a stream's work. `carried` does only where nothing was staged between them. */
export const COUNTERS = [...counters("reading"), ...PUBLISHING_COUNTERS];

/** The row of a stream that the run turns to. */
export function beginStreamRun(startedAt: string): StreamRun {
  const blank = Object.entries<StateColumn>(own).map(([name, { nullable }]) => [name, nullable ? null : 0]);
  return { ...(Object.fromEntries(blank) as StreamRun), status: "running", started_at: startedAt };
}

const EPOCH = "1970-01-01T00:00:00.000Z";

/** Begins a run's row, and closes those of runs that ended without saying so: nothing is held in their name any more. */
export async function beginRun(
  { db, holders }: Pick<Destination, "db" | "holders">,
  run: { run_id: string; command: string; started_at: string; version: string; process: string },
): Promise<void> {
  const lost = {
    status: "failed",
    error: "the run ended without saying so (killed, or the machine or the warehouse failed)",
  };
  const isEnded = sql<boolean>`run_id not in (select run_id from ${holders} h)`;
  for (const [table, young] of [
    ["runs", sql<boolean>`true`],
    ["stream_runs", sql<boolean>`recent`],
  ] as const) {
    await db
      .updateTable(table)
      .where(isEnded)
      .set({ ...lost, finished_at: run.started_at })
      .where("status", "=", "running")
      .where(young)
      .execute();
  }
  await db
    .insertInto("runs")
    .values({ ...run, status: "running", exit_code: null, finished_at: null, warnings: "[]", error: null })
    .execute();
}

export async function hasBegun(
  destination: Pick<Destination, "db" | "dialect" | "stateSchema">,
  runId: string,
): Promise<boolean> {
  if (!(await hasState(destination))) return false;
  return (await rowWith(destination.db, "runs", { run_id: runId })) !== undefined;
}

export async function endRun(
  db: Db,
  runId: string,
  end: {
    status: string;
    exit_code: number;
    finished_at: string;
    warnings: string;
    error: string | null;
    snapshot?: number | null;
  },
): Promise<void> {
  await db.updateTable("runs").set(end).where("run_id", "=", runId).execute();
}

/** Writes a stream's row of this run, whether or not it is there. */
export async function writeStreamRun(
  db: Db,
  runId: string,
  company: string,
  stream: string,
  row: StreamRun,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable("stream_runs")
    .set(row)
    .where(({ and }) => and({ run_id: runId, company, stream }))
    // No index tells DuckDB where it is, and recent rows are few.
    .where("recent", "=", true)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) await insertStreamRun(db, runId, company, stream, row);
}

export async function insertStreamRun(
  db: Db,
  runId: string,
  company: string,
  stream: string,
  row: StreamRun,
): Promise<void> {
  await db
    .insertInto("stream_runs")
    .values({ run_id: runId, company, stream, ...row, recent: true })
    .execute();
}

/** What a run's streams did, as far as the destination knows. */
export async function streamRunsOf(db: Db, runId: string) {
  return db.selectFrom("stream_runs").selectAll().where("run_id", "=", runId).execute();
}

/** Of a stream's runs those that are shown; the row of each that is marked `recent`. */
export const RECENT_RUNS = 30;

/** `run_id`, `company`, `stream` of the last runs that worked on each stream, among those that fulfil a condition. */
export const lastOfEachStream = (stateSchema: string, among: Fragment): Fragment => sql`
  select run_id, company, stream from (
    select run_id, company, stream,
      row_number() over (partition by company, stream order by started_at desc, run_id desc) as nth
    from ${sql.id(stateSchema, "stream_runs")} where status not in ('running', 'skipped') and ${among}
  ) ranked where nth <= ${sql.lit(RECENT_RUNS)}`;

export const recentRuns = (stateSchema: string): Fragment => sql`
  (select * from ${sql.id(stateSchema, "stream_runs")} where status not in ('running', 'skipped') and recent)`;

/** Of each stream what it did when it was last worked on, by any run but `except`. */
export async function lastStreamRuns(
  place: Pick<Destination, "db" | "stateSchema">,
  except = "",
): Promise<
  readonly (Pick<StreamRun, "status" | "rejected" | "problems" | "error" | "requests" | "inserted" | "rows_read"> &
    Partial<Proven> & { run_id: string; company: string; stream: string })[]
> {
  const { rows } = await sql<Awaited<ReturnType<typeof lastStreamRuns>>[number]>`
    select * from (
      select r.*, row_number() over (partition by company, stream order by started_at desc, run_id desc) as nth
      from ${recentRuns(place.stateSchema)} r where run_id <> ${except}
    ) ranked where nth = 1`.execute(place.db);
  return rows;
}

/** Requests of all runs that worked on a stream in a UTC day, by company. */
export async function requestsOfDay(
  destination: Pick<Destination, "db" | "dialect" | "stateSchema">,
  day: Date,
): Promise<ReadonlyMap<string, number>> {
  if (!(await hasState(destination))) return new Map();
  const rows = await destination.db
    .selectFrom("stream_runs")
    .select(({ fn }) => ["company", fn.sum<number>("requests").as("requests")])
    .where("started_at", ">=", sql<Date>`cast(${`${day.toISOString().slice(0, 10)}T00:00:00Z`} as timestamptz)`)
    .groupBy("company")
    .execute();
  return new Map(rows.map(({ company, requests }) => [company, Number(requests)]));
}

export async function loadStreamState(db: Db, company: string, stream: string): Promise<StreamState> {
  return readStreamState((await rowWith(db, "stream_state", { company, stream }))?.state);
}

/** The states of streams, of all companies; in no order. */
export async function streamStatesOf(
  db: Db,
  streams: readonly string[],
): Promise<readonly { readonly company: string; readonly stream: string; readonly state: StreamState }[]> {
  const rows = await db
    .selectFrom("stream_state")
    .select(["company", "stream", "state"])
    .where("stream", "in", streams)
    .execute();
  return rows.map(row => ({ ...row, state: readStreamState(row.state) }));
}

/** When a stream was last changed by a publish, ms since 1970. */
export const lastPublish = ({ lastMoment }: StreamState): number => Date.parse(lastMoment ?? EPOCH);

export async function saveStreamState(
  db: Db,
  company: string,
  stream: string,
  state: StreamState,
  now: string,
): Promise<void> {
  await putRow(db, "stream_state", { company, stream, state: storedStreamState(state), updated_at: now });
}

/** What the last run of that command warned of which has come to an end. */
export async function warningsOfLastRun(db: Db, command: string): Promise<readonly Message[]> {
  const last = await db
    .selectFrom("runs")
    .select("warnings")
    .where("command", "=", command)
    .where("status", "<>", "running")
    .orderBy("started_at", "desc")
    .orderBy("run_id", "desc")
    .limit(1)
    .executeTakeFirst();
  return storedMessages(last?.warnings);
}

export const storedMessages = (stored: unknown): readonly Message[] => (stored ?? []) as readonly Message[];

export async function runBefore(
  db: Db,
  runId: string,
): Promise<{ readonly status: string; readonly warnings: unknown } | undefined> {
  return db
    .selectFrom("runs")
    .select(["status", "warnings"])
    .where("run_id", "<>", runId)
    .orderBy("started_at", "desc")
    .orderBy("run_id", "desc")
    .limit(1)
    .executeTakeFirst();
}
