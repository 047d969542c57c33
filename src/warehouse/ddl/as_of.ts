import type { Db } from "../database.ts";
import type { Dialect } from "../dialect.ts";

export const versionsName = (table: { readonly name: string }): string => `${table.name}_versions`;

/** What answers a table's rows as they were at a moment. */
export const asOfName = (table: { readonly name: string }): string => `${table.name}_as_of`;

/** The functions that are there, by `schema.name`: their comments, and the tables of versions that they are bound to. */
export type Functions = ReadonlyMap<string, { readonly comment: string | null; readonly versions: string | null }>;

export async function readFunctions(db: Db, dialect: Dialect, schema: string): Promise<Functions> {
  const { rows } = await dialect.asOf.lines(schema).execute(db);
  return new Map(rows.map(({ name, ...row }) => [`${schema}.${name}`, row]));
}
