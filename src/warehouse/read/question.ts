import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Destination } from "../destination.ts";
import type { StateTables } from "../state_tables.ts";

/** The answer to a query written as text, column by column in its own order. */
export async function ask(
  db: Kysely<StateTables>,
  question: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { rows } = await sql<Record<string, unknown>>`${sql.raw(question)}`.execute(db);
  return rows;
}

/** What stands for a `:name` in a query: a text, or a day as `2026-03-01`. */
export type Meant = { readonly text: string } | { readonly day: string };

/** The same with names for values, and at most so many rows: that holds memory whatever is asked. */
export async function askFor(
  db: Kysely<StateTables>,
  question: string,
  meant: Readonly<Record<string, Meant>>,
  most: number,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const names = new RegExp(`(?<!:):(${Object.keys(meant).join("|")})\\b`);
  const parts = question.split(names).map((part, index) => (index % 2 === 0 ? sql.raw(part) : inSql(meant[part]!)));
  const { rows } = await sql<Record<string, unknown>>`${sql.join(parts, sql.raw(""))} limit ${sql.lit(most)}`.execute(
    db,
  );
  return rows;
}

/** What `work` asks, or undefined where values are beyond what the database can count with; whatever else is asked goes on. */
export async function unlessBeyond<T>(
  { db, dialect }: Pick<Destination, "db" | "dialect">,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const isTransaction = dialect.name === "postgres";
  if (isTransaction) await sql`savepoint question`.execute(db);
  try {
    const answer = await work();
    if (isTransaction) await sql`release savepoint question`.execute(db);
    return answer;
  } catch (error) {
    if (!/out of range|overflow/i.test(String(error))) throw error;
    if (isTransaction) await sql`rollback to savepoint question`.execute(db);
    return undefined;
  }
}

const inSql = (meant: Meant): RawBuilder<unknown> =>
  "text" in meant ? sql`${meant.text}` : sql`date ${sql.lit(meant.day)}`;

/** Whatever `work` asks of models and tables, as wholes, it sees the warehouse as of one moment. */
export async function atOneMoment<T>(
  { db, dialect }: Pick<Destination, "db" | "dialect">,
  work: (db: Kysely<StateTables>) => Promise<T>,
): Promise<T> {
  // A DuckDB file stays as it is while it is read: nobody writes a published one, and no run gets at another.
  if (dialect.name === "duckdb") return work(db);
  return db.transaction().execute(async trx => {
    await sql`set transaction isolation level repeatable read`.execute(trx);
    // Models over whole tables: where statistics are missing, a loop in a loop took 53 s for what takes 1 s.
    await sql`set local enable_nestloop = off`.execute(trx);
    return work(trx);
  });
}
