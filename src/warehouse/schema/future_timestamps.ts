import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import type { Db, Fragment } from "../database.ts";
import { readCatalog } from "../ddl/database_catalog.ts";
import { shapesOf } from "../ddl/shape.ts";
import type { Destination } from "../destination.ts";
import type { Dialect } from "../dialect.ts";
import { saveStreamState } from "../state/run_log.ts";
import { readStreamState, type StreamState } from "../state/stream_state.ts";

/** Streams of one company whose locks are held, and what time it is; ms since 1970. */
export interface FutureOrder {
  readonly company: string;
  readonly streams: readonly { readonly name: string; readonly tables: TableSet }[];
  readonly now: number;
  /** What lies after it is in the future. */
  readonly future: number;
}

/**
 * Mends what a run wrote whose clock was ahead: timestamps that lie in the future become the present one, each a millisecond
 * after the one before it, so that the order of publishes and versions stays. One transaction. Answers which streams it was,
 * and the first of the new timestamps (ISO 8601); undefined where nothing lies in the future.
 */
export async function mendFutureTimestamps(
  destination: Destination,
  order: FutureOrder,
): Promise<{ readonly streams: readonly string[]; readonly from: string } | undefined> {
  if ((await lastPublishes(destination.db, order)).every(({ at }) => at <= order.future)) return undefined;
  return destination.withRoom("write", () =>
    destination.db.transaction().execute(async trx => {
      const places = await timestampsOf(trx, destination, order);
      const after = new Date(order.future).toISOString();
      const found = new Set<number>();
      for (const { table, column, where } of places) {
        const { rows } = await sql<{ at: Date }>`select distinct ${sql.id(column)} as at from ${table}
          where ${where} and ${sql.id(column)} > cast(${after} as timestamptz)`.execute(trx);
        for (const { at } of rows) found.add(at.getTime());
      }
      const states = await lastPublishes(trx, order);
      for (const { at } of states) if (at > order.future) found.add(at);
      // Present ones may be a minute ahead, too: what is mended comes after them.
      const last = states.map(({ at }) => at).filter(at => at <= order.future);
      const from = Math.max(order.now, ...last.map(at => at + 1));
      const mended = new Map([...found].sort((a, b) => a - b).map((at, index) => [at, from + index]));
      const pairs = sql.join([...mended].map(([old, now]) => sql`(${timestamp(old)}, ${timestamp(now)})`));
      for (const { table, column, where } of places)
        await sql`update ${table} set ${sql.id(column)} = m.now from (values ${pairs}) m(old, now)
          where ${where} and ${sql.id(column)} = m.old`.execute(trx);
      const streams = states.filter(({ at }) => at > order.future);
      for (const { stream, state, at } of streams) {
        const lastMoment = new Date(mended.get(at)!).toISOString();
        await saveStreamState(trx, order.company, stream, { ...state, lastMoment }, lastMoment);
      }
      return { streams: streams.map(({ stream }) => stream), from: new Date(from).toISOString() };
    }),
  );
}

/** What time it is (ms since 1970) by the database server's clock; undefined where the database has none but ours. */
export async function serverTime(db: Db, { serverTime: now }: Dialect): Promise<number | undefined> {
  if (now === undefined) return undefined;
  const { rows } = await sql<{ now: Date }>`select ${now} as now`.execute(db);
  return rows[0]?.now.getTime();
}

const timestamp = (at: number): Fragment => sql`cast(${new Date(at).toISOString()} as timestamptz)`;

async function lastPublishes(
  db: Db,
  { company, streams }: FutureOrder,
): Promise<readonly { readonly stream: string; readonly state: StreamState; readonly at: number }[]> {
  const names = new Set(streams.map(({ name }) => name));
  const rows = await db.selectFrom("stream_state").select(["stream", "state"]).where("company", "=", company).execute();
  return rows.flatMap(({ stream, state: stored }) => {
    const state = readStreamState(stored);
    return state.lastMoment === null || !names.has(stream) ? [] : [{ stream, state, at: Date.parse(state.lastMoment) }];
  });
}

interface Timestamps {
  readonly table: Fragment;
  readonly column: string;
  readonly where: Fragment;
}

/** The columns in which the streams' timestamps stand, as far as their tables are there. */
async function timestampsOf(
  db: Db,
  { dialect, schema, stateSchema }: Destination,
  { company, streams }: FutureOrder,
): Promise<readonly Timestamps[]> {
  const { tables } = await readCatalog(db, dialect, [schema, stateSchema]);
  const type = dialect.columnType("moment");
  const shapes = streams.flatMap(stream =>
    shapesOf(dialect, { schema, stateSchema }, stream.tables, () => "", true).filter(shape =>
      tables.has(`${shape.schema}.${shape.name}`),
    ),
  );
  const own = shapes.flatMap(shape =>
    shape.columns
      .filter(column => column.of === undefined && column.type === type)
      .map(({ name }) => ({
        table: sql`${sql.id(shape.schema, shape.name)}`,
        column: name,
        where: sql`_company = ${company}`,
      })),
  );
  // Not those of the details' states: when these were fetched nobody knows, so they are fetched again.
  const names = sql.join(streams.map(({ name }) => name));
  const where = sql`company = ${company} and stream in (${names})`;
  const kept = ["kept_from", "kept_to"].map(column => ({
    table: sql`${sql.id(stateSchema, "history")}`,
    column,
    where,
  }));
  return [...own, ...kept];
}
