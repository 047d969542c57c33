import { sql } from "kysely";
import type { Db } from "../database.ts";

/** Some rows of a table, each value as text. */
export interface Sample {
  readonly schema: string;
  readonly table: string;
  /** What they are sorted by: an index finds them in PostgreSQL, and they are the same for the same table. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** Undefined: of all companies. */
  readonly company: string | undefined;
  readonly limit: number;
}

/** The first live rows by key. */
export async function sampleRows(db: Db, sample: Sample): Promise<readonly Readonly<Record<string, string | null>>[]> {
  const { schema, table, key, columns, company, limit } = sample;
  if (columns.length === 0) return [];
  const texts = columns.map(name => sql`cast(${sql.id(name)} as varchar) as ${sql.id(name)}`);
  const { rows } = await sql<Record<string, string | null>>`select ${sql.join(texts)} from ${sql.id(schema, table)} t
    where t._deleted_at is null ${company === undefined ? sql`` : sql`and t._company = ${company}`}
    order by ${sql.join(key.map(name => sql`t.${sql.id(name)}`))} limit ${sql.lit(limit)}`.execute(db);
  return rows;
}

export interface Counted {
  readonly rows: number;
  readonly live: number;
  /** ISO 8601, of the company that is furthest behind; undefined where one has none. */
  readonly completeTo: string | undefined;
}

/** By main table, over the companies or for one. */
export async function countsOf(db: Db, company: string | undefined): Promise<ReadonlyMap<string, Counted>> {
  const all = await db
    .selectFrom("streams")
    .select(["company", "table_name", "rows", "live_rows", "complete_to"])
    .execute();
  const wanted = all.filter(row => company === undefined || row.company === company);
  return new Map(
    [...Map.groupBy(wanted, row => row.table_name)].map(([name, rows]) => {
      const moments = rows.map(row => row.complete_to?.toISOString()).toSorted();
      const counted: Counted = {
        rows: rows.reduce((sum, row) => sum + row.rows, 0),
        live: rows.reduce((sum, row) => sum + row.live_rows, 0),
        completeTo: moments.includes(undefined) ? undefined : moments[0],
      };
      return [name, counted];
    }),
  );
}
