import { sql } from "kysely";
import { z } from "zod";
import type { Db, Fragment } from "../database.ts";
import type { Publishing } from "./load_target.ts";

/** What the keys of such facts begin with. */
export const UNFILLED = "unfilled:";
const storedColumn = z.object({ table: z.string(), column: z.string() });

/** Columns that a run which did not know them has left out of rows: their values wait in `_extra`. */
export interface Unfilled {
  has(table: string, column: string): boolean;
  /** Statements that forget a table's columns, once they were filled. */
  forget(table: string, columns: readonly string[]): readonly Fragment[];
}

export const allFilled: Unfilled = { has: () => false, forget: () => [] };

export async function unfilledColumns(db: Db, stateSchema: string): Promise<Unfilled> {
  const warehouse = sql.id(stateSchema, "warehouse");
  const { rows } = await sql<{ key: string; value: unknown }>`
    select key, value from ${warehouse} where starts_with(key, ${UNFILLED})`.execute(db);
  const noted = rows.map(({ key, value }) => ({ key, ...storedColumn.parse(value) }));
  return {
    has: (table, column) => noted.some(each => each.table === table && each.column === column),
    forget: (table, columns) =>
      noted
        .filter(each => each.table === table && columns.includes(each.column))
        .map(({ key }) => sql`delete from ${warehouse} where key = ${key}`),
  };
}

/**
 * Notes the columns of the published tables that this run doesn't know: another run, or another version, made them. Asked
 * in the publish's transaction after its rows were written, for PostgreSQL lets nobody alter a table from then on: what was
 * added before is seen here, what is added later is filled with these rows there.
 */
export async function noteUnfilled({ trx, destination, target }: Publishing): Promise<void> {
  const { main, children } = target.tables;
  const tables = [main, ...children];
  const { rows: there } = await destination.dialect
    .columnNames(
      destination.schema,
      tables.map(({ name }) => name),
    )
    .execute(trx);
  const unknown = there.filter(
    ({ table, column }) =>
      !column.startsWith("_") && !tables.some(own => own.name === table && own.columns.some(c => c.name === column)),
  );
  if (unknown.length === 0) return;
  const { rows } = await sql<{ key: string }>`select key from ${sql.id(destination.stateSchema, "warehouse")}
    where starts_with(key, ${UNFILLED})`.execute(trx);
  const noted = new Set(rows.map(({ key }) => key));
  for (const { table, column } of unknown) {
    // A company's stream is one run's at a time: nobody else writes this key.
    const key = `${UNFILLED}${JSON.stringify([target.company, table, column])}`;
    if (noted.has(key)) continue;
    const value = JSON.stringify({ table, column });
    await trx.insertInto("warehouse").values({ key, value }).execute();
  }
}
