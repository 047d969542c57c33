import { sql } from "kysely";
import type { Db, Fragment } from "../database.ts";
import { isLockFailure, patiently } from "../ddl/alteration.ts";
import type { Destination, Opener } from "../destination.ts";
import type { Named } from "../dialect.ts";
import type { Exportable, SourceColumn } from "../parquet_source.ts";
import { rowStateName } from "../state_tables.ts";
import { connect, type Place } from "./connect.ts";
import { postgresDialect } from "./dialect.ts";
import { kyselyOver } from "./driver.ts";
import { endFormer, Locks, newMark } from "./locks.ts";
import { repeating, Session } from "./session.ts";
import { openStage } from "./stage.ts";

export interface PostgresSettings extends Place, Opener {
  readonly grantSelectTo: readonly string[];
}

/** What status and rejects need: no locks, and every transaction read-only. */
export type Reading = AsyncDisposable &
  Pick<Destination, "dialect" | "schema" | "stateSchema" | "db" | "close" | "copyOut"> &
  Required<Pick<Exportable, "columnsOf">> & {
    interrupt(): void;
  };

/** Fewer changed rows, or a smaller share of all, don't change a plan that was good before; statistics of a wide table take a second. */
const ANALYZED_ROWS = 500;
const ANALYZED_SHARE = 0.05;

