import { type Selectable, sql } from "kysely";
import type { Destination } from "../destination.ts";
import { type Written, written } from "../state_columns.ts";
import type { StateTables } from "../state_tables.ts";

/** What the state tables know of one stream of a company. Moments are ISO 8601; examples are as they were stored, privacy applied. */
export interface StreamRecord {
  /** Values that rows lack now, by column and reason, the most rows first. */
  readonly problems: readonly Written<Selectable<StateTables["problems"]>>[];
  /** How the service's rows differ from its documents, last seen first. */
  readonly changes: readonly Written<Selectable<StateTables["schema_changes"]>>[];
  /** What runs did to its tables' shape, the youngest first. */
  readonly shaped: readonly Written<Selectable<StateTables["table_changes"]>>[];
  /** Of its details why they were asked for last, the most first; empty for a stream without, and where it was not noted. */
  readonly asked: readonly AskedDetails[];
}

export interface AskedDetails {
  readonly why: string;
  readonly details: number;
  /** Those that the last run asked for. */
  readonly last: number;
  /** Those whose answer differed from the one before. */
  readonly found: number;
  /** Those that the service has none for. */
  readonly absent: number;
  readonly failed: number;
}

export async function streamRecordOf(
  place: Pick<Destination, "db" | "stateSchema">,
  company: string,
  stream: string,
): Promise<StreamRecord> {
  const { db } = place;
  const own = sql<boolean>`company = ${company} and stream = ${stream}`;
  const problems = await db
    .selectFrom("problems")
    .selectAll()
    .where(own)
    .where("rows", ">", 0)
    .orderBy("rows", "desc")
    .orderBy("column_name")
    .execute();
  const changes = await db
    .selectFrom("schema_changes")
    .selectAll()
    .where(own)
    .orderBy("last_seen_at", "desc")
    .orderBy("column_name")
    .execute();
  const shaped = await db
    .selectFrom("table_changes")
    .selectAll()
    .where("stream", "=", stream)
    .orderBy("changed_at", "desc")
    .orderBy("table_name")
    .orderBy("change")
    .execute();
  return {
    problems: problems.map(row => ({ ...written(row), rows: Number(row.rows) })),
    changes: changes.map(row => ({ ...written(row), count: Number(row.count) })),
    shaped: shaped.map(written),
    asked: await askedDetails(place, company, stream),
  };
}

async function askedDetails(
  { db, stateSchema }: Pick<Destination, "db" | "stateSchema">,
  company: string,
  stream: string,
): Promise<readonly AskedDetails[]> {
  const own = sql`company = ${company} and stream = ${stream}`;
  const { rows } = await sql<Record<Exclude<keyof AskedDetails, "why">, unknown> & { why: string }>`
    select why, count(*) as details, count(*) filter (where fetched_at >= (
        select max(started_at) from ${sql.id(stateSchema, "stream_runs")}
        where ${own} and status not in ('running', 'skipped'))) as last,
      count(*) filter (where found) as found, count(*) filter (where outcome = 'absent') as absent,
      count(*) filter (where outcome = 'failed') as failed
    from ${sql.id(stateSchema, "details")} where ${own} and why is not null group by why order by 2 desc, 1`.execute(
    db,
  );
  return rows.map(({ why, details, last, found, absent, failed }) => ({
    ...{ why, details: Number(details), last: Number(last), found: Number(found) },
    ...{ absent: Number(absent), failed: Number(failed) },
  }));
}
