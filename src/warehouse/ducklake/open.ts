import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import { Mutex } from "../../mutex.ts";
import type { Db } from "../database.ts";
import { versionsName } from "../ddl/as_of.ts";
import { lackingGrants, requireRoles } from "../ddl/grants.ts";
import type { Destination, Opener } from "../destination.ts";
import type { Named } from "../dialect.ts";
import { kyselyOver, type Observer } from "../duckdb/session/driver.ts";
import { Room } from "../duckdb/session/room.ts";
import { quoted, type Session } from "../duckdb/session/session.ts";
import { type Connected, connect, type Place } from "../postgres/connect.ts";
import { postgresDialect } from "../postgres/dialect.ts";
import { kyselyOver as kyselyOverServer } from "../postgres/driver.ts";
import { endFormer, Locks, lockKey, newMark } from "../postgres/locks.ts";
import { isStage, tablesWhere, writeAnew } from "../postgres/open.ts";
import { repeating, Session as Server } from "../postgres/session.ts";
import { openStage } from "../postgres/stage.ts";
import { ensureServedState } from "../state/state_ddl.ts";
import { rowStateName, stateTables } from "../state_tables.ts";
import { ducklakeDialect } from "./dialect.ts";
import { isConflict, lakeFailure } from "./failure.ts";
import { keepUninlined } from "./inlining.ts";
import { eraseFormer, expireOld, tendTables } from "./maintenance.ts";
import { LAKE, type LakePlace, lockSchemaOf } from "./place.ts";
import { showLife, waitForLock } from "./publish_lock.ts";
import { type LakeSession, openLakeSession } from "./session.ts";
import { served, servedStage } from "./stage.ts";

export interface DucklakeSettings extends LakePlace, Opener, Pick<Place, "connectWaitMs" | "lockWaitMs"> {
  readonly memoryMb?: number | undefined;
  readonly grantSelectTo?: readonly string[];
  readonly keepSnapshotsMs?: number;
}

/** Parquet is written by the row group, of all columns at once. */
const MEMORY_MB = 256;
const KEEP_MS = 30 * 86_400_000;

/**
 * Opens a lake for a run. Locks, stages and checkpoints stand in the catalog's PostgreSQL, so that any machine can go on with
 * them. @throws DestinationError, ConfigError
 */
export async function openDucklake(own: DucklakeSettings): Promise<Destination> {
  const mark = newMark();
  const settings = { ...own, mark };
  const { stateSchema, runId } = settings;
  const lockSchema = lockSchemaOf(settings);
  const connected = await connectCatalog(settings);
  const server = new Server(connected);
  // Rows are staged while others are published.
  const publisher = new Server(
    await connectCatalog(settings).catch(async error => {
      await server.end();
      throw error;
    }),
  );
  let lake: LakeSession | undefined;
  try {
    // First: the publish that it may be in the middle of keeps everybody out.
    await endFormer(server, settings);
    await ensureServedState(kyselyOverServer(server, stateSchema), postgresDialect, stateSchema);
    const key = lockKey(lockSchema, "", "", "publish");
    // Of two hosts one makes the lake.
    await server.turn(() => waitForLock(server, publisher, "select pg_advisory_lock($1::bigint)", key));
    const endSigns = showLife(server);
    lake = await opened(settings).finally(() => {
      endSigns();
      return server.turn(() => server.query("select pg_advisory_unlock($1::bigint)", [key]));
    });
    const locks = new Locks(server, { ...settings, schema: lockSchema });
    const turn = new LakeTurn({ session: publisher, beside: server, locks, runId, key });
    const { db, ...rest } = overLake(settings, lake, turn);
    await keepUninlined(db);
    await grantReaders(kyselyOverServer(server, stateSchema), settings);
    const close = async () => {
      await locks.release();
      await rest.close();
      for (const session of [server, publisher]) await session.turn(() => session.end());
    };
    return {
      ...{ ...rest, db, close, [Symbol.asyncDispose]: close },
      warnings: [...connected.warnings, ...lake.warnings],
      protection: connected.protection,
      lock: (company, lockGroups, waitMs) => locks.take(company, lockGroups, waitMs),
      unlock: () => locks.release(),
      // The catalog kept small changes, and the least and greatest values of columns.
      async cleanse(tables) {
        const left = await rest.cleanse(tables);
        const own = kyselyOverServer(server, stateSchema);
        const held = sql`n.nspname = ${settings.catalogSchema} or (n.nspname = ${stateSchema} and ${isStage})`;
        await writeAnew(server, own, await tablesWhere(own, sql`(${held})`), settings.lockWaitMs ?? 0);
        return left;
      },
      holders: served(`select * from ${sql.id(stateSchema, "holders").compile(db).sql}`),
      isWanted: () => locks.areWanted(),
      stage: async (company, tables) => servedStage(await openStage(server, stateSchema, company, tables, "json"), db),
    };
  } catch (error) {
    lake?.close();
    for (const session of [server, publisher]) await session.end();
    throw error;
  }
}

