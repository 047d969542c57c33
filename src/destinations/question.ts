import { type Kysely, sql } from "kysely";
import type { StateTables } from "./state_tables.ts";

/** The answer to a query written as text, column by column in its own order. */
export async function ask(
  db: Kysely<StateTables>,
  question: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { rows } = await sql<Record<string, unknown>>`${sql.raw(question)}`.execute(db);
  return rows;
}
