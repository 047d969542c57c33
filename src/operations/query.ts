import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, TributaryError } from "../errors.ts";
import { remove } from "../files.ts";
import type { WarehouseReading } from "../warehouse/connect/reading.ts";
import type { CopyFormat } from "../warehouse/dialect.ts";
import { copyRows } from "../warehouse/read/copying.ts";
import { analyticsSchema } from "../warehouse/views/view.ts";

/** A query as somebody wrote it, and how many of its rows are wanted at most; undefined: all. */
export interface Question {
  readonly text: string;
  readonly format: Exclude<CopyFormat, "lines">;
  readonly most: number | undefined;
}

/** Makes names without a schema mean tables, else models and views, else state. */
export async function useSchemas({ db, dialect, schema, stateSchema }: WarehouseReading): Promise<void> {
  await dialect.searchPath([schema, analyticsSchema(schema), stateSchema]).execute(db);
}

/**
 * Hands over the rows of one query, as the database writes them. It can change nothing: PostgreSQL's session is read-only, and so is
 * DuckDB's file. Rejects with the signal's reason soon after it is given. @throws ConfigError for what the database doesn't take
 */
export async function takeAnswer(
  reading: WarehouseReading,
  { text, format, most }: Question,
  signal: AbortSignal,
  take: (piece: Buffer) => Promise<void>,
): Promise<void> {
  const room = join(tmpdir(), `tributary-query-${randomUUID()}`);
  const limit = most === undefined ? "" : ` limit ${most}`;
  // In a line of its own: the text may end with a comment.
  const query = `select * from (${text.trim().replace(/;$/, "")}\n) answer${limit}`;
  const stop = () => reading.interrupt?.();
  signal.addEventListener("abort", stop);
  try {
    await copyRows({ ...reading, room }, query, format, piece => {
      signal.throwIfAborted();
      return take(piece);
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof TributaryError ? error : refused(error);
  } finally {
    signal.removeEventListener("abort", stop);
    await remove(room);
  }
}

function refused(cause: unknown): ConfigError {
  const said = (cause instanceof Error ? cause.message : String(cause)).trim();
  return new ConfigError(`Expected one query that the database can answer, but it says: ${said}`, cause);
}
