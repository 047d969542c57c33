import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import type { Destination, Stage } from "../destination.ts";
import { equal, ledgerRef } from "../sql_fragments.ts";

/** Whose rejects. */
export interface RejectsOf {
  readonly company: string;
  readonly stream: string;
}

/** A row that could not be stored, as it is kept. */
export interface KeptReject {
  /** Of the row and what came beside it: the same row again has the same. */
  readonly digest: string;
  /** JSON, every digit as it was kept. */
  readonly raw: string;
  /** JSON of {context, page, escaped}; null: an older version kept it. */
  readonly context: string | null;
  readonly seenAt: Date;
}

const digest = sql`md5(concat(cast(raw as varchar), chr(31), coalesce(cast(context as varchar), '')))`;

/** Of the same row the last one stays: a night that meets it again keeps it again. */
export async function dropRepeatedRejects(
  { db, dialect, stateSchema }: Destination,
  { company, stream }: RejectsOf,
): Promise<void> {
  const rejects = sql.id(stateSchema, "rejects");
  const place = sql.raw(dialect.name === "postgres" ? "ctid" : "rowid");
  await db.transaction().execute(async trx => {
    await sql`delete from ${rejects} where company = ${company} and stream = ${stream} and ${place} in (
      select place from (select ${place} as place, row_number() over (partition by ${digest} order by seen_at desc) as nth
        from ${rejects} where company = ${company} and stream = ${stream}) r where nth > 1)`.execute(trx);
  });
}

/** Rejects after the first `skipped`, newest first, at most `limit`. */
export async function rejectsAfter(
  { db, stateSchema }: Destination,
  { company, stream }: RejectsOf,
  skipped: number,
  limit: number,
): Promise<readonly KeptReject[]> {
  const { rows } = await sql<{ digest: string; raw: string; context: string | null; seen_at: Date }>`
    select ${digest} as digest, cast(raw as varchar) as raw, cast(context as varchar) as context, seen_at
    from ${sql.id(stateSchema, "rejects")} where company = ${company} and stream = ${stream}
    order by seen_at desc, digest limit ${sql.lit(limit)} offset ${sql.lit(skipped)}`.execute(db);
  return rows.map(({ seen_at, ...row }) => ({ ...row, seenAt: seen_at }));
}

/** Whether a run kept a reject that none before it kept. */
export async function keptNewRejects({ db, stateSchema }: Destination, runId: string): Promise<boolean> {
  const rejects = sql.id(stateSchema, "rejects");
  const kept = (which: typeof digest) => sql`select company, stream, ${digest} from ${rejects} where run_id ${which}`;
  const { rows } = await sql`${kept(sql`= ${runId}`)} except ${kept(sql`<> ${runId}`)} limit 1`.execute(db);
  return rows.length > 0;
}

const CHUNK = 500;

/** Removes rejects that are settled. */
export async function closeRejects(
  { stateSchema }: Pick<Destination, "stateSchema">,
  db: Destination["db"],
  { company, stream }: RejectsOf,
  digests: readonly string[],
): Promise<void> {
  for (let i = 0; i < digests.length; i += CHUNK) {
    const some = sql.join(digests.slice(i, i + CHUNK));
    await sql`delete from ${sql.id(stateSchema, "rejects")}
      where company = ${company} and stream = ${stream} and ${digest} in (${some})`.execute(db);
  }
}

/** The staged rows whose key the tables know already, and when it was deleted; null: it is live. */
export async function knownAmong(
  destination: Destination,
  company: string,
  { main }: TableSet,
  stage: Stage,
): Promise<ReadonlyMap<number, Date | null>> {
  const { rows } = await sql<{ seq: number; deleted_at: Date | null }>`select k._seq as seq, l.deleted_at
    from ${stage.keys()} k join ${ledgerRef(destination, main)} l
      on l._company = ${company} and ${equal("l", "k", main.key)}`.execute(destination.db);
  return new Map(rows.map(row => [Number(row.seq), row.deleted_at]));
}
