import { type RawBuilder, sql } from "kysely";
import type { Catalog } from "../ddl/catalog.ts";
import type { Dialect } from "../dialect.ts";
import { commentsOfState } from "./state_comments.ts";

/** Statements for the comments that differ from what the catalog says; of a table it doesn't know, all of them. */
export function stateCommentStatements(
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
