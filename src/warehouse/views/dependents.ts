import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import type { StateTables } from "../state_tables.ts";

type Db = Kysely<StateTables>;

interface Named {
  readonly schema: string;
  readonly name: string;
}

/** The views that read something, over other views too: the names of ours, and the rest as schema.name. */
export interface Dependents {
  readonly ours: readonly string[];
  readonly foreign: readonly string[];
}

/** Who reads the tables or views of these names in a schema. */
export async function dependentsOf(
  db: Db,
  dialect: Dialect,
  schema: string,
  names: readonly string[],
  isOurs: (view: Named) => boolean,
): Promise<Dependents> {
  const readers = dialect.name === "postgres" ? postgresReaders : duckdbReaders;
  return parted(await readers(db, schema, names), isOurs);
}

const parted = (found: readonly Named[], isOurs: (view: Named) => boolean): Dependents => ({
  ours: found.filter(isOurs).map(({ name }) => name),
  foreign: found.filter(view => !isOurs(view)).map(view => `${view.schema}.${view.name}`),
});

/** PostgreSQL: who reads these columns (`table.column`) of a schema, over other views too. */
export async function readersOfColumns(
  db: Db,
  schema: string,
  columns: readonly string[],
  isOurs: (view: Named) => boolean,
): Promise<Dependents> {
  const start = sql`select r.ev_class from pg_catalog.pg_depend d
      join pg_catalog.pg_rewrite r on r.oid = d.objid
      join pg_catalog.pg_class c on c.oid = d.refobjid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid
      where d.classid = 'pg_catalog.pg_rewrite'::regclass and d.refclassid = 'pg_catalog.pg_class'::regclass
        and n.nspname = ${schema} and c.relname || '.' || a.attname = any(${columns}::text[])`;
  return parted(await readersFrom(db, start, schema, []), isOurs);
}

async function postgresReaders(db: Db, schema: string, names: readonly string[]): Promise<readonly Named[]> {
  const start = sql`select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema} and c.relname = any(${names}::text[])`;
  return readersFrom(db, start, schema, names);
}

async function readersFrom(db: Db, start: RawBuilder<unknown>, schema: string, names: readonly string[]) {
  const { rows } = await sql<Named>`
    with recursive reading(oid) as (
      ${start}
      union
      select r.ev_class from reading
      join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = reading.oid
        and d.classid = 'pg_catalog.pg_rewrite'::regclass
      join pg_catalog.pg_rewrite r on r.oid = d.objid
    )
    select n.nspname as schema, c.relname as name from reading
    join pg_catalog.pg_class c on c.oid = reading.oid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where not (n.nspname = ${schema} and c.relname = any(${names}::text[]))
    order by 1, 2`.execute(db);
  return rows;
}

/** DuckDB lets a table go from under its views, so their text has to tell. */
async function duckdbReaders(db: Db, schema: string, names: readonly string[]): Promise<readonly Named[]> {
  const { rows } = await sql<Named & { readonly sql: string }>`
    select schema_name as "schema", view_name as name, sql from duckdb_views()
    where not internal and database_name = current_database() order by 1, 2`.execute(db);
  const found = new Set<(typeof rows)[number]>();
  const isStart = (row: Named) => row.schema === schema && names.includes(row.name);
  for (let known = [...names]; known.length > 0; ) {
    const mention = new RegExp(`(^|[^a-z0-9_])(${known.join("|")})($|[^a-z0-9_])`, "i");
    const more = rows.filter(row => !isStart(row) && !found.has(row) && mention.test(afterName(row.sql)));
    for (const row of more) found.add(row);
    known = more.map(row => row.name);
  }
  return rows.filter(row => found.has(row));
}

/** A view is called like the table it reads, which is no sign that it does. */
const afterName = (text: string): string => text.replace(/^\s*create\s+view\s.*?\sas\s/is, "");
