import { type Insertable, sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import { FURTHER, REPLACED } from "../../rows/reject.ts";
import type { Db } from "../database.ts";
import type { Destination, Stage } from "../destination.ts";
import { liveParents, type Parents } from "../details/parents.ts";
import { equal, rowStateRef } from "../sql_fragments.ts";
import type { StateTables } from "../state_tables.ts";

export interface RejectsOf {
  readonly company: string;
  readonly stream: string;
}

/** A row that could not be stored, as it is kept. */
export interface KeptReject {
  /** The same row again has the same. */
  readonly digest: string;
  /** JSON, every digit as it was kept. */
  readonly raw: string;
  /** JSON of {context, page, escaped}. */
  readonly context: string;
  readonly seenAt: Date;
}

export type NewReject = Omit<Insertable<StateTables["rejects"]>, "first_seen_at" | "times" | "resolved_at">;

const CHUNK = 500;

/** Keeps rows that could not be stored, as the service sent them: a row that is known already is one line, seen once more. */
export async function saveRejects(
  { db }: Pick<Destination, "db">,
  of: RejectsOf,
  rejects: readonly NewReject[],
): Promise<void> {
  await db.transaction().execute(async trx => {
    for (let i = 0; i < rejects.length; i += CHUNK) {
      const some = rejects.slice(i, i + CHUNK);
      const digests = some.map(({ digest }) => digest);
      const before = await trx
        .selectFrom("rejects")
        .select(["digest", "run_id", "scan", "first_seen_at", "times", "rows"])
        .where(builder => builder.and({ ...of }))
        .where("digest", "in", digests)
        .execute();
      if (before.length > 0)
        await trx
          .deleteFrom("rejects")
          .where(builder => builder.and({ ...of }))
          .where("digest", "in", digests)
          .execute();
      const known = new Map(before.map(row => [row.digest, row]));
      const values = some.map(row => {
        const was = known.get(row.digest);
        return {
          ...row,
          first_seen_at: was?.first_seen_at.toISOString() ?? row.seen_at,
          times: was === undefined ? 1 : was.times + (was.run_id === row.run_id ? 0 : 1),
          // The batches of a scan add up.
          rows: row.rows + (was?.scan === row.scan ? (was?.rows ?? 0) : 0),
          resolved_at: null,
        };
      });
      await trx.insertInto("rejects").values(values).execute();
    }
  });
}

export interface Shown {
  readonly stage: Stage;
  readonly scan: string;
  /** The scan showed every row that the stream has. */
  readonly whole: boolean;
  /** Details: what they are asked for, and whether those that answered 404 have none. */
  readonly answers: { readonly parents: Parents; readonly absent: boolean } | undefined;
}

/** Rejects that were not met again where they would have been are resolved. */
export async function resolveUnseen(
  trx: Db,
  destination: Destination,
  of: RejectsOf,
  { stage, scan, whole, answers }: Shown,
  now: string,
): Promise<void> {
  if (!whole && answers === undefined) return;
  const rejects = sql.id(destination.stateSchema, "rejects");
  const unseen = sql`company = ${of.company} and stream = ${of.stream} and resolved_at is null
    and scan is distinct from ${scan}`;
  // A look at the parents costs more than the whole of most publishes.
  if ((await sql`select 1 from ${rejects} where ${unseen} limit 1`.execute(trx)).rows.length === 0) return;
  const answered = () => {
    const outcomes = answers!.absent ? sql`outcome in ('ok', 'absent')` : sql`outcome = 'ok'`;
    return sql` and (parent_key in (select parent_key from ${stage.outcomes()} o where ${outcomes})
      or parent_key not in (select parent_key from ${liveParents(destination, of.company, answers!.parents)} p))`;
  };
  await sql`update ${rejects} set resolved_at = cast(${now} as timestamptz)
    where ${unseen}${whole ? sql`` : answered()}`.execute(trx);
}

export async function openRejects({ db }: Pick<Destination, "db">) {
  return db
    .selectFrom("rejects")
    .select(({ fn }) => ["company", "stream", fn.sum("rows").as("rows")])
    .where("resolved_at", "is", null)
    .groupBy(["company", "stream"])
    .execute();
}

/** Whether an answer of a scan had different rows under one key. */
export async function hasReplaced({ db }: Destination, of: RejectsOf, scan: string): Promise<boolean> {
  const rows = db.selectFrom("rejects").select("digest");
  const found = rows.where(({ and }) => and({ ...of, scan, reason: REPLACED }));
  return (await found.limit(1).execute()).length > 0;
}

/** Open rejects that can be tried again after the first `skipped`, newest first, at most `limit`: no examples of many, no row whose key another has. */
export async function rejectsAfter(
  { db, stateSchema }: Destination,
  { company, stream }: RejectsOf,
  skipped: number,
  limit: number,
): Promise<readonly KeptReject[]> {
  const { rows } = await sql<{ digest: string; raw: string; context: string; seen_at: Date }>`
    select digest, cast(raw as varchar) as raw, cast(context as varchar) as context, seen_at
    from ${sql.id(stateSchema, "rejects")} where company = ${company} and stream = ${stream}
      and resolved_at is null and digest not like ${`${FURTHER}%`} and reason <> ${REPLACED}
    order by seen_at desc, digest limit ${sql.lit(limit)} offset ${sql.lit(skipped)}`.execute(db);
  return rows.map(({ seen_at, ...row }) => ({ ...row, seenAt: seen_at }));
}

/** Whether a run kept a reject that none before it kept. */
export async function keptNewRejects({ db }: Destination, runId: string): Promise<boolean> {
  const found = await db
    .selectFrom("rejects")
    .select("digest")
    .where(({ and }) => and({ run_id: runId, times: 1 }))
    .limit(1)
    .execute();
  return found.length > 0;
}

export async function resolveRejects(db: Db, of: RejectsOf, digests: readonly string[], now: string): Promise<void> {
  for (let i = 0; i < digests.length; i += CHUNK)
    await db
      .updateTable("rejects")
      .set({ resolved_at: now })
      .where(builder => builder.and({ ...of }))
      .where("digest", "in", digests.slice(i, i + CHUNK))
      .execute();
}

/** What was rewritten must not be told by a digest of its former values. An example's is of its reason alone. */
export async function forgetDigests(db: Db, stream: string): Promise<void> {
  const digest = sql<string>`cast(gen_random_uuid() as varchar)`;
  const rows = db.updateTable("rejects").where("stream", "=", stream).where("digest", "not like", `${FURTHER}%`);
  await rows.set({ digest }).execute();
}

/** The staged rows whose key the tables know already, and when it was deleted; null: it is live. */
export async function knownAmong(
  destination: Destination,
  company: string,
  { main }: TableSet,
  stage: Stage,
): Promise<ReadonlyMap<number, Date | null>> {
  const { rows } = await sql<{ seq: number; deleted_at: Date | null }>`select k._seq as seq, l.deleted_at
    from ${stage.keys()} k join ${rowStateRef(destination, main)} l
      on l._company = ${company} and ${equal("l", "k", main.key)}`.execute(destination.db);
  return new Map(rows.map(row => [Number(row.seq), row.deleted_at]));
}
