import { sql } from "kysely";
import type { Db, Fragment, Schemas } from "../database.ts";
import type { Named } from "../dialect.ts";
import { LAKE, TABLES, UNINLINED } from "./place.ts";

/** What the catalog's tables of rows call their own columns: a table that has one of these keeps all its rows in files. */
export const RESERVED = ["row_id", "begin_snapshot", "end_snapshot"] as const;

/**
 * Makes tables that have such columns, each in the catalog's words for its columns. Neither can that be done where rows may stay in
 * the catalog, nor can a table be altered where an option decides that table by table: so the session has the lake twice.
 */
export async function makeUninlined(
  db: Db,
  tables: readonly (Named & { readonly columns: Fragment })[],
): Promise<void> {
  await db.transaction().execute(async trx => {
    for (const { schema, name, columns } of tables) {
      await sql`create schema if not exists ${sql.id(UNINLINED, schema)}`.execute(trx);
      await sql`create table ${sql.id(UNINLINED, schema, name)} (${columns})`.execute(trx);
    }
  });
  await keepUninlined(db);
}

/** Turns inlining off for tables with such columns. Also at the start of a run: one that made them may have been killed before this. */
export async function keepUninlined(db: Db): Promise<void> {
  const option = sql.lit("data_inlining_row_limit");
  const { rows } = await sql<Named>`select "schema", name from ${sql.id("temp", TABLES)}
    where list_has_any(columns, [${sql.join(RESERVED)}]) and concat("schema", '.', name) not in (
      select scope_entry from ${sql.id(LAKE, "options")}() where option_name = ${option} and scope = 'TABLE')`.execute(
    db,
  );
  for (const { schema, name } of rows)
    await sql`call ${sql.id(LAKE, "set_option")}(${option}, 0, "schema" => ${sql.lit(schema)}, table_name => ${sql.lit(name)})`.execute(
      db,
    );
}

/** Of a table that never had a row no statistics are kept, and each plan asks for them once more for each of its columns. */
export async function beginStatistics(db: Db, { schema, stateSchema }: Schemas): Promise<void> {
  const { rows } = await sql<Named & { readonly column: string }>`select "schema", name, columns[1] as "column"
    from ${sql.id("temp", TABLES)} where not has_statistics and "schema" in (${schema}, ${stateSchema})`.execute(db);
  if (rows.length === 0) return;
  await db.transaction().execute(async trx => {
    for (const each of rows) {
      const table = sql.id(each.schema, each.name);
      const { rows: present } = await sql`select 1 as one from ${table} limit 1`.execute(trx);
      if (present.length > 0) continue;
      await sql`insert into ${table} (${sql.id(each.column)}) values (null); delete from ${table}`.execute(trx);
    }
  });
}
