import { type Insertable, sql } from "kysely";
import type { Db } from "../database.ts";
import { columnsIn } from "../ddl/database_catalog.ts";
import type { Destination } from "../destination.ts";
import { written } from "../state_columns.ts";
import { putRow } from "../state_rows.ts";
import type { StateTables } from "../state_tables.ts";

/** A file on its way to the service, as it is written down before each step. */
export type UploadRecord = Readonly<Insertable<StateTables["uploads"]>>;

export async function lastUpload(db: Db, company: string, sha256: string): Promise<UploadRecord | undefined> {
  const query = db.selectFrom("uploads").selectAll().orderBy("nth", "desc");
  const found = await query.where(({ and }) => and({ company, sha256 })).executeTakeFirst();
  return found && written(found);
}

/** Committed when it resolves. */
export const writeUpload = (db: Db, record: UploadRecord): Promise<void> => putRow(db, "uploads", record);

/** Those of the documents that uploads of the company became. */
export async function uploadedDocuments(
  db: Db,
  company: string,
  ids: readonly string[],
): Promise<ReadonlySet<string | null>> {
  if (ids.length === 0) return new Set();
  const query = db.selectFrom("uploads").select("doc_id").where("company", "=", company);
  return new Set((await query.where("doc_id", "in", [...ids]).execute()).map(({ doc_id }) => doc_id));
}

/** The company's live rows of a table whose column has one of the values; none where the table is not there. */
export async function rowsWith(
  { db, schema }: Pick<Destination, "db" | "schema">,
  { company, table, column }: Readonly<Record<"company" | "table" | "column", string>>,
  values: readonly string[],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (!(await columnsIn(db, schema)).has(table)) return [];
  const { rows } = await sql<Record<string, unknown>>`select * from ${sql.id(schema, table)}
    where _company = ${company} and _deleted_at is null and ${sql.id(column)} in (${sql.join(values)})
    order by ${sql.id(column)}`.execute(db);
  return rows;
}
