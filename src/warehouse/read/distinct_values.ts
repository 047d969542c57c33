import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import { type Looked, withTables } from "../ddl/present_tables.ts";

export interface ValueColumn {
  readonly stream: { readonly tables: TableSet };
  readonly table: string;
  readonly column: string;
}

/** The distinct values of columns among a company's live rows, as text, in order; none of a table that is not there. */
export async function distinctValues(
  looked: Looked,
  company: string,
  columns: readonly ValueColumn[],
): Promise<readonly string[]> {
  const values = new Set<string>();
  for (const { stream, table, column } of columns) {
    if ((await withTables(looked, [stream])).length === 0) continue;
    const { rows } = await sql<{ value: string }>`
      select distinct cast(${sql.id(column)} as text) as value from ${sql.id(looked.schema, table)}
      where _company = ${company} and _deleted_at is null and ${sql.id(column)} is not null`.execute(looked.db);
    for (const { value } of rows) values.add(value);
  }
  return [...values].sort();
}
