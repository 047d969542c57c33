import { type Kysely, sql } from "kysely";
import type { StateTables } from "../state_tables.ts";
import { LAKE, TABLES } from "./session.ts";

/** Changes of up to so many rows stay in the catalog until they are written to a file together. */
const INLINED_ROWS = 200;

/** What the catalog's tables of such rows call their own columns: a table that has one of these keeps all its rows in files. */
const RESERVED = ["row_id", "begin_snapshot", "end_snapshot"] as const;

const OPTION = sql.lit("data_inlining_row_limit");

/**
 * Has small changes of each of our tables kept in the catalog, but for those with reserved columns; does nothing where that is so.
 * Not by an option of the whole lake: then no table can be made with such columns, and DuckLake 1.0 crashes on it where there are
 * views.
 */
export async function inlineSmallChanges(
  db: Kysely<StateTables>,
  { schema, stateSchema }: { readonly schema: string; readonly stateSchema: string },
): Promise<void> {
  const option = sql.id(LAKE, "set_option");
  const { rows: options } = await sql<{ scope: string; entry: string | null }>`
    select scope, scope_entry as entry from ${sql.id(LAKE, "options")}() where option_name = ${OPTION}`.execute(db);
  const { rows: tables } = await sql<Fresh>`select "schema", name, has_statistics, columns[1] as "column"
    from ${sql.id("temp", TABLES)} t where "schema" in (${schema}, ${stateSchema})
      and not list_has_any(columns, [${sql.join(RESERVED)}])`.execute(db);
  const done = new Set(options.map(({ entry }) => entry));
  const lacking = tables.filter(each => !done.has(`${each.schema}.${each.name}`));
  const isOff = options.some(({ scope }) => scope === "GLOBAL");
  if (lacking.length === 0 && isOff) return;
  await db.transaction().execute(async trx => {
    if (!isOff) await sql`call ${option}(${OPTION}, 0)`.execute(trx);
    for (const { schema, name } of lacking) {
      const named = sql`"schema" => ${sql.lit(schema)}, table_name => ${sql.lit(name)}`;
      await sql`call ${option}(${OPTION}, ${sql.lit(INLINED_ROWS)}, ${named})`.execute(trx);
    }
  });
  // Of a table that never had a row no statistics are kept, and each plan asks for them once more for each column.
  await db.transaction().execute(async trx => {
    for (const { schema, name, column, has_statistics } of lacking) {
      const table = sql.id(schema, name);
      if (!has_statistics)
        await sql`insert into ${table} (${sql.id(column)}) values (null); delete from ${table}`.execute(trx);
    }
  });
}

interface Fresh {
  readonly schema: string;
  readonly name: string;
  /** One of its columns. */
  readonly column: string;
  readonly has_statistics: boolean;
}
