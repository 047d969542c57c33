import { sql } from "kysely";
import { ConfigError } from "../../errors.ts";
import type { Db, Fragment } from "../database.ts";
import { altering, executeAll } from "../ddl/alteration.ts";
import { type Catalog, canonicalType, readCatalog } from "../ddl/database_catalog.ts";
import type { Looked } from "../ddl/present_tables.ts";
import type { Dialect } from "../dialect.ts";
import { sharedTables } from "../shared_tables.ts";
import { columnList } from "../sql_fragments.ts";
import type { StateTable } from "../state_columns.ts";
import { STAGES, stagesTable, stateTables } from "../state_tables.ts";
import { factOf, recordFact } from "./facts.ts";
import { stateMessages } from "./messages.ts";

const tables: ReadonlyMap<string, StateTable> = new Map(Object.entries<StateTable>(stateTables));

/** Version of the state tables; the data tables follow their schemas (schema/table_migration.ts). */
export const DATA_VERSION = 1;

/**
 * Creates the state schema and its tables in one transaction; writes nothing when they are as wanted.
 * `seen` is what was there a moment ago, where that is known. Answers what it did. @throws ConfigError for a warehouse of a
 * newer version, or of another shape
 */
export async function ensureState(
  db: Db,
  dialect: Dialect,
  stateSchema: string,
  seen?: Catalog,
): Promise<readonly string[]> {
  const place = { db, dialect, stateSchema };
  const before = seen ?? (await readCatalog(db, dialect, [stateSchema]));
  if ((await versionOf(place, before)) === DATA_VERSION && stateStatements(dialect, stateSchema, before).length === 0)
    return [];
  return altering(db, dialect, async trx => {
    const catalog = await readCatalog(trx, dialect, [stateSchema]);
    const found = await versionOf({ ...place, db: trx }, catalog);
    await executeAll(trx, stateStatements(dialect, stateSchema, catalog));
    if (found !== undefined) return [];
    await executeAll(trx, recordFact(stateSchema, "version", DATA_VERSION));
    return [`created the state schema ${stateSchema}`];
  });
}

type StatePlace = Pick<Looked, "db" | "dialect" | "stateSchema">;

/** Refuses tables of another shape, and writes nothing. @throws ConfigError */
export async function requireUsableState(place: StatePlace): Promise<void> {
  const { db, dialect, stateSchema } = place;
  const catalog = await readCatalog(db, dialect, [stateSchema]);
  // The version is read only where it decides: a lock on its table would hold up a run before it watches for locks.
  if (differences(dialect, stateSchema, catalog).length > 0) await versionOf(place, catalog);
}

/** For readers, whose role may not read which version it is. @throws ConfigError for state tables of another shape */
export async function requireReadableState({ db, dialect, stateSchema }: StatePlace): Promise<void> {
  requireShape(dialect, stateSchema, await readCatalog(db, dialect, [stateSchema]));
}

/** The version that is recorded. @throws ConfigError for a newer one, and for tables of another shape */
async function versionOf({ db, dialect, stateSchema }: StatePlace, catalog: Catalog): Promise<number | undefined> {
  const version = catalog.tables.has(`${stateSchema}.warehouse`) ? await factOf(db, "version") : undefined;
  const found = typeof version === "number" ? version : undefined;
  if (found !== undefined && found > DATA_VERSION)
    throw new ConfigError(stateMessages.newer_version({ version: found, known_version: DATA_VERSION }));
  requireShape(dialect, stateSchema, catalog);
  return found;
}

/** @throws ConfigError where a table that is there has other columns than it is made with */
function requireShape(dialect: Dialect, stateSchema: string, catalog: Catalog, wanted = tablesOf(dialect)): void {
  const columns = differences(dialect, stateSchema, catalog, wanted);
  if (columns.length > 0) throw new ConfigError(stateMessages.other_shape({ state_schema: stateSchema, columns }));
}

function differences(dialect: Dialect, stateSchema: string, catalog: Catalog, wanted = tablesOf(dialect)) {
  return [...wanted].flatMap(([name, table]) => {
    const present = catalog.tables.get(`${stateSchema}.${name}`)?.columns;
    if (present === undefined) return [];
    const types = new Map(
      Object.entries(table.columns).map(([column, { kind }]) => [column, canonicalType(dialect.columnType(kind))]),
    );
    return [...new Set([...types.keys(), ...present.keys()])].flatMap(column => {
      const [type = null, own = null] = [present.get(column)?.type, types.get(column)];
      return type === own ? [] : [{ column: `${name}.${column}`, type, wanted: own }];
    });
  });
}

