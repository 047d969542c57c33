import { randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConfigError, TributaryError } from "../errors.ts";
import { codeOf, makeFolder } from "../files.ts";
import { atOneMoment, interrupted } from "../warehouse/connect/exporting.ts";
import type { WarehouseReading } from "../warehouse/connect/reading.ts";
import { readCatalog } from "../warehouse/ddl/database_catalog.ts";
import type { CopyFormat } from "../warehouse/dialect.ts";
import { copyRows } from "../warehouse/read/copying.ts";
import { analyticsSchema } from "../warehouse/views/view.ts";
import { queryMessages } from "./messages.ts";

const READ_ONLY = "25006";

export interface Question {
  readonly text: string;
  readonly most: number | undefined;
}

/** Makes names without a schema mean tables, else models and views, else state. */
export async function useSchemas({ db, dialect, schema, stateSchema }: WarehouseReading): Promise<void> {
  const wanted = [schema, analyticsSchema(schema), stateSchema];
  // DuckDB refuses a path with a schema that is not there, as that of the views is without them.
  const { schemas } = await readCatalog(db, dialect, wanted);
  await dialect.searchPath(wanted.filter(name => schemas.has(name))).execute(db);
}

/**
 * Hands over the rows of one query, as the database writes them. It can change nothing: PostgreSQL's transaction is read-only, and so is
 * DuckDB's file. Rejects with the signal's reason soon after it is given, and with what `take` did. @throws ConfigError for what the database doesn't take
 */
export async function takeAnswer(
  reading: WarehouseReading,
  question: Question & { readonly format: Exclude<CopyFormat, "lines"> },
  signal: AbortSignal,
  take: (piece: Buffer) => Promise<void>,
): Promise<void> {
  let untaken: unknown;
  try {
    const copy = (db: WarehouseReading["db"]) =>
      copyRows({ ...reading, db }, [queryOf(question)], question.format, piece => {
        signal.throwIfAborted();
        return take(piece).catch(error => {
          untaken = error;
          throw error;
        });
      });
    // A query may call a function that makes the session's later transactions writable.
    await interrupted(signal, reading.interrupt, () =>
      reading.dialect.hasOtherWriters
        ? reading.db.transaction().setAccessMode("read only").execute(copy)
        : copy(reading.db),
    );
  } catch (error) {
    throw signal.aborted ? signal.reason : (untaken ?? refused(error));
  }
}

/** Writes the rows of one query as a Parquet file, which is there whole or not at all. Throws as `takeAnswer` does. */
export async function writeAnswer(
  reading: WarehouseReading,
  question: Question,
  file: string,
  signal: AbortSignal,
): Promise<number> {
  const room = join(dirname(file), `.tributary-query-${randomUUID()}`);
  try {
    await makeFolder(room, 0o700);
    const target = { folder: room, stem: "answer", folderOf: () => "" } as const;
    const { path, rows } = await atOneMoment(reading, room, signal, ({ source }) =>
      source.writeAnswer(queryOf(question), target),
    );
    await rename(join(room, path), file);
    return rows;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof Error && "syscall" in error)) throw refused(error);
    throw new ConfigError(queryMessages.file_not_writable({ file, reason: codeOf(error) }), error);
  } finally {
    // Below what is no folder there is none to remove.
    await rm(room, { recursive: true, force: true }).catch(() => undefined);
  }
}

function queryOf({ text, most }: Question): string {
  const limit = most === undefined ? "" : ` limit ${most}`;
  // In a line of its own: the text may end with a comment.
  return `select * from (${text.trim().replace(/;$/, "")}\n) answer${limit}`;
}

function refused(error: unknown): TributaryError {
  // That a run could not write there is no advice for a query that tried to.
  const wrote = error instanceof Error && codeOf(error.cause) === READ_ONLY;
  if (error instanceof TributaryError && !wrote) return error;
  const cause = wrote ? error.cause : error;
  const reason = (cause instanceof Error ? cause.message : String(cause)).trim();
  return new ConfigError(queryMessages.refused({ reason }), cause);
}
