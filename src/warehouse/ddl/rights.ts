import { sql } from "kysely";
import { DestinationError } from "../../errors.ts";
import { uncoded } from "../../message.ts";
import { type Db, quotedName } from "../database.ts";

interface Found {
  readonly user: string;
  readonly database: string;
  readonly allowed: boolean;
}

/** PostgreSQL: whether the role may make tables in the schemas, or the schemas where there are none. @throws DestinationError */
export async function requireRights(db: Db, schemas: readonly string[]): Promise<void> {
  const lacking = await rightsLacking(db, schemas);
  if (lacking !== undefined) throw new DestinationError(uncoded(lacking));
}

/** What the role lacks to make tables and views in the schemas, with the statements that give it; undefined for nothing. */
export async function rightsLacking(db: Db, schemas: readonly string[]): Promise<string | undefined> {
  const { rows } = await sql<Found>`
    select current_user::text as "user", current_database()::text as database,
      case when n.oid is null then has_database_privilege(current_database(), 'create')
        else has_schema_privilege(n.oid, 'create') and has_schema_privilege(n.oid, 'usage') end as allowed
    from unnest(${schemas}::text[]) as wanted(name)
    left join pg_catalog.pg_namespace n on n.nspname = wanted.name`.execute(db);
  const lacking = rows.find(row => !row.allowed);
  return lacking && rightsMissing({ user: lacking.user, database: lacking.database, schemas });
}

/** What a role without rights has to be given, as statements to run. */
export function rightsMissing(place: {
  readonly user: string;
  readonly database: string;
  readonly schemas: readonly string[];
}): string {
  const { user, database, schemas } = place;
  const statements = schemas.map(
    schema =>
      `CREATE SCHEMA IF NOT EXISTS ${quotedName(schema)} AUTHORIZATION ${quotedName(user)}; ALTER SCHEMA ${quotedName(schema)} OWNER TO ${quotedName(user)};`,
  );
  return `The role ${user} lacks rights in database ${database}: it has to own the schemas ${schemas.join(" and ")}, and the tables that tributary keeps in them. As an administrator run: ${statements.join(" ")} or: GRANT CREATE ON DATABASE ${quotedName(database)} TO ${quotedName(user)}; (\`tributary ddl --for-dba\` prints all of it.)`;
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
  if (!temporary)
    throw new DestinationError(
      uncoded(
        `The role ${facts.user} may not make temporary tables in database ${facts.database}, which every publish needs. As an administrator run: GRANT TEMPORARY ON DATABASE "${facts.database}" TO "${facts.user}";`,
      ),
    );
  return facts;
}
