import { sql } from "kysely";
import { ConfigError } from "../../errors.ts";
import type { Db, Fragment, Trx } from "../database.ts";
import { altering, executeAll } from "../ddl/alteration.ts";
import { type Catalog, readCatalog } from "../ddl/database_catalog.ts";
import type { Dialect } from "../dialect.ts";
import { sharedTables } from "../shared_tables.ts";
import { columnList } from "../sql_fragments.ts";
import type { StateTable } from "../state_columns.ts";
import { STAGES, type StateTables, stagesTable, stateTables } from "../state_tables.ts";
import { factOf, recordFact } from "./facts.ts";
import { stateMessages } from "./messages.ts";
import { lastOfEachStream } from "./run_log.ts";

const tables: ReadonlyMap<string, StateTable> = new Map(Object.entries<StateTable>(stateTables));

/** One step from a data version to the next, within the transaction of all of them. */
export type Migration = (trx: Trx, dialect: Dialect, stateSchema: string) => Promise<void>;

/** Adds columns of today's shape to a state table, as far as it lacks them. */
const adding =
  <Name extends keyof StateTables>(name: Name, ...columns: readonly (keyof StateTables[Name] & string)[]): Migration =>
  async (trx, dialect, stateSchema) => {
    const table: StateTable = stateTables[name];
    for (const column of columns)
      await sql`alter table ${sql.id(stateSchema, name)}
        add column if not exists ${sql.id(column)} ${sql.raw(dialect.columnType(table.columns[column]!.kind))}`.execute(
        trx,
      );
  };

/** Rejects become a line a row and reason, and of a stream's runs the last ones are found without a look at all of them. */
const boundRecords: Migration = async (trx, dialect, stateSchema) => {
  const rejects = sql.id(stateSchema, "rejects");
  const runs = sql.id(stateSchema, "stream_runs");
  await adding(
    "rejects",
    "digest",
    "first_seen_at",
    "times",
    "rows",
    "scan",
    "parent_key",
    "resolved_at",
  )(trx, dialect, stateSchema);
  await adding("stream_runs", "recent")(trx, dialect, stateSchema);
  const place = sql.raw(dialect.rowPlace);
  // Of the same row the last one stays, and says how many there were.
  await sql`update ${rejects} r set digest = o.digest, first_seen_at = o.first, times = o.met, rows = o.nth from (
      select place, digest, min(seen_at) over same as first, count(*) over same as met,
        row_number() over (same order by seen_at desc, run_id desc) as nth
      from (select ${place} as place, company, stream, seen_at, run_id, md5(concat(cast(raw as varchar), chr(31),
        coalesce(cast(context as varchar), ''), chr(31), reason)) as digest from ${rejects} where digest is null) kept
      window same as (partition by company, stream, digest)) o
    where r.${place} = o.place`.execute(trx);
  await sql`delete from ${rejects} where scan is null and rows > 1`.execute(trx);
  await sql`update ${runs} r set recent = true where status = 'running' or exists (
    select 1 from (${lastOfEachStream(stateSchema, sql`true`)}) l
    where r.run_id = l.run_id and r.company = l.company and r.stream = l.stream)`.execute(trx);
  if (!dialect.primaryKeys) return;
  await sql`alter table ${rejects} drop constraint if exists rejects_pkey`.execute(trx);
  await sql`alter table ${rejects} add primary key (${columnList(stateTables.rejects.key!)})`.execute(trx);
  for (const [name, table] of tables) await executeAll(trx, indexStatements(stateSchema, name, table));
};

/** Of the state tables alone; the data tables follow their schemas (schema/table_migration.ts). The n-th takes a warehouse from version n to n + 1 (from 1). Only ever appended to. */
const stateMigrations: readonly Migration[] = [
  adding("rejects", "key", "field", "context"),
  adding("stream_runs", "service_rows", "table_rows", "difference", "difference_reason"),
  adding("streams", "details_wanted", "details_never"),
  adding("stream_runs", "before_start"),
  boundRecords,
  adding("runs", "snapshot"),
  async (trx, dialect, stateSchema) => {
    await adding("details", "why", "previous_at", "found", "changed_at", "caused_at")(trx, dialect, stateSchema);
    await adding("verifications", "changed_unseen")(trx, dialect, stateSchema);
  },
  adding("detail_samples", "active", "active_sampled", "late", "active_live"),
];

