import { CompiledQuery, sql } from "kysely";
import { TributaryError } from "../../errors.ts";
import type { Db, Fragment } from "../database.ts";
import { readCatalog } from "../ddl/database_catalog.ts";
import type { Destination } from "../destination.ts";
import type { Exportable } from "../parquet_source.ts";
import { countOf } from "../sql_fragments.ts";
import { analyticsSchema } from "../views/view.ts";

/** The answer to a query written as text, column by column in its own order. */
export async function ask(db: Db, question: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { rows } = await sql<Record<string, unknown>>`${sql.raw(question)}`.execute(db);
  return rows;
}

/** PostgreSQL's statement that plans a query and runs nothing. It takes one statement at a time where there is a parameter. */
export const planning = (query: string): string =>
  `explain select from (select $1::integer as one) own, (${query}\n) whole`;

/**
 * Rejects a query that is several statements, of which none is run: a text that ends the statement around it would bring its own.
 * @throws what the database says
 */
export async function requireOne({ db, parseOne }: Exportable, query: string): Promise<void> {
  if (parseOne === undefined) await db.executeQuery(CompiledQuery.raw(planning(query), [1]));
  else await parseOne(query);
}

/** What stands for a `:name` in a query: a text, or a day as `2026-03-01`. */
export type Meant = { readonly text: string } | { readonly day: string };

/** The same with names for values, and at most so many rows: that holds memory whatever is asked. */
export async function askFor(
  db: Db,
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
  try {
    return await dialect.attempt(db, work);
  } catch (error) {
    if (!/out of range|overflow/i.test(String(error))) throw error;
    return undefined;
  }
}

const inSql = (meant: Meant): Fragment => ("text" in meant ? sql`${meant.text}` : sql`date ${sql.lit(meant.day)}`);

/** Whatever `work` asks of models and tables, as wholes, it sees the warehouse as of one moment; it can write nothing. */
export const atOneMoment = <T>(place: Pick<Destination, "db" | "dialect">, work: (db: Db) => Promise<T>): Promise<T> =>
  inSnapshot(place, false, work);

/** The same for work that keeps answers in temporary tables where it may: a standby and roles without the right to them don't allow it. */
export async function holdingAtOneMoment<T>(
  { db, dialect }: Pick<Destination, "db" | "dialect">,
  work: (db: Db, holds: boolean) => Promise<T>,
): Promise<T> {
  const { rows } = await dialect.mayHold.execute(db);
  const holds = rows[0]?.may === true;
  return inSnapshot({ db, dialect }, holds, trx => work(trx, holds));
}

async function inSnapshot<T>(
  { db, dialect }: Pick<Destination, "db" | "dialect">,
  holds: boolean,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  if (!dialect.hasOtherWriters) return work(db);
  return db.transaction().execute(async trx => {
    for (const statement of dialect.atOneMoment) await statement.execute(trx);
    for (const statement of holds ? dialect.holds : []) await statement.execute(trx);
    for (const statement of dialect.readsWholeTables) await statement.execute(trx);
    return work(trx);
  });
}

/** SQL whose rows are the tables and views of readers, each with its number of rows: null where a view can't be read. */
export async function listingOf({ db, dialect, schema }: Exportable, signal: AbortSignal): Promise<string> {
  const { tables } = await readCatalog(db, dialect, [schema, analyticsSchema(schema)]);
  const lines: Fragment[] = [];
  for (const { schema: of, name, isTable } of tables.values()) {
    const counted = await countOf(db, sql`${sql.id(of, name)}`).catch(error => {
      signal.throwIfAborted();
      if (error instanceof TributaryError) throw error;
      return null;
    });
    const facts = [of, name, isTable ? "table" : "view"].map(text => sql.lit(text));
    lines.push(sql`(${sql.join(facts)}, cast(${sql.lit(counted)} as bigint))`);
  }
  return sql`select * from (values ${sql.join(lines)}) as t("schema", "name", "type", "rows")`.compile(db).sql;
}