/** Lets roles of the catalog's PostgreSQL read the lake: the catalog's tables, those to come, and who holds what. */
async function grantReaders(
  db: Db,
  { grantSelectTo = [], catalogSchema, stateSchema }: DucklakeSettings,
): Promise<void> {
  if (grantSelectTo.length === 0) return;
  await requireRoles(db, grantSelectTo);
  const { rows } = await sql<{ schema: string; name: string }>`
    select schemaname as schema, tablename as name from pg_catalog.pg_tables
    where schemaname = ${catalogSchema} or (schemaname = ${stateSchema} and tablename = 'holders')`.execute(db);
  const wanted = { schemas: [catalogSchema, stateSchema], tables: rows, later: catalogSchema };
  for (const role of grantSelectTo) for (const grant of await lackingGrants(db, role, wanted)) await grant.execute(db);
}

/** Connects to the catalog's PostgreSQL, of which messages speak by its own key of the configuration. */
export async function connectCatalog(
  place: LakePlace & Pick<DucklakeSettings, "connectWaitMs" | "lockWaitMs" | "clock">,
): Promise<Connected> {
  try {
    return await connect({ ...place, url: place.catalog }, "write", place.clock);
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replaceAll("destination.url", "destination.catalog");
    throw error;
  }
}

const memoryOf = ({ memoryMb = 0 }: DucklakeSettings): number => Math.max(memoryMb, MEMORY_MB);

const opened = async (settings: DucklakeSettings): Promise<LakeSession> => {
  const resources = { memoryLimitMb: memoryOf(settings), threads: 1, spill: join(tmpdir(), "tributary-lake") };
  return (await openLakeSession(settings, "write", resources))!;
};

/** What the lake's own session does of a destination. */
function overLake(settings: DucklakeSettings, lake: Session, observer: Observer) {
  const { schema, stateSchema } = settings;
  const turns = new Mutex();
  const { connection } = lake;
  const use = { failure: lakeFailure, observer };
  const room = new Room(memoryOf(settings), false, work => turns.run(() => work(connection)));
  const db = kyselyOver(async () => connection, turns, use).withSchema(stateSchema);
  const isEnding = () => settings.stopReason?.() !== undefined;
  const tend = (tables: readonly Named[]) => room.run(() => tendTables(db, settings, tables, isEnding));
  return {
    dialect: ducklakeDialect,
    schema,
    stateSchema,
    db,
    async lastSnapshot() {
      const { rows } = await sql<{
        id: number | null;
      }>`select id from ${sql.id(LAKE, "last_committed_snapshot")}()`.execute(db);
      return rows[0]?.id ?? undefined;
    },
    // A publish is there for everybody as soon as it is committed: at the end of a run there is time for what it left.
    async releaseToReaders() {
      await tend(Object.keys(stateTables).map(name => ({ schema: stateSchema, name })));
      if (!isEnding()) await expireOld(db, settings, settings.keepSnapshotsMs ?? KEEP_MS);
      return { path: undefined, note: undefined };
    },
    releaseState: () => Promise.resolve({ isPending: false, releasedAt: undefined }),
    withRoom: <T>(_purpose: string, work: () => Promise<T>) =>
      room.run(() => repeating(() => room.repeating(work), isConflict)),
    async afterPublish({ main, children }: TableSet) {
      const own = [main, ...children].flatMap(table => [
        { schema, name: table.name },
        { schema, name: versionsName(table) },
      ]);
      await tend([...own, { schema: stateSchema, name: rowStateName(main.name) }]);
    },
    async cleanse(tables: readonly Named[]): Promise<string | undefined> {
      await room.run(() => room.repeating(() => eraseFormer(db, settings, tables)));
      return undefined;
    },
    close: () => turns.run(async () => lake.close()),
  } satisfies Partial<Destination>;
}

interface Turning {
  readonly session: Server;
  /** Looks after who holds the lock while `session` waits for it. */
  readonly beside: Server;
  readonly locks: Locks;
  readonly runId: string;
  readonly key: string;
}

/**
 * Each transaction of a run is the only one of the warehouse: a lake takes a transaction back when another one changed the same
 * table since it began. Until it is committed nobody can take over what the run has locked.
 */
class LakeTurn implements Observer {
  readonly #session: Server;
  readonly #own: Turning;
  #release: (() => void) | undefined;

  constructor(own: Turning) {
    this.#session = own.session;
    this.#own = own;
  }

  async begin(): Promise<void> {
    const { beside, locks, key } = this.#own;
    const release = await this.#session.acquire();
    try {
      await this.#session.begin({});
      await waitForLock(this.#session, beside, "select pg_advisory_xact_lock($1::bigint)", key);
      await locks.keepDuring(this.#session);
    } catch (error) {
      await this.#session.rollback();
      release();
      throw error;
    }
    const endSigns = showLife(this.#session);
    this.#release = () => {
      endSigns();
      release();
    };
  }

  statement(): void {}

  async beforeCommit(connection: DuckDBConnection): Promise<void> {
    if (this.#release === undefined) return;
    await connection.run(`call ${LAKE}.set_commit_message('tributary', ${quoted(this.#own.runId)})`);
    // A session that was lost keeps nobody back.
    await this.#session.query("select 1");
  }

  rolledBack(): void {}

  async end(): Promise<void> {
    const release = this.#release;
    this.#release = undefined;
    if (release === undefined) return;
    try {
      await this.#session.rollback();
    } finally {
      release();
    }
  }
}