/** The shape of the state schema this program writes. */
export const DATA_VERSION = stateMigrations.length + 1;

/**
 * Creates the state schema and its tables, or upgrades them, in one transaction; writes nothing when they are as wanted.
 * `seen` is what was there a moment ago, where that is known. Answers what it did. @throws ConfigError for a warehouse of a
 * newer version
 */
export async function ensureState(
  db: Db,
  dialect: Dialect,
  stateSchema: string,
  steps: readonly Migration[] = stateMigrations,
  seen?: Catalog,
): Promise<readonly string[]> {
  const version = steps.length + 1;
  const before = seen ?? (await readCatalog(db, dialect, [stateSchema]));
  if (
    (await versionOf(db, stateSchema, before, version)) === version &&
    stateStatements(dialect, stateSchema, before).length === 0
  )
    return [];
  return altering(db, dialect, async trx => {
    const catalog = await readCatalog(trx, dialect, [stateSchema]);
    const found = await versionOf(trx, stateSchema, catalog, version);
    const done: string[] = [];
    await executeAll(trx, missing(dialect, stateSchema, catalog));
    // Tables without a version were made by a script, of whatever version: steps are taken again where they were taken.
    const from = found ?? (catalog.tables.has(`${stateSchema}.warehouse`) ? 1 : version);
    for (let at = from; at < version; at++) {
      await steps[at - 1]!(trx, dialect, stateSchema);
      done.push(`upgraded the warehouse from data version ${at} to ${at + 1}`);
    }
    // After the steps, which may have brought columns.
    await executeAll(trx, stateCommentStatements(dialect, stateSchema, catalog));
    if (found === undefined) done.unshift(`created the state schema ${stateSchema}`);
    if (found !== version) await executeAll(trx, recordFact(stateSchema, "version", version));
    return done;
  });
}

async function versionOf(db: Db, stateSchema: string, catalog: Catalog, ours: number): Promise<number | undefined> {
  if (!catalog.tables.has(`${stateSchema}.warehouse`)) return undefined;
  const version = await factOf(db, "version");
  if (typeof version === "number" && version > ours)
    throw new ConfigError(stateMessages.newer_version({ version, known_version: ours }));
  return typeof version === "number" ? version : undefined;
}

/**
 * Creates what of a lake's state stands in its catalog's PostgreSQL, whose dialect this is: the table of locks, and that of the
 * scans under way. @throws ConfigError where a warehouse of PostgreSQL's own has its state there
 */
export async function ensureServedState(db: Db, dialect: Dialect, stateSchema: string): Promise<void> {
  const served = new Map([["holders", stateTables.holders as StateTable]]);
  const lacking = async (trx: Db) => {
    const catalog = await readCatalog(trx, dialect, [stateSchema]);
    if (catalog.tables.has(`${stateSchema}.warehouse`))
      throw new ConfigError(stateMessages.schema_taken({ state_schema: stateSchema }));
    return missing(dialect, stateSchema, catalog, served);
  };
  if ((await lacking(db)).length === 0) return;
  await altering(db, dialect, async trx => executeAll(trx, await lacking(trx)));
}

/** Creates what worker processes share, in the PostgreSQL whose dialect this is, where it is not there. */
export async function ensureSharedState(db: Db, dialect: Dialect, stateSchema: string): Promise<void> {
  const lacking = async (trx: Db) => {
    const catalog = await readCatalog(trx, dialect, [stateSchema]);
    const wanted = Object.entries<StateTable>(sharedTables);
    const absent = new Map(wanted.filter(([name]) => !catalog.tables.has(`${stateSchema}.${name}`)));
    if (absent.size === 0) return [];
    const made = [...absent].flatMap(([name, table]) => createTable(dialect, stateSchema, name, table));
    return [...missingSchema(stateSchema, catalog), ...made, ...comments(stateSchema, catalog, absent)];
  };
  if ((await lacking(db)).length === 0) return;
  await altering(db, dialect, async trx => executeAll(trx, await lacking(trx)));
}

