import { sql } from "kysely";
import { z } from "zod";
import { systemClock } from "../../clock.ts";
import { entryAt } from "../../files.ts";
import { hasState } from "../ddl/present_tables.ts";
import type { Holder } from "../destination.ts";
import { liveHolder } from "../duckdb/lock/holder.ts";
import { duckdbDialect } from "../duckdb/session/dialect.ts";
import { attempting } from "../duckdb/session/failure.ts";
import { layoutOf } from "../duckdb/session/file_layout.ts";
import type { Resources } from "../duckdb/session/session.ts";
import { versionMoment } from "../duckdb/versions/version_names.ts";
import { linkedVersion } from "../duckdb/versions/versions.ts";
import type { LakeCondition } from "../ducklake/maintenance.ts";
import { lockSchemaOf } from "../ducklake/place.ts";
import { served } from "../ducklake/stage.ts";
import type { Exportable } from "../parquet_source.ts";
import { requireReadableState } from "../state/state_ddl.ts";
import type { Where } from "./open.ts";

/** A warehouse as its readers see it: no lock is taken, nothing is written. */
export interface WarehouseReading extends Exportable, AsyncDisposable {
  readonly publishedAt: Date | undefined;
  /** What a lake is made of; absent for other warehouses. */
  readonly condition?: () => Promise<LakeCondition>;
  close(): Promise<void>;
}

/**
 * Opens the warehouse for a look; undefined when nothing has been loaded yet. LockedError for a DuckDB file with
 * `readers: direct` while a run writes it. `resources`: what DuckDB may use for more than a look. @throws DestinationError, ConfigError
 */
export async function openReading(where: Where, resources?: Partial<Resources>): Promise<WarehouseReading | undefined> {
  const reading = await opened(where, resources);
  try {
    if (reading !== undefined) await requireReadableState(reading);
    return reading;
  } catch (error) {
    await reading?.close();
    throw error;
  }
}

async function opened(where: Where, resources: Partial<Resources> | undefined): Promise<WarehouseReading | undefined> {
  if (where.type === "duckdb") return readDuckdb(where, resources);
  return where.type === "postgres" ? readPostgres(where) : readDucklake(where, resources);
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
  if (where.type !== "duckdb") return false;
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
  const { close, ...session } = await openDuckdbForReading({ ...where, ...resources });
  const version = await linkedVersion(layout);
  const publishedAt = version === undefined ? undefined : new Date(versionMoment(version));
  const reading = { dialect: duckdbDialect, schema, stateSchema, publishedAt };
  return { ...session, ...reading, close, [Symbol.asyncDispose]: close };
}

async function readDucklake(
  where: Where & { type: "ducklake" },
  resources: Partial<Resources> | undefined,
): Promise<WarehouseReading | undefined> {
  const { openDucklakeForReading } = await import("../ducklake/reading.ts");
  const reading = await openDucklakeForReading(where, resources);
  return reading && loaded({ ...reading, [Symbol.asyncDispose]: reading.close }, () => hasState(reading));
}

async function readPostgres(where: Where & { type: "postgres" }): Promise<WarehouseReading | undefined> {
  const { openPostgresForReading } = await import("../postgres/open.ts");
  const reading = await openPostgresForReading({ ...where, clock: systemClock });
  return loaded(reading, () => hasState(reading));
}

/** The warehouse, where one was made in that database; else it is closed. */
async function loaded(
  reading: Omit<WarehouseReading, "publishedAt">,
  isThere: () => Promise<boolean>,
): Promise<WarehouseReading | undefined> {
  try {
    if (await isThere()) return { ...reading, publishedAt: undefined };
  } catch (error) {
    await reading.close();
    throw error;
  }
  await reading.close();
  return undefined;
}

/** The runs that work on the warehouse at this moment; `reading` is needed where they have their locks from a server. */
export async function runningRuns(where: Where, reading: WarehouseReading | undefined): Promise<readonly Holder[]> {
  if (where.type === "duckdb") {
    // Who reads the very file that runs write keeps them out.
    if (where.readers === "direct" && reading !== undefined) return [];
    const holder = await liveHolder(layoutOf(where));
    return holder === undefined ? [] : [holder];
  }
  return reading === undefined ? [] : lockHolders(reading, where.type === "ducklake");
}

interface HolderRow {
  readonly company: string;
  readonly family: string;
  readonly run_id: string;
  readonly holder: unknown;
}

const holderFields = z.object({ pid: z.number(), host: z.string(), command: z.string(), startedAt: z.string() });

const lockQuery = `select ((classid::bigint << 32) | objid::bigint)::text as key from pg_catalog.pg_locks
    where locktype = 'advisory' and granted and objsubid = 1 and mode = 'ExclusiveLock'
      and database = (select oid from pg_catalog.pg_database where datname = current_database())`;

/** Those of `holders` whose lock the server holds: what a killed run wrote there says nothing. `isLake`: the server is the catalog's. */
async function lockHolders({ db, schema, stateSchema }: WarehouseReading, isLake: boolean): Promise<readonly Holder[]> {
  const from = (query: string) => (isLake ? served(query) : sql`(${sql.raw(query)})`);
  const { rows: locks } = await sql<{ key: string }>`select key from ${from(lockQuery)} l`.execute(db);
  const table = sql.id(stateSchema, "holders").compile(db).sql;
  const { rows } = await sql<HolderRow>`select company, family, run_id, holder
    from ${from(`select * from ${table}`)} h order by since`.execute(db);
  const { lockKey } = await import("../postgres/locks.ts");
  const held = new Set(locks.map(lock => lock.key));
  const lockSchema = isLake ? lockSchemaOf({ schema, stateSchema }) : schema;
  const running = new Map<string, Holder>();
  for (const { company, family, run_id, holder } of rows) {
    const parsed = holderFields.safeParse(holder);
    if (parsed.success && held.has(lockKey(lockSchema, company, family)))
      running.set(run_id, { runId: run_id, ...parsed.data });
  }
  return [...running.values()];
}
