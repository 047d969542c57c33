import { sql } from "kysely";
import type { Db } from "../database.ts";
import type { Named } from "../dialect.ts";
import { factOf, keepFact } from "../state/facts.ts";
import { catalogOf, LAKE, type LakePlace } from "./place.ts";

/** So many rows that are still in the catalog are written to a file. Reading them costs more than a file does. */
const INLINED_ROWS = 2_000;
/** So many files are merged into one, when each is smaller than this. */
const SMALL_FILES = 8;
const SMALL_BYTES = 16e6;
/** A table of which so much is deleted is written anew without it. Readers skip what is deleted row by row until then. */
const DELETED_SHARE = 0.1;
const DELETED_ROWS = 1_000;
const DELETE_FILES = 8;
/** A file that no snapshot needs any more is kept for this long: a query that began before may still read it. */
const GRACE_MS = 2 * 86_400_000;
/** Snapshots are looked through for old ones this often. */
const EXPIRED_EVERY_MS = 86_400_000;

interface Piled {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly rows: number;
  readonly small_files: number;
  readonly deleted: number;
  readonly delete_files: number;
  readonly inlined: readonly string[];
}

type IsEnding = () => boolean;

/**
 * Flushes, rewrites and merges what has piled up in these tables, one after another, each in a transaction of its own: other
 * writers have their turn between two. Never changes what the tables say.
 */
export async function tendTables(
  db: Db,
  place: LakePlace,
  tables: readonly Named[],
  isEnding: IsEnding,
): Promise<void> {
  for (const { schema, name, due } of await dueTables(db, place, tables)) {
    if (isEnding()) break;
    const own = sql`${sql.lit(LAKE)}, ${sql.lit(name)}, "schema" => ${sql.lit(schema)}`;
    if (due.flush) await flush(db, { schema, name });
    if (due.rewrite) await sql`call ducklake_rewrite_data_files(${own}, delete_threshold => 0)`.execute(db);
    if (due.merge) await sql`call ducklake_merge_adjacent_files(${own})`.execute(db);
  }
}

/** Those of the tables, or of all, that have piled up enough, and of what. */
async function dueTables(db: Db, place: LakePlace, tables: readonly Named[] | undefined) {
  const piled = await piledUp(db, place, tables);
  const inlined = await inlinedRows(db, place, piled);
  return piled.flatMap(({ id, schema, name, rows, small_files, deleted, delete_files }) => {
    const isHollow = deleted >= Math.max(DELETED_ROWS, DELETED_SHARE * rows);
    const due = {
      flush: (inlined.get(id) ?? 0) >= INLINED_ROWS,
      rewrite: isHollow || delete_files >= DELETE_FILES,
      merge: small_files >= SMALL_FILES,
    };
    return due.flush || due.rewrite || due.merge ? [{ schema, name, due }] : [];
  });
}

/** What a lake is made of, and how its maintenance stands. Moments are ISO 8601. */
export interface LakeCondition {
  /** Of the present snapshot. */
  readonly files: number;
  readonly bytes: number;
  readonly snapshots: number;
  readonly oldest_snapshot_at: string | null;
  /** Files that no snapshot needs, which are removed two days later. */
  readonly files_to_remove: number;
  /** Tables of which the next publish, or the end of the next run, puts files together. */
  readonly tables_due: number;
  readonly expired_at: string | null;
}

export async function conditionOf(db: Db, place: LakePlace): Promise<LakeCondition> {
  const of = (name: string) => sql.id(...catalogOf(place), name);
  const { rows } = await sql<Omit<LakeCondition, "tables_due" | "expired_at">>`
    select (select count(*) from ${of("ducklake_data_file")} where end_snapshot is null) as files,
      (select coalesce(sum(file_size_bytes), 0) from ${of("ducklake_data_file")} where end_snapshot is null) as bytes,
      (select count(*) from ${of("ducklake_snapshot")}) as snapshots,
      (select strftime(min(snapshot_time)::timestamptz::timestamp, '%Y-%m-%dT%H:%M:%S.%gZ') from ${of("ducklake_snapshot")}) as oldest_snapshot_at,
      (select count(*) from ${of("ducklake_files_scheduled_for_deletion")}) as files_to_remove`.execute(db);
  const expiredAt = await factOf(db, EXPIRED);
  return {
    ...rows[0]!,
    bytes: Number(rows[0]!.bytes),
    tables_due: (await dueTables(db, place, undefined)).length,
    expired_at: typeof expiredAt === "string" ? expiredAt : null,
  };
}

/** Puts what the catalog has of a table's rows into a file. */
async function flush(db: Db, { schema, name }: Named): Promise<void> {
  const table = sql`schema_name => ${sql.lit(schema)}, table_name => ${sql.lit(name)}`;
  await sql`call ducklake_flush_inlined_data(${sql.lit(LAKE)}, ${table})`.execute(db);
}