const missingSchema = (stateSchema: string, catalog: Catalog): Fragment[] =>
  catalog.schemas.has(stateSchema) ? [] : [sql`create schema ${sql.id(stateSchema)}`];

function missing(dialect: Dialect, stateSchema: string, catalog: Catalog, wanted = tables): Fragment[] {
  const has = (name: string) => catalog.tables.has(`${stateSchema}.${name}`);
  const statements = missingSchema(stateSchema, catalog);
  for (const [name, table] of wanted) {
    if (!has(name)) statements.push(...createTable(dialect, stateSchema, name, table));
    // In a publication of all tables PostgreSQL refuses to change rows that no key names.
    const isNamed = table.key !== undefined || catalog.tables.get(`${stateSchema}.${name}`)?.isIdentified === true;
    if (dialect.primaryKeys && !isNamed)
      statements.push(sql`alter table ${sql.id(stateSchema, name)} replica identity full`);
  }
  // UNLOGGED like the rows it speaks of: a crash of the server empties both.
  if (dialect.stagesAreTables && !has(STAGES))
    statements.push(sql`create unlogged table ${sql.id(stateSchema, STAGES)} (company text, stream text, layout text not null,
      record jsonb not null, staged bigint not null, primary key (company, stream))`);
  return statements;
}

/** Everything the state schema lacks of tables and comments; of one that is empty, all it needs. */
export function stateStatements(dialect: Dialect, stateSchema: string, catalog: Catalog): readonly Fragment[] {
  return [...missing(dialect, stateSchema, catalog), ...stateCommentStatements(dialect, stateSchema, catalog)];
}

/** Those that are there stay. */
function indexStatements(stateSchema: string, name: string, { indexes = [] }: StateTable): readonly Fragment[] {
  return indexes.map(({ by, where }) => {
    const narrowed = where === undefined ? sql`` : sql` where ${sql.id(where)}`;
    return sql`create index if not exists ${sql.id([name, ...by, "key"].join("_"))}
        on ${sql.id(stateSchema, name)} (${columnList(by)})${narrowed}`;
  });
}

function createTable(dialect: Dialect, stateSchema: string, name: string, declared: StateTable): Fragment[] {
  const table = sql.id(stateSchema, name);
  const { key, digest } = declared;
  const parts: Fragment[] = Object.entries(declared.columns).map(
    ([column, { kind }]) => sql`${sql.id(column)} ${sql.raw(dialect.columnType(kind))}`,
  );
  if (dialect.primaryKeys && key !== undefined) parts.push(sql`primary key (${columnList(key)})`);
  const statements: Fragment[] = [sql`create table ${table} (${sql.join(parts, sql`, `)})`];
  if (dialect.primaryKeys) statements.push(...indexStatements(stateSchema, name, declared));
  if (dialect.primaryKeys && digest !== undefined) {
    const texts = sql.join(
      digest.map(column => sql`coalesce(${sql.id(column)}, '')`),
      sql` || chr(31) || `,
    );
    statements.push(sql`create unique index ${sql.id(`${name}_by_text`)} on ${table} (md5(${texts}))`);
  }
  return statements;
}

/** Statements for the comments that differ from what the catalog says; of a table it doesn't know, all of them. */
function stateCommentStatements(dialect: Dialect, stateSchema: string, catalog: Catalog): readonly Fragment[] {
  return comments(stateSchema, catalog, dialect.stagesAreTables ? new Map(tables).set(STAGES, stagesTable) : tables);
}

function comments(stateSchema: string, catalog: Catalog, all: ReadonlyMap<string, StateTable>): readonly Fragment[] {
  return [...all].flatMap(([name, table]) => {
    const present = catalog.tables.get(`${stateSchema}.${name}`);
    const statements: Fragment[] = [];
    if (present?.comment !== table.comment)
      statements.push(sql`comment on table ${sql.id(stateSchema, name)} is ${sql.lit(table.comment)}`);
    for (const [column, { comment }] of Object.entries(table.columns))
      if (present?.columns.get(column)?.comment !== comment)
        statements.push(sql`comment on column ${sql.id(stateSchema, name, column)} is ${sql.lit(comment)}`);
    return statements;
  });
}
