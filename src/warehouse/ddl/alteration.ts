import { CompiledQuery, sql } from "kysely";
import type { Db, Fragment, Trx } from "../database.ts";
import type { Dialect } from "../dialect.ts";

const LOCK_TIMEOUT_MS = 5_000;
/** Where the session sets no limit to waits. */
const MINUTE_MS = 60_000;
const REST_MS = 500;
/** "tributary" in the keypad's digits: one alteration at a time in a database. */
const ALTERATION_KEY = 887_428_827;

/** A transaction that changes tables. PostgreSQL: waits for them as `patiently` does; other runs' alterations wait. */
export async function altering<T>(db: Db, dialect: Dialect, work: (trx: Trx) => Promise<T>): Promise<T> {
  if (!dialect.isServer) return db.transaction().execute(work);
  return patiently(db, timeoutMs =>
    db.transaction().execute(async trx => {
      await sql`set local lock_timeout = ${sql.lit(timeoutMs)}`.execute(trx);
      await sql`select pg_advisory_xact_lock(${sql.lit(ALTERATION_KEY)})`.execute(trx);
      return work(trx);
    }),
  );
}

/**
 * Work that wants a table of PostgreSQL's for itself, and waits at most five seconds for it, the lock_timeout it is given, so
 * that readers never queue behind it for longer: it is begun anew while the session's own lock_timeout lasts.
 */
export async function patiently<T>(db: Db, work: (timeoutMs: number) => Promise<T>): Promise<T> {
  const { rows } = await sql<{ wait: number }>`
    select setting::integer as wait from pg_catalog.pg_settings where name = 'lock_timeout'`.execute(db);
  const waitMs = rows[0]!.wait || MINUTE_MS;
  for (let leftMs = waitMs; ; leftMs -= LOCK_TIMEOUT_MS + REST_MS) {
    try {
      return await work(Math.min(LOCK_TIMEOUT_MS, waitMs));
    } catch (error) {
      if (leftMs <= LOCK_TIMEOUT_MS + REST_MS || !isLockFailure(error)) throw error;
      // The database sleeps for us: those who queued behind the attempt get their turn.
      await sql`select pg_sleep(${sql.lit(REST_MS / 1_000)})`.execute(db);
    }
  }
}

/** lock_not_available, serialization_failure or deadlock_detected, as it came or as a DestinationError's cause. */
export function isLockFailure(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("code" in at && ["55P03", "40001", "40P01"].includes(String(at.code))) return true;
  }
  return false;
}

/** New tables bring hundreds of comments: what takes no parameters goes to the database at once, a quarter of a new warehouse's time less. */
export async function executeAll(db: Db, statements: readonly Fragment[]): Promise<void> {
  let waiting: string[] = [];
  const send = async () => {
    if (waiting.length > 0) await db.executeQuery(CompiledQuery.raw(waiting.join(";\n")));
    waiting = [];
  };
  for (const statement of statements) {
    const compiled = statement.compile(db);
    if (compiled.parameters.length === 0) waiting.push(compiled.sql);
    else {
      await send();
      await db.executeQuery(compiled);
    }
  }
  await send();
}

/** One thing to do, with the sentence that says so (none for what goes without saying). */
export interface Step {
  readonly sentence?: string | undefined;
  readonly statements?: readonly Fragment[];
  /** What it does to rows, to be done after all statements: DuckDB refuses a table that is altered after its rows were. */
  readonly onRows?: readonly Fragment[];
  /** The table that it changes, of the stream's own. */
  readonly table?: { readonly stream: string; readonly name: string };
}