async function piledUp(db: Db, place: LakePlace, tables: readonly Named[] | undefined): Promise<readonly Piled[]> {
  if (tables?.length === 0) return [];
  const of = (name: string) => sql.id(...catalogOf(place), name);
  const names = tables?.map(({ schema, name }) => sql`(${schema}, ${name})`);
  const isWanted = names === undefined ? sql`true` : sql`(s.schema_name, t.table_name) in (${sql.join(names)})`;
  const { rows } = await sql<Piled>`
    with own as (select t.table_id as id, s.schema_name as "schema", t.table_name as name
      from ${of("ducklake_table")} t join ${of("ducklake_schema")} s using (schema_id)
      where t.end_snapshot is null and s.end_snapshot is null and ${isWanted}),
    files as (select table_id as id, sum(record_count) as "rows", count(*) filter (where file_size_bytes < ${SMALL_BYTES}) as small_files
      from ${of("ducklake_data_file")} where end_snapshot is null group by 1),
    deletes as (select table_id as id, sum(delete_count) as deleted, count(*) as delete_files
      from ${of("ducklake_delete_file")} where end_snapshot is null group by 1),
    inlined as (select table_id as id, list(table_name) as inlined from ${of("ducklake_inlined_data_tables")} group by 1)
    select id, "schema", name, coalesce("rows", 0) as "rows", coalesce(small_files, 0) as small_files,
      coalesce(deleted, 0) as deleted, coalesce(delete_files, 0) as delete_files, coalesce(inlined, []) as inlined
    from own left join files using (id) left join deletes using (id) left join inlined using (id)`.execute(db);
  return rows;
}

/** How many rows of each table are in the catalog, present and former ones, by the table's id. */
async function inlinedRows(
  db: Db,
  place: LakePlace,
  tables: readonly Pick<Piled, "id" | "inlined">[],
): Promise<ReadonlyMap<number, number>> {
  const counts = tables.flatMap(({ id, inlined }) =>
    inlined.map(name => sql`select ${sql.lit(id)} as id, count(*) as n from ${sql.id(...catalogOf(place), name)}`),
  );
  if (counts.length === 0) return new Map();
  const { rows } = await sql<{
    id: number;
    n: number;
  }>`select id, sum(n) as n from (${sql.join(counts, sql` union all `)}) c
    group by id`.execute(db);
  return new Map(rows.map(({ id, n }) => [id, n]));
}

/** Once a day: expires snapshots older than `keepMs`, and removes files that no snapshot has needed for two days. */
export async function expireOld(db: Db, place: LakePlace, keepMs: number): Promise<void> {
  const now = (await catalogTime(db, place)).getTime();
  const last = await factOf(db, EXPIRED);
  // A moment to come is a wrong clock's: it counts as none.
  const since = typeof last === "string" ? now - Date.parse(last) : Number.NaN;
  if (since >= 0 && since < EXPIRED_EVERY_MS) return;
  await expire(db, place, keepMs, GRACE_MS);
  await db.transaction().execute(trx => keepFact(trx, EXPIRED, new Date(now).toISOString()));
}

/** In the state schema's facts: when snapshots were last looked through. */
export const EXPIRED = "lake_expired";

/** Expires snapshots older than `snapshotsMs`, and removes files that no snapshot has needed for `filesMs`. */
async function expire(db: Db, place: LakePlace, snapshotsMs: number, filesMs: number): Promise<void> {
  const now = (await catalogTime(db, place)).toISOString();
  const before = (ms: number) => sql`older_than => timestamptz ${sql.lit(now)} - to_milliseconds(${sql.lit(ms)})`;
  await sql`call ducklake_expire_snapshots(${sql.lit(LAKE)}, ${before(snapshotsMs)})`.execute(db);
  await sql`call ducklake_cleanup_old_files(${sql.lit(LAKE)}, ${before(filesMs)})`.execute(db);
}

/** By the clock of the catalog's server, which all machines share, and which no wrong one of theirs can turn. */
async function catalogTime(db: Db, place: LakePlace): Promise<Date> {
  const [catalog] = catalogOf(place);
  const asked = sql`postgres_query(${sql.lit(catalog)}, 'select clock_timestamp() as now')`;
  const { rows } = await sql<{ now: Date }>`select now from ${asked}`.execute(db);
  return rows[0]!.now;
}

/**
 * Leaves nothing of what these tables held before: no snapshot but the present one, no file that it doesn't need, and so no
 * statistics of former values. A query that reads such a file at this moment ends with an error.
 */
export async function eraseFormer(db: Db, place: LakePlace, tables: readonly Named[]): Promise<void> {
  for (const table of tables) await flush(db, table);
  await expire(db, place, 0, 0);
  for (const { schema, name } of tables) {
    const own = sql`${sql.lit(LAKE)}, ${sql.lit(name)}, "schema" => ${sql.lit(schema)}`;
    await sql`call ducklake_rewrite_data_files(${own}, delete_threshold => 0)`.execute(db);
    await sql`call ducklake_merge_adjacent_files(${own})`.execute(db);
  }
  await expire(db, place, 0, 0);
}
