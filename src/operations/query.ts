import { ConfigError, TributaryError } from "../errors.ts";
import { codeOf } from "../files.ts";
import type { WarehouseReading } from "../warehouse/connect/reading.ts";
import type { CopyFormat } from "../warehouse/dialect.ts";
import { copyRows } from "../warehouse/read/copying.ts";
import { analyticsSchema } from "../warehouse/views/view.ts";

const READ_ONLY = "25006";

/** One query. */
export interface Question {
  /** SQL as the user wrote it. */
  readonly text: string;
  readonly format: Exclude<CopyFormat, "lines">;
  /** How many rows to return at most; undefined: all. */
  readonly most: number | undefined;
}

/** Makes names without a schema mean tables, else models and views, else state. */
export async function useSchemas({ db, dialect, schema, stateSchema }: WarehouseReading): Promise<void> {
  await dialect.searchPath([schema, analyticsSchema(schema), stateSchema]).execute(db);
}

/**
 * Hands over the rows of one query, as the database writes them. It can change nothing: PostgreSQL's transaction is read-only, and so is
 * DuckDB's file. Rejects with the signal's reason soon after it is given. @throws ConfigError for what the database doesn't take
 */
export async function takeAnswer(
  reading: WarehouseReading,
  { text, format, most }: Question,
  signal: AbortSignal,
  take: (piece: Buffer) => Promise<void>,
): Promise<void> {
  const limit = most === undefined ? "" : ` limit ${most}`;
  // In a line of its own: the text may end with a comment.
  const query = `select * from (${text.trim().replace(/;$/, "")}\n) answer${limit}`;
  const stop = () => reading.interrupt?.();
  signal.addEventListener("abort", stop);
  try {
    const copy = (db: WarehouseReading["db"]) =>
      copyRows({ ...reading, db }, query, format, piece => {
        signal.throwIfAborted();
        return take(piece);
      });
    // A query may call a function that makes the session's later transactions writable.
    await (reading.dialect.hasOtherWriters
      ? reading.db.transaction().setAccessMode("read only").execute(copy)
      : copy(reading.db));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // That a run could not write there is no advice for a query that tried to.
    const wrote = error instanceof Error && codeOf(error.cause) === READ_ONLY;
    throw error instanceof TributaryError && !wrote ? error : refused(wrote ? error.cause : error);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function refused(cause: unknown): ConfigError {
  const said = (cause instanceof Error ? cause.message : String(cause)).trim();
  return new ConfigError(`Expected one query that the database can answer, but it says: ${said}`, cause);
}
