import { sql } from "kysely";
import { DestinationError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import type { Db, Fragment, Schemas } from "../database.ts";
import type { Named } from "../dialect.ts";
import type { Step } from "./alteration.ts";
import { rightsMessages } from "./messages.ts";
import type { Shape } from "./shape.ts";

export const readableState = [
  ...(["streams", "runs", "stream_runs", "problems", "details", "detail_due", "detail_causes"] as const),
  ...(["relations", "history"] as const),
  ...(["verifications", "verification_differences", "privacy", "exports"] as const),
];

interface Place extends Schemas {
  readonly grantSelectTo: readonly string[];
}

/** What the readers' roles lack, as steps; nothing where they have it. */
export async function grantSteps(db: Db, place: Place, shapes: readonly Shape[]): Promise<Step[]> {
  if (place.grantSelectTo.length === 0) return [];
  const wanted = readableOf(place, shapes);
  const steps: Step[] = [];
  for (const role of place.grantSelectTo) {
    const lacking = await lackingGrants(db, role, wanted);
    if (lacking.length > 0) steps.push({ sentence: `let ${role} read ${place.schema}`, statements: lacking });
  }
  return steps;
}

/** What readers are to have: use of schemas, tables or views, and those that `later` gets. */
interface Readable {
  readonly schemas: readonly string[];
  readonly tables: readonly Named[];
  readonly later: string;
}

export async function lackingGrants(db: Db, role: string, { schemas, tables, later }: Readable): Promise<Fragment[]> {
  return [
    ...(await schemasHidden(db, role, schemas)).map(schema => grantUsage(schema, role)),
    ...(await tablesHidden(db, role, tables)).map(table => grantSelect(table, role)),
    ...((await readsLaterTables(db, role, later)) ? [] : [grantLater(later, role)]),
  ];
}

/** What the readers' roles lack of the views that stand in a schema. A view reads with its owner's rights: the tables need none. */
export async function viewGrants(
  db: Db,
  roles: readonly string[],
  schema: string,
  views: readonly string[],
): Promise<Fragment[]> {
  if (views.length === 0) return [];
  const wanted = readableViews(schema, views);
  const statements: Fragment[] = [];
  for (const role of roles) statements.push(...(await lackingGrants(db, role, wanted)));
  return statements;
}

export function allGrants(place: Place, shapes: readonly Shape[]): Fragment[] {
  return grantsOf(place.grantSelectTo, readableOf(place, shapes));
}

export function allViewGrants(roles: readonly string[], schema: string, views: readonly string[]): Fragment[] {
  return grantsOf(roles, readableViews(schema, views));
}

const grantsOf = (roles: readonly string[], { schemas, tables, later }: Readable): Fragment[] =>
  roles.flatMap(role => [
    ...schemas.map(schema => grantUsage(schema, role)),
    ...tables.map(table => grantSelect(table, role)),
    grantLater(later, role),
  ]);

function readableOf({ schema, stateSchema }: Place, shapes: readonly Shape[]): Readable {
  const tables = shapes.filter(shape => shape.role !== "row_state");
  const state = readableState.map(name => ({ schema: stateSchema, name }));
  return { schemas: [schema, stateSchema], tables: [...tables, ...state], later: schema };
}

const readableViews = (schema: string, views: readonly string[]): Readable => ({
  ...{ schemas: [schema], tables: views.map(name => ({ schema, name })), later: schema },
});

const isPublic = (role: string): boolean => role.toLowerCase() === "public";
const named = (role: string): Fragment => (isPublic(role) ? sql`public` : sql.id(role));

const grantUsage = (schema: string, role: string): Fragment =>
  sql`grant usage on schema ${sql.id(schema)} to ${named(role)}`;
const grantSelect = (table: Named, role: string): Fragment =>
  sql`grant select on ${sql.id(table.schema, table.name)} to ${named(role)}`;
const grantLater = (schema: string, role: string): Fragment =>
  sql`alter default privileges in schema ${sql.id(schema)} grant select on tables to ${named(role)}`;

/** Statements that give what somebody gave on tables, columns, views and functions, but for what each run gives to these roles. */
export async function grantsByHand(
  db: Db,
  all: readonly Named[],
  roles: readonly string[],
): Promise<readonly string[]> {
  // Everybody may execute a function that is made.
  const { rows } = await sql<{ statement: string }>`
    with named as (select n.oid as at, t.name
      from unnest(${all.map(({ schema }) => schema)}::text[], ${all.map(({ name }) => name)}::text[]) as t(schema, name)
      join pg_catalog.pg_namespace n on n.nspname = t.schema),
    objects(object, of_column, owner, acl) as (
      select c.oid::regclass::text, '', c.relowner, c.relacl
      from named join pg_catalog.pg_class c on c.relnamespace = named.at and c.relname = named.name
      union all select c.oid::regclass::text, format(' (%I)', k.attname), c.relowner, k.attacl
      from named join pg_catalog.pg_class c on c.relnamespace = named.at and c.relname = named.name
      join pg_catalog.pg_attribute k on k.attrelid = c.oid and not k.attisdropped
      union all select 'FUNCTION ' || p.oid::regprocedure, '', p.proowner, p.proacl
      from named join pg_catalog.pg_proc p on p.pronamespace = named.at and p.proname = named.name)
    select format('GRANT %s ON %s TO %s;', string_agg(a.privilege_type || of_column, ', ' order by a.privilege_type, of_column),
      object, case when a.grantee = 0 then 'PUBLIC' else quote_ident(pg_get_userbyid(a.grantee)) end) as statement
    from objects cross join aclexplode(acl) a
    where a.grantee <> owner and not (a.grantee = 0 and a.privilege_type = 'EXECUTE') and not (a.privilege_type = 'SELECT' and
      case when a.grantee = 0 then 'public' else pg_get_userbyid(a.grantee)::text end = any(${roles.map(spelled)}::text[]))
    group by object, a.grantee order by 1`.execute(db);
  return rows.map(({ statement }) => statement);
}

/** @throws DestinationError for a role that the server doesn't have */
export async function requireRoles(db: Db, roles: readonly string[]): Promise<void> {
  if (roles.length === 0) return;
  const { rows } = await sql<{ role: string }>`
    select wanted.role from unnest(${roles}::text[]) as wanted(role)
    where lower(wanted.role) <> 'public' and not exists (select from pg_catalog.pg_roles where rolname = wanted.role)`.execute(
    db,
  );
  const [missing] = rows;
  if (missing === undefined) return;
  throw new DestinationError(rightsMessages.unknown_role(missing));
}

/** Warnings of schemas that readers may not use and that are others': a grant which isn't ours to give does nothing, without an error. */
export async function closedSchemas(db: Db, roles: readonly string[], schemas: readonly string[]): Promise<Message[]> {
  const warnings: Message[] = [];
  for (const role of roles) {
    const { rows } = await sql<{ schema: string; owner: string }>`
      select n.nspname as schema, pg_get_userbyid(n.nspowner) as owner from pg_catalog.pg_namespace n
      where n.nspname = any(${schemas}::text[]) and not ${mayOpen}
        and not has_schema_privilege(${spelled(role)}::name, n.oid, 'usage')`.execute(db);
    for (const { schema, owner } of rows) {
      const statement = grantUsage(schema, role).compile(db).sql;
      warnings.push(rightsMessages.closed_schema({ role, schema, owner, statement }));
    }
  }
  return warnings;
}

/** Whether the session's role may let others use the schema n. */
const mayOpen = sql`(pg_has_role(n.nspowner, 'usage') or has_schema_privilege(n.oid, 'usage with grant option'))`;

/** Those the role may not use and can be given, or that are still to be made. */
async function schemasHidden(db: Db, role: string, schemas: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ schema: string }>`
    select s.schema from unnest(${schemas}::text[]) as s(schema)
    left join pg_catalog.pg_namespace n on n.nspname = s.schema
    where n.oid is null or (${mayOpen} and not has_schema_privilege(${spelled(role)}::name, n.oid, 'usage'))`.execute(
    db,
  );
  return rows.map(row => row.schema);
}

