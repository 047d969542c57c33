import { sql } from "kysely";
import type { Fragment, Trx } from "../database.ts";
import type { Destination } from "../destination.ts";
import type { StateTables } from "../state_tables.ts";
import { lastOfEachStream } from "./run_log.ts";

/** Rows that a transaction removes, and transactions of a run: what is left is the next run's. */
export const SLICE = 20_000;
const MOST_SLICES = 100;

/** Removes what is kept of old work, at the end of a run. The last rows of each stream stay, whatever their age: they say how it is. */
export async function pruneRecords(destination: Destination, retentionMs: number, now: number): Promise<void> {
  const { db, dialect } = destination;
  await keepRecent(destination);
  const state = (name: keyof StateTables) => sql.id(destination.stateSchema, name);
  const before = sql`cast(${new Date(now - retentionMs).toISOString()} as timestamptz)`;
  const checked = sql`checked_at < ${before}`;
  const old: readonly (readonly [keyof StateTables, Fragment])[] = [
    ["stream_runs", sql`started_at < ${before} and recent is null`],
    [
      "runs",
      sql`started_at < ${before} and status <> 'running'
        and run_id not in (select run_id from ${state("stream_runs")} where recent)`,
    ],
    ["rejects", sql`resolved_at < ${before}`],
    ["problems", sql`"rows" = 0 and last_seen_at < ${before}`],
    ["verification_differences", sql`run_id in (select run_id from ${state("verifications")} where ${checked})`],
    // The last one of a verification goes after what it found.
    ["verifications", sql`${checked} and run_id not in (select run_id from ${state("verification_differences")})`],
  ];
  const place = sql.raw(dialect.rowPlace);
  const removeSome = async (trx: Trx) => {
    let left = SLICE;
    for (const [name, isOld] of old) {
      if (left === 0) break;
      const { numAffectedRows } = await sql`delete from ${state(name)} where ${place} in
        (select ${place} from ${state(name)} where ${isOld} limit ${sql.lit(left)})`.execute(trx);
      left -= Number(numAffectedRows ?? 0n);
    }
    return left;
  };
  for (let slice = 0; slice < MOST_SLICES; slice++) if ((await db.transaction().execute(removeSome)) > 0) return;
}

/** Keeps the mark `recent` on the last rows of each stream, once the run is over that brought others. */
async function keepRecent({ db, stateSchema }: Destination): Promise<void> {
  await sql`update ${sql.id(stateSchema, "stream_runs")} r set recent = null
    where recent and status <> 'running'
      and run_id in (select run_id from ${sql.id(stateSchema, "runs")} where status <> 'running')
      and not exists (select 1 from (${lastOfEachStream(stateSchema, sql`recent`)}) l
        where l.run_id = r.run_id and l.company = r.company and l.stream = r.stream)`.execute(db);
}
