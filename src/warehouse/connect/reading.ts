import { sql } from "kysely";
import { z } from "zod";
import { systemClock } from "../../clock.ts";
import { entryAt } from "../../files.ts";
import type { Holder } from "../destination.ts";
import { liveHolder } from "../duckdb/lock/holder.ts";
import { duckdbDialect } from "../duckdb/session/dialect.ts";
import { attempting } from "../duckdb/session/failure.ts";
import { layoutOf } from "../duckdb/session/file_layout.ts";
import type { Resources } from "../duckdb/session/session.ts";
import { versionMoment } from "../duckdb/versions/version_names.ts";
import { linkedVersion } from "../duckdb/versions/versions.ts";
import type { Exportable } from "../parquet_source.ts";
import type { Where } from "./open.ts";

/** A warehouse as its readers see it: no lock is taken, nothing is written. */
export interface WarehouseReading extends Exportable, AsyncDisposable {
  /** When what is read was published; undefined where readers see every transaction. */
  readonly publishedAt: Date | undefined;
  close(): Promise<void>;
}

/**
 * Opens the warehouse for a look; undefined when nothing has been loaded yet. LockedError for a DuckDB file with
 * `readers: direct` while a run writes it. `resources`: what DuckDB may use for more than a look. @throws DestinationError, ConfigError
 */
export async function openReading(where: Where, resources?: Partial<Resources>): Promise<WarehouseReading | undefined> {
  return where.type === "duckdb" ? readDuckdb(where, resources) : readPostgres(where);
}

/** What a look into the warehouse finds; undefined when nothing has been loaded yet. Throws as `openReading` does. */
export async function looking<T>(
  where: Where,
  look: (reading: WarehouseReading) => Promise<T>,
): Promise<T | undefined> {
  await using reading = await openReading(where);
  return reading && (await look(reading));
}

/** Whether a run that was ended before its first publish left something behind. */
export async function hasUnpublished(where: Where): Promise<boolean> {
  if (where.type === "postgres") return false;
  const { path, work } = layoutOf(where);
  return attempting(`look at ${path}`, async () => (await entryAt(work)) !== undefined);
}

async function readDuckdb(
  where: Where & { type: "duckdb" },
  resources: Partial<Resources> | undefined,
): Promise<WarehouseReading | undefined> {
  const layout = layoutOf(where);
  const { schema, stateSchema } = where;
  const entry = await attempting(`look at ${layout.path}`, () => entryAt(layout.path));
  if (entry === undefined) return undefined;
  const { openDuckdbForReading } = await import("../duckdb/reading.ts");
  const { db, interrupt, close } = await openDuckdbForReading({ ...where, ...resources });
  const version = await linkedVersion(layout);
  const publishedAt = version === undefined ? undefined : new Date(versionMoment(version));
  const reading = { dialect: duckdbDialect, schema, stateSchema, db, interrupt, publishedAt };
  return { ...reading, close, [Symbol.asyncDispose]: close };
}

async function readPostgres(where: Where & { type: "postgres" }): Promise<WarehouseReading | undefined> {
  const { openPostgresForReading } = await import("../postgres/open.ts");
  const reading = await openPostgresForReading({ ...where, clock: systemClock });
  try {
    const { rows } = await sql<{ found: boolean }>`
      select count(*) > 0 as found from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${where.stateSchema} and c.relname = 'warehouse'`.execute(reading.db);
    if (rows[0]?.found === true) return { ...reading, publishedAt: undefined };
  } catch (error) {
    await reading.close();
    throw error;
  }
  await reading.close();
  return undefined;
}

/** The runs that work on the warehouse at this moment; `reading` is needed for PostgreSQL only. */
export async function runningRuns(where: Where, reading: WarehouseReading | undefined): Promise<readonly Holder[]> {
  if (where.type === "duckdb") {
    const holder = await liveHolder(layoutOf(where));
    return holder === undefined ? [] : [holder];
  }
  return reading === undefined ? [] : lockHolders(reading);
}

const holderFields = z.object({ pid: z.number(), host: z.string(), command: z.string(), startedAt: z.string() });

/** Those of `holders` whose lock the server holds: what a killed run wrote there says nothing. */
async function lockHolders({ db, schema }: WarehouseReading): Promise<readonly Holder[]> {
  const { rows: locks } = await sql<{ key: string }>`
    select ((classid::bigint << 32) | objid::bigint)::text as key from pg_catalog.pg_locks
    where locktype = 'advisory' and granted and objsubid = 1
      and database = (select oid from pg_catalog.pg_database where datname = current_database())`.execute(db);
  const { lockKey } = await import("../postgres/locks.ts");
  const held = new Set(locks.map(lock => lock.key));
  const rows = await db
    .selectFrom("holders")
    .select(["company", "family", "run_id", "holder"])
    .orderBy("since")
    .execute();
  const running = new Map<string, Holder>();
  for (const { company, family, run_id, holder } of rows) {
    const parsed = holderFields.safeParse(holder);
    if (parsed.success && held.has(lockKey(schema, company, family)))
      running.set(run_id, { runId: run_id, ...parsed.data });
  }
  return [...running.values()];
}