async function tablesHidden(db: Db, role: string, tables: readonly Named[]): Promise<readonly Named[]> {
  const { rows } = await sql<Named>`
    select t.schema, t.name
    from unnest(${tables.map(table => table.schema)}::text[], ${tables.map(table => table.name)}::text[]) as t(schema, name)
    left join pg_catalog.pg_namespace n on n.nspname = t.schema
    left join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = t.name
    where not coalesce(has_table_privilege(${spelled(role)}::name, c.oid, 'select'), false)`.execute(db);
  return rows;
}

const readsLaterTables = (db: Db, role: string, schema: string): Promise<boolean> =>
  holds(
    db,
    sql`exists (select from pg_catalog.pg_default_acl d
      join pg_catalog.pg_namespace n on n.oid = d.defaclnamespace
      cross join aclexplode(d.defaclacl) as granted
      where n.nspname = ${schema} and d.defaclobjtype = 'r' and granted.privilege_type = 'SELECT'
        and d.defaclrole = (select oid from pg_catalog.pg_roles where rolname = current_user)
        and granted.grantee = coalesce((select oid from pg_catalog.pg_roles where rolname = ${spelled(role)}), 0))`,
  );

const spelled = (role: string): string => (isPublic(role) ? "public" : role);

async function holds(db: Db, condition: Fragment): Promise<boolean> {
  const { rows } = await sql<{ holds: boolean }>`select ${condition} as holds`.execute(db);
  return rows[0]?.holds === true;
}