/** Opens the warehouse for a run: one session for locks, batches and publishes. @throws DestinationError, ConfigError */
export async function openPostgres(settings: PostgresSettings): Promise<Destination> {
  const { schema, stateSchema, lockWaitMs = 0, clock } = settings;
  const mark = newMark();
  const connected = await connect({ ...settings, mark }, "write", clock);
  const { protection, warnings } = connected;
  const session = new Session(connected);
  const db = kyselyOver(session, stateSchema);
  try {
    await endFormer(session, settings);
  } catch (error) {
    await session.end();
    throw error;
  }
  const locks = new Locks(session, { ...settings, mark });
  const close = async () => {
    await locks.release();
    await session.turn(() => session.end());
  };
  return {
    dialect: postgresDialect,
    schema,
    stateSchema,
    db,
    warnings,
    protection,
    copyOut: (query, take) => session.copyOut(query, take),
    copyIn: (statement, rows) => session.copy(statement, rows),
    lock: (company, lockGroups, waitMs) => locks.take(company, lockGroups, waitMs),
    unlock: () => locks.release(),
    holders: sql.id(stateSchema, "holders"),
    isWanted: () => locks.areWanted(),
    stage: (company, tables) => openStage(session, stateSchema, company, tables),
    releaseToReaders: () => Promise.resolve({ path: undefined, note: undefined }),
    withRoom: (_purpose, work) => repeating(work),
    releaseState: () => Promise.resolve({ isPending: false, releasedAt: undefined }),
    async afterPublish({ main, children }, rows) {
      if (rows < ANALYZED_ROWS) return;
      const names = [main, ...children].map(table => table.name);
      // Many small changes add up: the server counts them.
      const { rows: due } = await sql<{ name: string }>`select c.relname as name
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = ${schema} and c.relname = any(${names}) and pg_relation_size(c.oid) > 0 and (c.reltuples <= 0
          or greatest(${rows}::bigint, pg_stat_get_mod_since_analyze(c.oid)) >= ${ANALYZED_SHARE} * c.reltuples)`.execute(
        db,
      );
      const analyzed = due.map(({ name }) => sql.id(schema, name));
      if (due.some(({ name }) => name === main.name)) analyzed.push(sql.id(stateSchema, rowStateName(main.name)));
      for (const table of analyzed)
        await sql`analyze ${table}`.execute(db).catch(error => {
          // Somebody's VACUUM may last for hours: statistics are not worth a run.
          if (!isLockFailure(error)) throw error;
        });
    },
    async cleanse(tables) {
      const left = await stillSeen(db, stateSchema);
      const stages = sql`n.nspname = ${stateSchema} and ${isStage}`;
      await writeAnew(session, db, [...tables, ...(await tablesWhere(db, stages))], lockWaitMs);
      return left;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Whether a table `c` of the state schema is one of a stage, or holds checkpoints. */
export const isStage = sql`(c.relpersistence = 'u' or starts_with(c.relname, 'stage_'))`;

/** Tables `c` in schemas `n` for which a condition holds. A stage that somebody read when it was dropped is empty, but its files are not. */
export async function tablesWhere(db: Db, condition: Fragment): Promise<readonly Named[]> {
  const { rows } = await sql<Named>`select n.nspname as schema, c.relname as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and ${condition}`.execute(db);
  return rows;
}

/** Leaves nothing of what was deleted from tables; nor in their statistics, which hold the most common values of columns. */
export async function writeAnew(session: Session, db: Db, tables: readonly Named[], lockWaitMs: number): Promise<void> {
  for (const { schema, name } of tables)
    await patiently(db, timeoutMs =>
      session.turn(async () => {
        await session.query(`set lock_timeout = ${timeoutMs}`);
        try {
          await session.query(sql`vacuum (full, analyze) ${sql.id(schema, name)}`.compile(db).sql);
        } finally {
          await session.query(`set lock_timeout = ${lockWaitMs}`);
        }
      }),
    );
}

const asText = { storedAs: "text", type: "text" } as const;

/** Types of a query's columns, by their number in pg_type. Which decimals a query makes is not known: they have as many places as the tables'. */
const answerTypes: Readonly<Record<number, Omit<SourceColumn, "name">>> = {
  16: { storedAs: "boolean", type: "boolean" },
  20: { storedAs: "bigint", type: "bigint" },
  21: { storedAs: "bigint", type: "bigint" },
  23: { storedAs: "bigint", type: "bigint" },
  700: { storedAs: "double", type: "double precision" },
  701: { storedAs: "double", type: "double precision" },
  1082: { storedAs: "date", type: "date" },
  1184: { storedAs: "moment", type: "timestamptz" },
  1700: { storedAs: "decimal", type: "numeric(38,9)" },
};

/** Opens the warehouse for readers of its state. @throws DestinationError, ConfigError */
export async function openPostgresForReading(settings: Place & Pick<PostgresSettings, "clock">): Promise<Reading> {
  const { schema, stateSchema, clock } = settings;
  const session = new Session(await connect(settings, "read", clock));
  const close = () => session.turn(() => session.end());
  return {
    dialect: postgresDialect,
    schema,
    stateSchema,
    db: kyselyOver(session, stateSchema),
    copyOut: (query, take) => session.copyOut(query, take),
    columnsOf: async query => {
      const { fields } = await session.query(`select * from (${query}) answer limit 0`);
      return fields.map(({ name, dataTypeID }) => ({ name, ...(answerTypes[dataTypeID] ?? asText) }));
    },
    interrupt: () => void session.cancel(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const MOST_TRIES = 20;

/**
 * Who may still see what the rows were before privacy changed them: VACUUM FULL copies such versions. A sentence, or undefined
 * for nobody. Waits 10 s for those who are about to end.
 */
async function stillSeen(db: Db, stateSchema: string): Promise<string | undefined> {
  for (let tries = 1; ; tries++) {
    const seers = await seersIn(db, stateSchema);
    if (seers.length === 0) return undefined;
    if (tries === MOST_TRIES)
      return `privacy: expected nobody to see any more what treated columns held before, but ${seers.join(", ")} began before that was rewritten, so PostgreSQL keeps it in the tables' files (${stateSchema}.privacy.cleaned_at stays NULL). The first run after the end of it removes it.`;
    await sql`select pg_sleep(0.5)`.execute(db);
  }
}

/** The record was written with the rows: whoever has a transaction of no later number sees them as they were. */
async function seersIn(db: Db, stateSchema: string): Promise<readonly string[]> {
  // Of other databases only transactions with a number count: VACUUM FULL itself takes a snapshot, which minds them.
  const { rows } = await sql<{ who: string }>`
    with change as (select min(age(xmin)) as age from ${sql.id(stateSchema, "privacy")} where cleaned_at is null),
    seers as (
      select format('session %s of %s', pid, coalesce(usename, 'the server')) as who, greatest(age(backend_xid),
        case when datid is null or datname = current_database() then age(backend_xmin) end) as age
      from pg_stat_activity where pid <> pg_backend_pid()
      union all select format('prepared transaction %s', gid), age(transaction) from pg_prepared_xacts
      union all select format('replication slot %s', slot_name), age(xmin) from pg_replication_slots)
    select who from seers join change on seers.age >= change.age order by who limit 5`.execute(db);
  return rows.map(({ who }) => who);
}
