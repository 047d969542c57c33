import { type Kysely, sql } from "kysely";
import { type Clock, withTimeLimit } from "../../clock.ts";
import { DestinationError } from "../../errors.ts";
import type { SharedTables } from "../shared_tables.ts";
import { ensureSharedState } from "../state/state_ddl.ts";
import { connect, type Place } from "./connect.ts";
import { postgresDialect } from "./dialect.ts";
import { kyselyOver } from "./driver.ts";
import { lockKey } from "./locks.ts";
import { postgresMessages } from "./messages.ts";
import { Session } from "./session.ts";

/** Statements that take longer are given up, with their connection: it may be one that leads nowhere any more. */
const ANSWER_MS = 5_000;
const REST_MS = 500;

export interface SharedStateSettings extends Place {
  readonly clock: Clock;
  /** Makes nothing and changes nothing: for a role that may only read. */
  readonly readsOnly?: boolean;
}

/** What a worker tells of itself. `doing` is JSON. */
export interface Heartbeat {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly draining: boolean;
  readonly doing: unknown;
  readonly isStopped: boolean;
}

/** Times are by the server's clock; `ageMs` is how long ago it was seen. */
export interface SeenWorker extends Omit<Heartbeat, "isStopped"> {
  readonly started_at: Date;
  readonly seen_at: Date;
  readonly stopped_at: Date | null;
  readonly ageMs: number;
}

/** What worker processes share, over one connection that is made anew when it was lost. Everything rejects with a DestinationError meanwhile. */
export interface SharedState extends AsyncDisposable {
  /** Answers whether the worker is asked to leave when it is done with what it has. `now`: ms since the epoch by the server's clock. */
  beat(heartbeat: Heartbeat): Promise<{ readonly draining: boolean; readonly now: number }>;
  /** Those of `tables`, written `schema.name`, that are there, whether this role may read them or not. */
  present(tables: readonly string[]): Promise<ReadonlySet<string>>;
  /** By their names. */
  workers(): Promise<readonly SeenWorker[]>;
  /** Removes its row, and those of workers that said nothing for a day. */
  forget(id: string): Promise<void>;
  /** Asks workers to leave when they are done with what they have. */
  drain(ids: readonly string[]): Promise<void>;
  /** Whether this connection leads, until it is lost: of all that ask one does. */
  lead(): Promise<boolean>;
  /** Work that one process at a time does: of workers that are started together one makes tables. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** A statement as it is, or several without values. */
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  close(): Promise<void>;
}

