import type { DuckdbConfig, DucklakeConfig, PostgresConfig } from "../../config/config.ts";
import type { Destination, Opener } from "../destination.ts";
import type { Dialect } from "../dialect.ts";
import type { Room } from "../duckdb/inspection.ts";
import { duckdbDialect } from "../duckdb/session/dialect.ts";
import { layoutOf } from "../duckdb/session/file_layout.ts";
import { ducklakeDialect } from "../ducklake/dialect.ts";
import type { LakeInspection } from "../ducklake/inspection.ts";
import type { LakePlace } from "../ducklake/place.ts";
import { postgresDialect } from "../postgres/dialect.ts";
import { queueSchema } from "../shared_tables.ts";
import { analyticsSchema } from "../views/view.ts";

export type Where =
  | (Omit<DuckdbConfig, "publishEveryMs" | "memoryMb" | "grantSelectTo" | "connectWaitMs"> &
      Partial<Pick<DuckdbConfig, "memoryMb">>)
  | (Omit<PostgresConfig, "publishEveryMs" | Waits> & Partial<Pick<PostgresConfig, Waits>>)
  | (LakePlace &
      Pick<DucklakeConfig, "type" | "grantSelectTo" | "keepSnapshotsMs"> &
      Partial<Pick<DucklakeConfig, "memoryMb" | Waits>>);

type Waits = "connectWaitMs" | "lockWaitMs";

/** Looks at where a warehouse file is or will be, and writes nothing. @throws DestinationError */
export async function inspectPlace(where: Where & { readonly type: "duckdb" }): Promise<Room> {
  const { inspectFile } = await import("../duckdb/inspection.ts");
  return inspectFile(where);
}

/** Whether a run could have the file at present. @throws LockedError */
export async function requireFree(where: Where & { readonly type: "duckdb" }): Promise<void> {
  const { tryLock } = await import("../duckdb/lock/holder.ts");
  await tryLock(layoutOf(where), false);
}

/** Looks at what a lake stands on, and whether its role may make these schemas or tables in them; writes nothing. @throws DestinationError, ConfigError */
export async function inspectLake(
  where: Where & { readonly type: "ducklake" },
  schemas: readonly string[],
): Promise<LakeInspection> {
  const inspection = await import("../ducklake/inspection.ts");
  return inspection.inspectLake(where, schemas);
}

/** Files and folders of a warehouse on this machine, absolute. */
export function filesOf(where: Where): readonly string[] {
  if (where.type === "postgres") return [];
  if (where.type === "ducklake") return where.dataPath.includes("://") ? [] : [where.dataPath];
  const { path, home } = layoutOf(where);
  return [path, `${path}.wal`, home];
}

export function dialectOf({ type }: Pick<Where, "type">): Dialect {
  return { duckdb: duckdbDialect, postgres: postgresDialect, ducklake: ducklakeDialect }[type];
}

/** Server, database and role that an address names; none for a file. @throws ConfigError */
export async function roleOf(
  where: Where,
): Promise<{ readonly host: string; readonly database: string; readonly role: string }> {
  if (where.type === "duckdb") return { host: "", database: "", role: "" };
  const { addressOf } = await import("../postgres/connect.ts");
  const { host, database, user } = addressOf(where.type === "ducklake" ? where.catalog : where.url);
  return { host, database, role: user };
}

/**
 * The schemas of a PostgreSQL that the role of a warehouse's runs has to own, with that of the views and of the workers' queue where
 * there are to be such; none for a file.
 */
export function schemasOf(
  where: Where,
  also: { readonly views: boolean; readonly workers: boolean },
): readonly string[] {
  if (where.type === "duckdb") return [];
  const { schema, stateSchema } = where;
  return [
    ...(where.type === "ducklake" ? [where.catalogSchema] : [schema, ...(also.views ? [analyticsSchema(schema)] : [])]),
    stateSchema,
    ...(also.workers ? [queueSchema(stateSchema)] : []),
  ];
}

/** Opens the warehouse for a run. A DuckDB file has one writer: waits `waitMs` for it. @throws DestinationError, LockedError, ConfigError */
export async function openDestination(where: Where, opener: Opener, waitMs: number): Promise<Destination> {
  const destination = await openUnseen(where, opener, waitMs);
  try {
    const { requireUsableState } = await import("../state/state_ddl.ts");
    await requireUsableState(destination);
    return destination;
  } catch (error) {
    await destination.close();
    throw error;
  }
}

/** The same, for a run, which looks at it itself (`lookAt`). */
export async function openUnseen(where: Where, opener: Opener, waitMs: number): Promise<Destination> {
  // Only the chosen database's driver is loaded: the other's costs up to 70 ms and 30 MB.
  if (where.type === "postgres") {
    const { openPostgres } = await import("../postgres/open.ts");
    return openPostgres({ ...where, ...opener });
  }
  if (where.type === "ducklake") {
    const { openDucklake } = await import("../ducklake/open.ts");
    return openDucklake({ ...where, ...opener });
  }
  const { openDuckdb } = await import("../duckdb/open.ts");
  const file = await openDuckdb({ ...where, ...opener });
  try {
    await file.lock("", [], waitMs);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Opens the warehouse for a word beside the data: the state's tables are there, no stream is locked. A DuckDB file has one
 * writer all the same. @throws DestinationError, LockedError, ConfigError
 */
export async function inState<T>(
  where: Where,
  opener: Opener,
  waitMs: number,
  work: (destination: Destination) => Promise<T>,
): Promise<T> {
  const { ensureState } = await import("../state/state_ddl.ts");
  await using destination = await openDestination(where, opener, waitMs);
  await ensureState(destination.db, destination.dialect, destination.stateSchema);
  return await work(destination);
}
