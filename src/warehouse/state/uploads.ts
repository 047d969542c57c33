import { type Insertable, sql } from "kysely";
import { z } from "zod";
import { parsedJson } from "../../files.ts";
import type { Message } from "../../message.ts";
import type { Db } from "../database.ts";
import { columnsIn } from "../ddl/database_catalog.ts";
import type { Destination, Journal } from "../destination.ts";
import { written } from "../state_columns.ts";
import { putRow } from "../state_rows.ts";
import type { StateTables } from "../state_tables.ts";
import { stateMessages } from "./messages.ts";

/** A file on its way to the service, as it is written down before each step. */
export type UploadRecord = Readonly<Insertable<StateTables["uploads"]>>;

/** Uploads by company and content. */
export interface UploadLedger {
  last(company: string, sha256: string): Promise<UploadRecord | undefined>;
  /** Durable when it resolves. */
  write(record: UploadRecord): Promise<void>;
  /** The documents among these that the company's uploads became. */
  documents(company: string, ids: readonly string[]): Promise<ReadonlySet<string | null>>;
  readonly warnings: readonly Message[];
}

type Companies = readonly { readonly name: string; readonly baseUrl: string }[];

/** A line of the journal: the record, and the address of the service that has the document. */
const notedUpload = z.object({
  ...{ company: z.string(), sha256: z.string(), nth: z.int(), file_name: z.string(), bytes: z.number() },
  ...{ content_type: z.string(), key: z.string().nullable(), doc_id: z.string().nullable() },
  ...{ state: z.string(), error: z.string().nullable(), started_at: z.iso.datetime(), changed_at: z.iso.datetime() },
  service: z.string().nullable(),
});

type NotedUpload = z.output<typeof notedUpload>;

const keyOf = ({ company, sha256, nth }: UploadRecord): string => JSON.stringify([company, sha256, nth]);

/**
 * Opens the ledger. Beside a database file it is kept in a journal as well: rows that the table lacks, after a damaged file was
 * replaced by an older version, come back from there. Without that a content would be sent twice.
 */
export async function openUploadLedger(
  { db, journal }: Pick<Destination, "db" | "journal">,
  companies: Companies,
): Promise<UploadLedger> {
  const services = new Map(companies.map(({ name, baseUrl }) => [name, baseUrl]));
  const unread = journal === undefined ? 0 : await agree(db, journal, services);
  return {
    warnings: unread === 0 ? [] : [stateMessages.uploads_unread({ path: journal!.path, lines: unread })],
    async last(company, sha256) {
      const query = db.selectFrom("uploads").selectAll().orderBy("nth", "desc");
      const found = await query.where(({ and }) => and({ company, sha256 })).executeTakeFirst();
      return found && written(found);
    },
    async write(record) {
      // The journal first: it never knows less than the table.
      await journal?.append(lineOf({ ...noted(record), service: services.get(record.company) ?? null }));
      await putRow(db, "uploads", record);
    },
    async documents(company, ids) {
      if (ids.length === 0) return new Set();
      const query = db.selectFrom("uploads").select("doc_id").where("company", "=", company);
      return new Set((await query.where("doc_id", "in", [...ids]).execute()).map(({ doc_id }) => doc_id));
    },
  };
}

/** Gives table and journal the newer record of each upload. Returns how many lines could not be read. */
async function agree(db: Db, journal: Journal, services: ReadonlyMap<string, string>): Promise<number> {
  const lines = await journal.lines();
  const read = (lines ?? []).map(line => notedUpload.safeParse(parsedJson(line)));
  const inJournal = new Map(read.flatMap(({ data }) => (data === undefined ? [] : [[keyOf(data), data] as const])));
  const rows = (await db.selectFrom("uploads").selectAll().execute()).map(written);
  const inTable = new Map(rows.map(row => [keyOf(row), row]));
  // An older release kept no journal: an older version of the table may lack what came after it.
  const isStale = lines === undefined && (await journal.isAfterDamage());
  let isBehind = false;
  for (const [key, row] of inTable) {
    const line = inJournal.get(key);
    if (line !== undefined && line.changed_at >= row.changed_at) continue;
    const known = isStale && row.state !== "finalized" ? doubted(row, "the work file was damaged later.") : row;
    inJournal.set(key, { ...noted(known), service: services.get(row.company) ?? null });
    isBehind = true;
  }
  for (const [key, { service, ...line }] of inJournal) {
    const own = services.get(line.company);
    if (own === undefined) continue;
    const row = inTable.get(key);
    if (row?.changed_at === line.changed_at && row.state === line.state) continue;
    const isOurs = service === null || service === own;
    await putRow(db, "uploads", isOurs ? line : doubted(line, `it was sent to ${service}.`));
  }
  const unread = read.filter(({ success }) => !success).length;
  const isLong = read.length > 2 * inJournal.size + 100;
  if (isBehind || isLong || unread > 0) await journal.replace([...inJournal.values()].map(lineOf));
  return unread;
}

/** It may have been finalized or not: only `--again` sends it once more. */
const doubted = <R extends UploadRecord>(record: R, error: string): R => ({
  ...record,
  ...{ state: "finalizing", doc_id: null, error },
});

const lineOf = (line: NotedUpload): string => JSON.stringify(line);

const noted = (record: UploadRecord): Omit<NotedUpload, "service"> =>
  notedUpload.omit({ service: true }).parse({ key: null, doc_id: null, error: null, ...record });

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