/** Connects, and makes the tables where they are not there, unless it only reads. @throws DestinationError, ConfigError */
export async function openSharedState(settings: SharedStateSettings): Promise<SharedState> {
  const connection = new Connection(settings);
  await connection.use(async () => undefined);
  const close = () => connection.close();
  let led: Session | undefined;
  const now = sql<string>`clock_timestamp()`;
  return {
    beat: ({ isStopped, doing, ...worker }) =>
      connection.use(async db => {
        const row = { ...worker, doing: JSON.stringify(doing), seen_at: now, stopped_at: isStopped ? now : null };
        const isSame = sql<boolean>`workers.pid = excluded.pid and workers.host = excluded.host and workers.stopped_at is null`;
        return db
          .insertInto("workers")
          .values({ ...row, started_at: now })
          .onConflict(conflict =>
            conflict.column("id").doUpdateSet({
              ...row,
              started_at: sql<string>`case when ${isSame} then workers.started_at else excluded.started_at end`,
              draining: sql<boolean>`(${isSame} and workers.draining) or excluded.draining`,
            }),
          )
          .returning([
            "draining",
            sql<number>`extract(epoch from clock_timestamp())::double precision * 1000`.as("now"),
          ])
          .executeTakeFirstOrThrow();
      }),
    present: tables =>
      connection.use(async db => {
        const { rows } = await sql<{ name: string }>`select n.nspname || '.' || c.relname as name
          from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname || '.' || c.relname = any(${tables})`.execute(db);
        return new Set(rows.map(({ name }) => name));
      }),
    workers: () =>
      connection.use(async db => {
        const age = sql<number>`extract(epoch from clock_timestamp() - seen_at)::double precision * 1000`;
        return db.selectFrom("workers").selectAll().select(age.as("ageMs")).orderBy("id").execute();
      }),
    forget: id =>
      connection.use(async db => {
        const isGone = sql<boolean>`id = ${id} or seen_at < clock_timestamp() - interval '1 day'`;
        await db.deleteFrom("workers").where(isGone).execute();
      }),
    drain: ids =>
      connection.use(async db => {
        if (ids.length > 0) await db.updateTable("workers").set({ draining: true }).where("id", "in", ids).execute();
      }),
    lead: () =>
      connection.use(async (db, session) => {
        if (led === session) return true;
        const key = lockKey(settings.schema, settings.stateSchema, "", "leads");
        const { rows } = await sql<{ leads: boolean }>`select pg_try_advisory_lock(${key}::bigint) as leads`.execute(
          db,
        );
        if (rows[0]?.leads === true) led = session;
        return led === session;
      }),
    async alone(work) {
      const key = lockKey(settings.schema, settings.stateSchema, "", "makes");
      const lock = (takes: string) =>
        connection.use((_, session) => session.turn(() => session.query(`select ${takes}($1::bigint)`, [key])));
      await lock("pg_advisory_lock");
      try {
        return await work();
      } finally {
        await lock("pg_advisory_unlock").catch(() => undefined);
      }
    },
    query: (text, values) =>
      connection.use(async (_, session) => {
        const answer = await session.turn(async () => {
          try {
            return await session.query(text, values);
          } catch (error) {
            // Of several statements the first may have begun a transaction.
            await session.rollback();
            throw error;
          }
        });
        // Several statements have several answers.
        return Array.isArray(answer) ? (answer.at(-1) as typeof answer) : answer;
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Opened {
  readonly session: Session;
  readonly db: Kysely<SharedTables>;
}

class Connection {
  readonly #settings: SharedStateSettings;
  readonly #closed = new AbortController();
  #opening: Promise<Opened> | undefined;

  constructor(settings: SharedStateSettings) {
    this.#settings = { ...settings, lockWaitMs: ANSWER_MS };
  }

  /** One statement, or some. @throws DestinationError */
  async use<T>(work: (db: Kysely<SharedTables>, session: Session) => Promise<T>): Promise<T> {
    const { clock } = this.#settings;
    this.#closed.signal.throwIfAborted();
    this.#opening ??= this.#open();
    const opening = this.#opening;
    const { session, db } = await opening;
    try {
      const done = work(db, session).then(value => ({ value }));
      const answer = await withTimeLimit(clock, ANSWER_MS, done, undefined);
      if (answer !== undefined) return answer.value;
    } catch (error) {
      if (error instanceof DestinationError && error.passing) this.#drop(opening);
      throw error;
    }
    this.#drop(opening);
    const { host, port } = session.address;
    throw new DestinationError(
      postgresMessages.shared_state_silent({ host, port, wait_ms: ANSWER_MS }),
      undefined,
      true,
    );
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#closed.abort(new DestinationError(postgresMessages.shared_state_closed(), undefined, true));
    await opening?.then(
      ({ session }) => session.end(),
      () => undefined,
    );
  }

  async #open(): Promise<Opened> {
    const { clock, stateSchema, readsOnly = false } = this.#settings;
    try {
      const session = new Session(await connect(this.#settings, readsOnly ? "read" : "write", clock));
      const db = kyselyOver(session, stateSchema);
      if (!readsOnly)
        await ensureSharedState(db, postgresDialect, stateSchema).catch(async error => {
          await session.end();
          throw error;
        });
      return { session, db: db.withTables<SharedTables>() };
    } catch (error) {
      // Whoever asks meanwhile waits for the same failure.
      await clock.sleep(REST_MS, this.#closed.signal).catch(() => undefined);
      this.#opening = undefined;
      throw error;
    }
  }

  #drop(opening: Promise<Opened>): void {
    if (this.#opening !== opening) return;
    this.#opening = undefined;
    void opening.then(({ session }) => session.end());
  }
}
