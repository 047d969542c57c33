import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import { ConfigError } from "../../errors.ts";
import { altering, executeAll } from "../ddl/alteration.ts";
import { type Catalog, readCatalog } from "../ddl/database_catalog.ts";
import type { Dialect } from "../dialect.ts";
import type { StateTables } from "../state_tables.ts";
import { commentsOfState } from "./state_comments.ts";
import { STAGES, stateColumns, stateDigests, stateKeys } from "./state_shape.ts";

type Fragment = RawBuilder<unknown>;

/** One step from a data version to the next, within the transaction of all of them. */
export type Migration = (trx: Transaction<StateTables>, dialect: Dialect, stateSchema: string) => Promise<void>;

/** Rejects say which row and field they are, and what it takes to try them again. */
const describeRejects: Migration = async (trx, dialect, stateSchema) => {
  const { key, field, context } = stateColumns.rejects;
  for (const [name, kind] of Object.entries({ key, field, context }))
    await sql`alter table ${sql.id(stateSchema, "rejects")}
      add column if not exists ${sql.id(name)} ${sql.raw(dialect.columnType(kind))}`.execute(trx);
};

/** Runs say what the service has, what the table has, and why that is not the same. */
const countBothSides: Migration = async (trx, dialect, stateSchema) => {
  const { service_rows, table_rows, difference, difference_reason } = stateColumns.stream_runs;
  for (const [name, kind] of Object.entries({ service_rows, table_rows, difference, difference_reason }))
    await sql`alter table ${sql.id(stateSchema, "stream_runs")}
      add column if not exists ${sql.id(name)} ${sql.raw(dialect.columnType(kind))}`.execute(trx);
};

/** Streams say of how many rows details are wanted, and of how many they were never fetched. */
const countNeverFetched: Migration = async (trx, dialect, stateSchema) => {
  const { details_wanted, details_never } = stateColumns.streams;
  for (const [name, kind] of Object.entries({ details_wanted, details_never }))
    await sql`alter table ${sql.id(stateSchema, "streams")}
      add column if not exists ${sql.id(name)} ${sql.raw(dialect.columnType(kind))}`.execute(trx);
};

/** Runs say how many rows they left out because they are from before the configuration's start. */
const countBeforeStart: Migration = async (trx, dialect, stateSchema) => {
  const { before_start } = stateColumns.stream_runs;
  await sql`alter table ${sql.id(stateSchema, "stream_runs")}
    add column if not exists before_start ${sql.raw(dialect.columnType(before_start))}`.execute(trx);
};

/** The n-th takes a warehouse from version n to n + 1 (from 1). Only ever appended to. */
const migrations: readonly Migration[] = [describeRejects, countBothSides, countNeverFetched, countBeforeStart];

/** The shape of the state schema this program writes. */
export const DATA_VERSION = migrations.length + 1;

/**
 * Creates the state schema and its tables, or upgrades them, in one transaction; writes nothing when they are as wanted.
 * `seen` is what was there a moment ago, where that is known. Answers what it did. @throws ConfigError for a warehouse of a
 * newer version
 */
export async function ensureState(
  db: Kysely<StateTables>,
  dialect: Dialect,
  stateSchema: string,
  steps: readonly Migration[] = migrations,
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
    if (found !== version) {
      const warehouse = sql.id(stateSchema, "warehouse");
      await sql`delete from ${warehouse} where key = 'version'`.execute(trx);
      await sql`insert into ${warehouse} (key, value) values ('version', ${String(version)})`.execute(trx);
    }
    return done;
  });
}

async function versionOf(
  db: Kysely<StateTables>,
  stateSchema: string,
  catalog: Catalog,
  ours: number,
): Promise<number | undefined> {
  if (!catalog.tables.has(`${stateSchema}.warehouse`)) return undefined;
  const { rows } = await sql<{ value: unknown }>`
    select value from ${sql.id(stateSchema, "warehouse")} where key = 'version'`.execute(db);
  const version = rows[0]?.value;
  if (typeof version === "number" && version > ours)
    throw new ConfigError(
      `The warehouse was written by a newer tributary (data version ${version}; this one knows ${ours}). Nothing was changed; install the newer version again, or use another destination.`,
    );
  return typeof version === "number" ? version : undefined;
}

function missing(dialect: Dialect, stateSchema: string, catalog: Catalog): Fragment[] {
  const has = (name: string) => catalog.tables.has(`${stateSchema}.${name}`);
  const statements: Fragment[] = catalog.schemas.has(stateSchema) ? [] : [sql`create schema ${sql.id(stateSchema)}`];
  for (const name of Object.keys(stateColumns) as (keyof StateTables)[]) {
    if (!has(name)) statements.push(...stateTable(dialect, stateSchema, name));
    // In a publication of all tables PostgreSQL refuses to change rows that no key names.
    const isNamed =
      stateKeys[name] !== undefined || catalog.tables.get(`${stateSchema}.${name}`)?.isIdentified === true;
    if (dialect.primaryKeys && !isNamed)
      statements.push(sql`alter table ${sql.id(stateSchema, name)} replica identity full`);
  }
  // UNLOGGED like the rows it speaks of: a crash of the server empties both.
  if (dialect.name === "postgres" && !has(STAGES))
    statements.push(sql`create unlogged table ${sql.id(stateSchema, STAGES)} (company text, stream text, layout text not null,
      record jsonb not null, staged bigint not null, primary key (company, stream))`);
  return statements;
}

/** Everything the state schema lacks of tables and comments; of one that is empty, all it needs. */
export function stateStatements(dialect: Dialect, stateSchema: string, catalog: Catalog): readonly Fragment[] {
  return [...missing(dialect, stateSchema, catalog), ...stateCommentStatements(dialect, stateSchema, catalog)];
}

function stateTable(dialect: Dialect, stateSchema: string, name: keyof StateTables): Fragment[] {
  const table = sql.id(stateSchema, name);
  const parts: Fragment[] = Object.entries(stateColumns[name]).map(
    ([column, kind]) => sql`${sql.id(column)} ${sql.raw(dialect.columnType(kind))}`,
  );
  const key = dialect.primaryKeys ? stateKeys[name] : undefined;
  const ids = (names: readonly string[]) => sql.join(names.map(column => sql.id(column)));
  if (key !== undefined) parts.push(sql`primary key (${ids(key)})`);
  const statements: Fragment[] = [sql`create table ${table} (${sql.join(parts, sql`, `)})`];
  const digest = dialect.primaryKeys ? stateDigests[name] : undefined;
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
function stateCommentStatements(
  dialect: Dialect,
  stateSchema: string,
  catalog: Catalog,
): readonly RawBuilder<unknown>[] {
  return [...commentsOfState(dialect)].flatMap(([name, { table, columns }]) => {
    const present = catalog.tables.get(`${stateSchema}.${name}`);
    const statements: RawBuilder<unknown>[] = [];
    if (present?.comment !== table)
      statements.push(sql`comment on table ${sql.id(stateSchema, name)} is ${sql.lit(table)}`);
    for (const [column, text] of Object.entries(columns))
      if (present?.columns.get(column)?.comment !== text)
        statements.push(sql`comment on column ${sql.id(stateSchema, name, column)} is ${sql.lit(text)}`);
    return statements;
  });
}
