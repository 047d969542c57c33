import { sql } from "kysely";
import { DestinationError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import type { Db } from "../database.ts";
import type { Named } from "../dialect.ts";
import { rightsMessages } from "./messages.ts";

interface Found {
  readonly user: string;
  readonly database: string;
  readonly allowed: boolean;
}

/** PostgreSQL: whether the role may make tables in the schemas, or the schemas where there are none. @throws DestinationError */
export async function requireRights(db: Db, schemas: readonly string[]): Promise<void> {
  const lacking = await rightsLacking(db, schemas);
  if (lacking !== undefined) throw new DestinationError(lacking);
}

/** What the role lacks to make tables and views in the schemas, with the statements that give it; undefined for nothing. */
export async function rightsLacking(db: Db, schemas: readonly string[]): Promise<Message | undefined> {
  const { rows } = await sql<Found>`
    select current_user::text as "user", current_database()::text as database,
      case when n.oid is null then has_database_privilege(current_database(), 'create')
        else has_schema_privilege(n.oid, 'create') and has_schema_privilege(n.oid, 'usage') end as allowed
    from unnest(${schemas}::text[]) as wanted(name)
    left join pg_catalog.pg_namespace n on n.nspname = wanted.name`.execute(db);
  const lacking = rows.find(row => !row.allowed);
  return (
    lacking && rightsMessages.missing({ user: lacking.user, database: lacking.database, schemas, reason: undefined })
  );
}

const texts = (all: readonly string[]): string => all.map(text => `'${text.replaceAll("'", "''")}'`).join(", ");

/** Gives all that some roles own in schemas to another; REASSIGN OWNED refuses the first superuser's. */
const handOver = (schemas: readonly string[], owners: readonly string[], user: string): string =>
  `DO $$ DECLARE object text; BEGIN FOR object IN WITH s AS (SELECT oid, nspname, nspowner FROM pg_namespace WHERE nspname IN (${texts(schemas)})), o AS (SELECT oid FROM pg_roles WHERE rolname IN (${texts(owners)})) SELECT format('SCHEMA %I', nspname) FROM s WHERE nspowner IN (SELECT oid FROM o) UNION ALL SELECT format('TABLE %s', oid::regclass) FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm') AND relnamespace IN (SELECT oid FROM s) AND relowner IN (SELECT oid FROM o) UNION ALL SELECT format('ROUTINE %s', oid::regprocedure) FROM pg_proc WHERE pronamespace IN (SELECT oid FROM s) AND proowner IN (SELECT oid FROM o) LOOP EXECUTE format('ALTER %s OWNER TO %I', object, ${texts([user])}); END LOOP; END $$;`;

/** PostgreSQL: whether other roles own some of these tables, whose owner this role would have to be. @throws DestinationError */
export async function requireOwner(db: Db, schemas: readonly string[], tables: readonly Named[]): Promise<void> {
  const wanted = [tables.map(({ schema }) => schema), tables.map(({ name }) => name)];
  const { rows } = await sql<{ user: string; database: string; owners: string[]; tables: string[] }>`
    select current_user::text as "user", current_database()::text as database,
      array_agg(distinct pg_get_userbyid(c.relowner)::text) as owners,
      array_agg(format('%I.%I', n.nspname, c.relname) order by c.relname) as tables
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join unnest(${wanted[0]}::text[], ${wanted[1]}::text[]) as own(schema, name) on own.schema = n.nspname and own.name = c.relname
    where c.relkind in ('r', 'p') and not pg_has_role(c.relowner, 'usage') having count(*) > 0`.execute(db);
  for (const found of rows) {
    const statement = handOver(schemas, found.owners, found.user);
    throw new DestinationError(rightsMessages.other_owner({ ...found, statement }));
  }
}

/** PostgreSQL: the role of the session, and which of these tables or views are there and may not be read by it. */
export async function unreadable(
  db: Db,
  schema: string,
  names: readonly string[],
): Promise<{ readonly role: string; readonly names: readonly string[] } | undefined> {
  const { rows } = await sql<{ name: string; role: string }>`
    select c.relname as name, current_user as role
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relname in (${sql.join([...names])})
      and not (has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT'))
    order by c.relname`.execute(db);
  const [first] = rows;
  return first === undefined ? undefined : { role: first.role, names: rows.map(({ name }) => name) };
}

/** The PostgreSQL server, and as whom we are there. @throws DestinationError where the role may not make temporary tables */
export async function inspectServer(
  db: Db,
): Promise<{ readonly version: string; readonly user: string; readonly database: string }> {
  const { rows } = await sql<{ version: string; user: string; database: string; temporary: boolean }>`
    select current_setting('server_version') as version, current_user::text as "user", current_database()::text as database,
      has_database_privilege(current_database(), 'temporary') as temporary`.execute(db);
  const { temporary, ...facts } = rows[0]!;
  const { user, database } = facts;
  if (!temporary) throw new DestinationError(rightsMessages.no_temporary_tables({ user, database }));
  return facts;
}
