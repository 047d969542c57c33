import { type Insertable, type Kysely, sql } from "kysely";
import { columnsIn } from "../ddl/database_catalog.ts";
import type { Destination } from "../destination.ts";
import type { StateTables } from "../state_tables.ts";

/** A file on its way to the service, as it is written down before each step. */
export type UploadRecord = Readonly<Insertable<StateTables["uploads"]>>;

/** The last sending of a content. */
export async function lastUpload(
  db: Kysely<StateTables>,
  company: string,
  sha256: string,
): Promise<UploadRecord | undefined> {
  const found = await db
    .selectFrom("uploads")
    .selectAll()
    .where("company", "=", company)
    .where("sha256", "=", sha256)
    .orderBy("nth", "desc")
    .executeTakeFirst();
  if (found === undefined) return undefined;
  return { ...found, started_at: found.started_at.toISOString(), changed_at: found.changed_at.toISOString() };
}

/** Committed when it resolves. */
export async function writeUpload(db: Kysely<StateTables>, record: UploadRecord): Promise<void> {
  await db.transaction().execute(async trx => {
    const { company, sha256, nth } = record;
    await trx
      .deleteFrom("uploads")
      .where("company", "=", company)
      .where("sha256", "=", sha256)
      .where("nth", "=", nth)
      .execute();
    await trx.insertInto("uploads").values(record).execute();
  });
}

/** Those of the documents that uploads of the company became. */
export async function uploadedDocuments(
  db: Kysely<StateTables>,
  company: string,
  ids: readonly string[],
): Promise<ReadonlySet<string | null>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom("uploads")
    .select("doc_id")
    .where("company", "=", company)
    .where("doc_id", "in", [...ids])
    .execute();
  return new Set(rows.map(({ doc_id }) => doc_id));
}

export async function noteProcessed(
  db: Kysely<StateTables>,
  company: string,
  ids: readonly string[],
  changed_at: string,
): Promise<void> {
  await db
    .updateTable("uploads")
    .set({ state: "processed", changed_at })
    .where("company", "=", company)
    .where("doc_id", "in", [...ids])
    .where("state", "=", "finalized")
    .execute();
}

/** The company's rows of a table whose column has one of the values; none where the table is not there. */
export async function rowsWith(
  { db, schema }: Pick<Destination, "db" | "schema">,
  company: string,
  { table, column }: { readonly table: string; readonly column: string },
  values: readonly string[],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (values.length === 0 || !(await columnsIn(db, schema)).has(table)) return [];
  const { rows } = await sql<Record<string, unknown>>`select * from ${sql.id(schema, table)}
    where _company = ${company} and _deleted_at is null and ${sql.id(column)} in (${sql.join(values)})
    order by ${sql.id(column)}`.execute(db);
  return rows;
}
