import { sql } from "kysely";
import type { Db, Fragment } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import type { View } from "./view.ts";

/** Makes a view, or makes it anew, with its comments: a view that is made anew has lost them in DuckDB. */
export const creation = (dialect: Dialect, schema: string, view: View): readonly Fragment[] => [
  sql`create or replace view ${sql.id(schema, view.name)} as ${sql.raw(view.select)}`,
  ...comments(dialect, schema, view),
];

export const comments = (
  { commentsEverything }: Dialect,
  schema: string,
  { name, comment, columns }: View,
): readonly Fragment[] => [
  sql`comment on view ${sql.id(schema, name)} is ${sql.lit(comment)}`,
  ...columns
    .filter(column => commentsEverything && column.comment !== undefined)
    .map(column => sql`comment on column ${sql.id(schema, name, column.name)} is ${sql.lit(column.comment)}`),
];

/** Drops views together, for they may read each other. Never CASCADE. */
export async function dropViews(db: Db, dialect: Dialect, schema: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  if (dialect.isServer) await sql`drop view ${sql.join(names.map(name => sql.id(schema, name)))}`.execute(db);
  else for (const name of names) await sql`drop view ${sql.id(schema, name)}`.execute(db);
}

/**
 * Does it within a transaction; what the database has against the statements themselves comes back as text, and the
 * transaction goes on. Other failures are thrown.
 */
export async function attempt(db: Db, dialect: Dialect, work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await dialect.attempt(db, work);
    return undefined;
  } catch (error) {
    const said = objection(error);
    if (said === undefined) throw error;
    return said;
  }
}

/** As it came or as an error's cause; undefined for a failure of anything else. */
function objection(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = "code" in at ? String(at.code) : "";
    if (/^42|^2BP01$|^0A/.test(code) || /^(Binder|Catalog|Parser|Not implemented) Error/.test(at.message))
      return at.message.trim().split("\n", 1)[0]!.replace(/\.$/, "");
  }
  return undefined;
}
