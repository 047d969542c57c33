import type { Session } from "../postgres/session.ts";

/*
 * One host at a time writes to a lake. A process that stands still, or a machine that is cut off, would keep all others out for
 * as long as the catalog's server keeps its sessions: who holds the lock shows signs of life, and who waits looks for them.
 */

const SIGN_MS = 5_000;
/** A holder without a sign for so long stands still. */
const STILL_S = 30;

/** Sends a statement that waits for the lock; meanwhile `beside` ends the sessions of a holder that stands still. */
export async function waitForLock(session: Session, beside: Session, statement: string, key: string): Promise<void> {
  let looking: Promise<void> | undefined;
  const look = () => {
    // `beside` may be busy for longer than that.
    looking ??= endStill(beside, key).finally(() => (looking = undefined));
  };
  const timer = setInterval(look, SIGN_MS).unref();
  try {
    await session.query(statement, [key]);
  } finally {
    clearInterval(timer);
  }
}

/** Shows signs of life on the session that holds the lock; answers how to end them. */
export function showLife(session: Session): () => void {
  const timer = setInterval(() => void session.query("select 1").catch(() => undefined), SIGN_MS).unref();
  return () => clearInterval(timer);
}

/** With the lock's session go the others of its process, DuckLake's own among them: what they have not committed is gone. */
async function endStill(beside: Session, key: string): Promise<void> {
  await beside.turn(() => beside.query(END_STILL, [key])).catch(() => undefined);
}

/** The name of each session of a process ends with the same mark. */
const END_STILL = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and right(application_name, 9) in (
    select right(application_name, 9) from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and a.datname = current_database()
      and l.database = a.datid and ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint
      and application_name ~ ' [0-9a-f]{8}$'
      and state like 'idle%' and state_change < clock_timestamp() - interval '${STILL_S} s')`;
