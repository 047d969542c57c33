import { sql } from "kysely";
import type { Relation } from "../../catalog/relation.ts";
import { digestOf } from "../../digest.ts";
import type { Db, Fragment } from "../database.ts";
import type { Step } from "../ddl/alteration.ts";
import type { Dialect } from "../dialect.ts";

/** What our constraints begin with: others are somebody's own. */
const OURS = "tributary_";

/** From PostgreSQL 18 on a foreign key can be there to be read, without being checked. */
const UNCHECKED_SINCE = 180_000;

/**
 * PostgreSQL: the foreign keys that are lacking, as steps, for tools that draw diagrams and write joins. They are NOT ENFORCED:
 * a detail may be stored before its parent, and nothing is checked while rows are loaded. Only relations that are certain
 * and lead to a primary key; an older server gets none.
 */
export async function foreignKeySteps(
  db: Db,
  dialect: Dialect,
  schema: string,
  relations: readonly Relation[],
  made: ReadonlySet<string>,
): Promise<readonly Step[]> {
  if (!dialect.isServer) return [];
  const wanted = relations.filter(
    ({ certainty, toOne, from, to }) =>
      certainty === "certain" && toOne && from.table !== to.table && made.has(from.table) && made.has(to.table),
  );
  if (wanted.length === 0) return [];
  const { rows } = await sql<{ version: number; name: string | null; from: string; to: string }>`
    select current_setting('server_version_num')::integer as version, c.conname as name, f.relname as "from", case when t.relnamespace = c.connamespace then t.relname end as "to"
    from (select null) one left join pg_catalog.pg_constraint c on c.contype = 'f' and c.connamespace = (
      select oid from pg_catalog.pg_namespace where nspname = ${schema})
    left join pg_catalog.pg_class f on f.oid = c.conrelid left join pg_catalog.pg_class t on t.oid = c.confrelid`.execute(
    db,
  );
  const { version = 0 } = rows[0] ?? {};
  if (version < UNCHECKED_SINCE) return [];
  const statements = wanted.flatMap(relation => {
    const name = constraintName(relation);
    const present = rows.find(row => row.name === name && row.from === relation.from.table);
    if (present?.to === relation.to.table) return [];
    const table = sql.id(schema, relation.from.table);
    // The table that it refers to was renamed, and another one has its name now.
    const moved = present === undefined ? [] : [sql`alter table ${table} drop constraint ${sql.id(name)}`];
    return [...moved, foreignKey(schema, relation)];
  });
  return statements.length === 0 ? [] : [{ statements }];
}

function foreignKey(schema: string, relation: Relation): Fragment {
  const columns = (names: readonly string[]) => sql.join(["_company", ...names].map(name => sql.id(name)));
  const { from, to } = relation;
  return sql`alter table ${sql.id(schema, from.table)} add constraint ${sql.id(constraintName(relation))}
    foreign key (${columns(from.columns)}) references ${sql.id(schema, to.table)} (${columns(to.columns)}) not enforced`;
}

/** Within 63 bytes, and another one for another pair of tables. */
function constraintName({ from, to }: Relation): string {
  return `${OURS}${from.table.slice(0, 43)}_${digestOf([from, to], 8)}`;
}

/** PostgreSQL: takes our foreign keys to these tables away, so that the tables can be dropped. Somebody's own stay, and say so. */
export async function dropForeignKeysTo(
  db: Db,
  dialect: Dialect,
  schema: string,
  tables: readonly string[],
): Promise<void> {
  if (!dialect.isServer || tables.length === 0) return;
  const { rows } = await sql<{ table: string; name: string }>`
    select f.relname as "table", c.conname as name
    from pg_catalog.pg_constraint c
    join pg_catalog.pg_class f on f.oid = c.conrelid
    join pg_catalog.pg_class t on t.oid = c.confrelid
    join pg_catalog.pg_namespace n on n.oid = c.connamespace
    where c.contype = 'f' and n.nspname = ${schema} and c.conname like ${`${OURS.replaceAll("_", "\\_")}%`}
      and t.relnamespace = n.oid and t.relname = any(${tables}::text[])`.execute(db);
  for (const { table, name } of rows)
    await sql`alter table ${sql.id(schema, table)} drop constraint ${sql.id(name)}`.execute(db);
}
