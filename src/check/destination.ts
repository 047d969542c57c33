import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { type Kysely, sql } from "kysely";
import type { Clock } from "../clock.ts";
import type { DestinationConfig } from "../config.ts";
import type { Dialect } from "../destinations/destination.ts";
import { attempting } from "../destinations/duckdb/failure.ts";
import { entryAt } from "../destinations/duckdb/folder.ts";
import { layoutOf } from "../destinations/duckdb/layout.ts";
import { presentAt } from "../destinations/duckdb/seed.ts";
import { compareIdentity } from "../destinations/identity.ts";
import { openDestination } from "../destinations/open.ts";
import { openReading, runningRuns } from "../destinations/reading.ts";
import { DATA_VERSION } from "../destinations/state_ddl.ts";
import type { StateTables } from "../destinations/state_tables.ts";
import { checkTables } from "../destinations/tables.ts";
import { DestinationError, HeldError } from "../errors.ts";
import type { Stream } from "../stream.ts";
import { tableOrder } from "../warehouse.ts";
import { type CheckLine, doubt, failure, ok, warning } from "./line.ts";

const NAME = "destination";
const LITTLE_BYTES = 1e9;

/** What the warehouse has to be fit for. */
export interface Fitness {
  readonly companies: readonly {
    readonly name: string;
    readonly baseUrl: string;
    readonly companyId: string | undefined;
  }[];
  readonly streams: readonly Stream[];
}

/** Looks at the warehouse without writing to it: reachable, ours, with the rights and the room a run needs. */
export async function* checkDestination(
  where: DestinationConfig,
  fitness: Fitness,
  clock: Clock,
): AsyncGenerator<CheckLine> {
  try {
    if (where.type === "postgres") yield await checkPostgres(where, fitness, clock);
    else yield* checkDuckdb(where, fitness);
  } catch (error) {
    yield error instanceof HeldError ? doubt(NAME, error) : failure(NAME, error);
  }
}

async function checkPostgres(
  where: DestinationConfig & { type: "postgres" },
  fitness: Fitness,
  clock: Clock,
): Promise<CheckLine> {
  const holder = { pid: process.pid, host: hostname(), command: "tributary check", startedAt: "" };
  const { db, dialect, close } = await openDestination(where, { runId: "check", holder, clock }, 0);
  try {
    const loaded = await checkContents(db, dialect, where, fitness);
    const { rows } = await sql<{ server: string; user: string; database: string; temporary: boolean }>`
      select current_setting('server_version') as server, current_user::text as "user", current_database()::text as database,
        has_database_privilege(current_database(), 'temporary') as temporary`.execute(db);
    const { server, user, database, temporary } = rows[0]!;
    if (!temporary)
      throw new DestinationError(
        `The role ${user} may not make temporary tables in database ${database}, which every publish needs. As an administrator run: GRANT TEMPORARY ON DATABASE "${database}" TO "${user}";`,
      );
    const state = loaded ? "a warehouse of tributary" : "nothing in it yet";
    return ok(NAME, `PostgreSQL ${server}, database ${database} as ${user}, schema ${where.schema}: ${state}`);
  } finally {
    await close();
  }
}

async function* checkDuckdb(
  where: DestinationConfig & { type: "duckdb" },
  fitness: Fitness,
): AsyncGenerator<CheckLine> {
  const layout = layoutOf(where);
  const folder = dirname(layout.path);
  await attempting(`write to ${folder}`, async () => {
    if (!(await stat(folder)).isDirectory()) throw new Error(`ENOTDIR: ${folder} is no folder`);
    await access(folder, constants.W_OK | constants.X_OK);
    for (const own of [layout.home, layout.work]) if (await entryAt(own)) await access(own, constants.W_OK);
  });
  await attempting(`look at ${layout.path}`, () => presentAt(layout));
  const reading = await openReading(where);
  try {
    if (reading !== undefined) await checkContents(reading.db, reading.dialect, where, fitness);
    const state = reading === undefined ? "nothing there yet" : "a warehouse of tributary";
    yield ok(NAME, `DuckDB ${layout.path}, schema ${where.schema}: ${state}`);
  } finally {
    await reading?.close();
  }
  const [running] = await runningRuns(where, undefined);
  if (running !== undefined)
    yield ok("run", `${running.command} (${running.runId}, process ${running.pid} on ${running.host}) is at work`);
  yield await checkDisk(folder, (await entryAt(layout.work))?.size ?? 0);
}

/** Whether there is a warehouse; throws what a run would refuse. */
async function checkContents(
  db: Kysely<StateTables>,
  dialect: Dialect,
  where: DestinationConfig,
  { companies, streams }: Fitness,
): Promise<boolean> {
  const grantSelectTo = where.type === "postgres" ? where.grantSelectTo : [];
  await checkTables(db, dialect, tableOrder(where, { streams, grantSelectTo }));
  const { rows } = await sql<{ found: boolean }>`select count(*) > 0 as found from information_schema.tables
    where table_schema = ${where.stateSchema} and table_name = 'warehouse'`.execute(db);
  if (rows[0]?.found !== true) return false;
  const known = companies.map(({ name, baseUrl, companyId }) => ({
    name,
    baseUrl,
    ...(companyId === undefined ? {} : { companyId }),
  }));
  await compareIdentity(db, { schema: where.schema, version: DATA_VERSION, companies: known });
  return true;
}

async function checkDisk(folder: string, size: number): Promise<CheckLine> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const message = `${gigabytes(free)} free in ${folder}, the warehouse has ${gigabytes(size)}`;
  const advice = "Make room: a publish needs as much again as the warehouse has, or lower destination.keep_versions.";
  if (free < size) return failure("disk", new DestinationError(`${message}. ${advice}`));
  return free < 2 * size + LITTLE_BYTES ? warning("disk", message, advice) : ok("disk", message);
}

const gigabytes = (bytes: number): string =>
  bytes < 1e8 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
