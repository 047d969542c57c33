import { type Kysely, sql } from "kysely";
import type { StateTables } from "../state_tables.ts";

const GLANCES = 20;

/**
 * Who may still see what the rows were before privacy changed them: VACUUM FULL copies such versions. A sentence, or undefined
 * for nobody. Waits 10 s for those who are about to end.
 */
export async function stillSeen(db: Kysely<StateTables>, stateSchema: string): Promise<string | undefined> {
  for (let glance = 1; ; glance++) {
    const seers = await seersIn(db, stateSchema);
    if (seers.length === 0) return undefined;
    if (glance === GLANCES)
      return `privacy: expected nobody to see any more what treated columns held before, but ${seers.join(", ")} began before that was rewritten, so PostgreSQL keeps it in the tables' files (${stateSchema}.privacy.cleaned_at stays NULL). The first run after the end of it removes it.`;
    await sql`select pg_sleep(0.5)`.execute(db);
  }
}

/** The record was written with the rows: whoever has a transaction of no later number sees them as they were. */
async function seersIn(db: Kysely<StateTables>, stateSchema: string): Promise<readonly string[]> {
  // Of other databases only transactions with a number count: VACUUM FULL itself takes a snapshot, which minds them.
  const { rows } = await sql<{ who: string }>`
    with change as (select min(age(xmin)) as age from ${sql.id(stateSchema, "privacy")} where cleaned_at is null),
    seers as (
      select format('session %s of %s', pid, coalesce(usename, 'the server')) as who, greatest(age(backend_xid),
        case when datid is null or datname = current_database() then age(backend_xmin) end) as age
      from pg_stat_activity where pid <> pg_backend_pid()
      union all select format('prepared transaction %s', gid), age(transaction) from pg_prepared_xacts
      union all select format('replication slot %s', slot_name), age(xmin) from pg_replication_slots)
    select who from seers join change on seers.age >= change.age order by who limit 5`.execute(db);
  return rows.map(({ who }) => who);
}