/** The state tables, with that of the stages where stages are tables. */
const tablesOf = ({ stagesAreTables }: Dialect): ReadonlyMap<string, StateTable> =>
  stagesAreTables ? new Map(tables).set(STAGES, stagesTable) : tables;

/**
 * Creates what of a lake's state stands in its catalog's PostgreSQL, whose dialect this is: the table of locks, and that of the
 * scans under way. @throws ConfigError where a warehouse of PostgreSQL's own has its state there
 */
export const ensureServedState = (db: Db, dialect: Dialect, stateSchema: string): Promise<void> =>
  ensureSome(db, dialect, stateSchema, { holders: stateTables.holders, [STAGES]: stagesTable }, ({ tables }) => {
    if (tables.has(`${stateSchema}.warehouse`))
      throw new ConfigError(stateMessages.schema_taken({ state_schema: stateSchema }));
  });

/** Creates what worker processes share, in the PostgreSQL whose dialect this is, where it is not there. */
export const ensureSharedState = (db: Db, dialect: Dialect, stateSchema: string): Promise<void> =>
  ensureSome(db, dialect, stateSchema, sharedTables);

async function ensureSome(
  db: Db,
  dialect: Dialect,
  stateSchema: string,
  some: Readonly<Record<string, StateTable>>,
  refuse?: (catalog: Catalog) => void,
): Promise<void> {
  const wanted = new Map(Object.entries(some));
  const lacking = async (trx: Db) => {
    const catalog = await readCatalog(trx, dialect, [stateSchema]);
    refuse?.(catalog);
    requireShape(dialect, stateSchema, catalog, wanted);
    return stateStatements(dialect, stateSchema, catalog, wanted);
  };
  if ((await lacking(db)).length === 0) return;
  await altering(db, dialect, async trx => executeAll(trx, await lacking(trx)));
}

function missing(dialect: Dialect, stateSchema: string, catalog: Catalog, wanted = tablesOf(dialect)): Fragment[] {
  const has = (name: string) => catalog.tables.has(`${stateSchema}.${name}`);
  const statements = catalog.schemas.has(stateSchema) ? [] : [sql`create schema ${sql.id(stateSchema)}`];
  for (const [name, table] of wanted) {
    if (!has(name)) statements.push(...createTable(dialect, stateSchema, name, table));
    // In a publication of all tables PostgreSQL refuses to change rows that no key names.
    const isNamed = table.key !== undefined || catalog.tables.get(`${stateSchema}.${name}`)?.isIdentified === true;
    if (dialect.isServer && !isNamed)
      statements.push(sql`alter table ${sql.id(stateSchema, name)} replica identity full`);
  }
  return statements;
}

export const stateStatements = (
  dialect: Dialect,
  stateSchema: string,
  catalog: Catalog,
  wanted = tablesOf(dialect),
): readonly Fragment[] => [
  ...missing(dialect, stateSchema, catalog, wanted),
  ...comments(stateSchema, catalog, wanted),
];

function indexStatements(stateSchema: string, name: string, { indexes = [] }: StateTable): readonly Fragment[] {
  return indexes.map(({ by, where }) => {
    const narrowed = where === undefined ? sql`` : sql` where ${sql.id(where)}`;
    return sql`create index ${sql.id([name, ...by, "key"].join("_"))}
        on ${sql.id(stateSchema, name)} (${columnList(by)})${narrowed}`;
  });
}

function createTable(dialect: Dialect, stateSchema: string, name: string, declared: StateTable): Fragment[] {
  const table = sql.id(stateSchema, name);
  const { key, digest, columns } = declared;
  const parts: Fragment[] = Object.entries(columns).map(
    ([column, { kind }]) => sql`${sql.id(column)} ${sql.raw(dialect.columnType(kind))}`,
  );
  if (!dialect.isServer) return [sql`create table ${table} (${sql.join(parts, sql`, `)})`];
  if (key !== undefined) parts.push(sql`primary key (${columnList(key)})`);
  const kind = declared.unlogged === true ? sql`unlogged table` : sql`table`;
  const created = sql`create ${kind} ${table} (${sql.join(parts, sql`, `)})`;
  const statements = [created, ...indexStatements(stateSchema, name, declared)];
  if (digest !== undefined) {
    const texts = sql.join(
      digest.map(column => sql`coalesce(${sql.id(column)}, '')`),
      sql` || chr(31) || `,
    );
    statements.push(sql`create unique index ${sql.id(`${name}_by_text`)} on ${table} (md5(${texts}))`);
  }
  return statements;
}

/** Statements for the comments that differ from what the catalog says; of a table it doesn't know, all of them. */
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
