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
import { listingOf, planning, requireOne } from "../warehouse/read/question.ts";
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
  let statement = planning(queryOf(question));
  try {
    const copy = async (db: WarehouseReading["db"]) => {
      await requireOne({ ...reading, db }, queryOf(question));
      statement = reading.dialect.copy(queryOf(question), question.format, "");
      return copyRows({ ...reading, db }, [queryOf(question)], question.format, piece => {
        signal.throwIfAborted();
        return take(piece).catch(error => {
          untaken = error;
          throw error;
        });
      });
    };
    // A query may call a function that makes the session's later transactions writable.
    await interrupted(signal, reading.interrupt, () =>
      reading.dialect.hasOtherWriters
        ? reading.db.transaction().setAccessMode("read only").execute(copy)
        : copy(reading.db),
    );
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw untaken ?? refused(error, question.text, statement);
  }
}

/** A query whose rows are the tables and views of the warehouse, each with its number of rows. */
export const tablesQuery = (reading: WarehouseReading, signal: AbortSignal): Promise<string> =>
  interrupted(signal, reading.interrupt, () => listingOf(reading, signal));

/** Writes the rows of one query as a Parquet file, which is there whole or not at all. Throws as `takeAnswer` does. */
export async function writeAnswer(
  reading: WarehouseReading,
  question: Question,
  file: string,
  signal: AbortSignal,
): Promise<number> {
  // A mistake in the query is found here, where the statement around it is known.
  await takeAnswer(reading, { ...question, most: 0, format: "csv" }, signal, async () => undefined);
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
    if (!(error instanceof Error && "syscall" in error)) throw refused(error, question.text, "");
    throw new ConfigError(queryMessages.file_not_writable({ file, reason: codeOf(error) }), error);
  } finally {
    // Below what is no folder there is none to remove.
    await rm(room, { recursive: true, force: true }).catch(() => undefined);
  }
}

function queryOf({ text, most }: Question): string {
  const limit = most === undefined ? "" : ` limit ${most}`;
  // In lines of its own: the text may end with a comment, and databases name the line of a mistake.
  return `select * from (\n${bare(text)}\n) answer${limit}`;
}

const bare = (text: string): string => text.trim().replace(/;$/, "");

/** How a statement that is no query begins; comments may stand before it. */
const WRITES =
  /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*(alter|attach|begin|call|checkpoint|comment|copy|create|delete|detach|drop|export|grant|import|insert|install|load|merge|pragma|reindex|refresh|revoke|set|truncate|update|use|vacuum)\b/i;

/** `statement` has the query's text in it; "" where the place of a mistake in it is not known. */
function refused(error: unknown, text: string, statement: string): TributaryError {
  // That a run could not write there is no advice for a query that tried to.
  const wrote = error instanceof Error && codeOf(error.cause) === READ_ONLY;
  if (error instanceof TributaryError && !wrote) return error;
  const cause = wrote ? error.cause : error;
  const [, began] = WRITES.exec(text) ?? [];
  if (began !== undefined) return new ConfigError(queryMessages.reads_only({ statement: began.toLowerCase() }), cause);
  return new ConfigError(queryMessages.refused({ reason: reasonOf(cause, bare(text), statement) }), cause);
}

/** The database's reason, and its place in the query's own text: the rest of the statement is not the user's. */
function reasonOf(cause: unknown, text: string, statement: string): string {
  const said = (cause instanceof Error ? cause.message : String(cause)).trim();
  const told = said.split("\n");
  const pointing = told.findLastIndex(line => line.trim() === "^");
  const [, numeral, shown = ""] = /^LINE (\d+): (.*)/.exec(told[pointing - 1] ?? "") ?? [];
  const above = told.slice(0, pointing - 1);
  const whole = numeral === undefined ? said : above.join("\n").trimEnd();
  // A quoted rest of the statement ends where ours begins.
  const head = whole.replace(/\n\) answer[\s\S]*/, '"');
  const place = placeInPostgres(cause, statement) ?? {
    ...{ line: Number(numeral ?? 0) - 1, shown },
    column: (told[pointing] ?? "").indexOf("^") - `LINE ${numeral}: `.length,
  };
  if (place.line <= 0) return head;
  const lines = text.split("\n");
  const last = lines.at(-1)!;
  const isBehind = place.line > lines.length;
  const at = isBehind ? { line: lines.length, shown: last, column: last.length } : place;
  const label = `LINE ${at.line}: `;
  const why = isBehind ? "The query ends where more of it is expected." : head;
  return `${why}\n${label}${at.shown}\n${" ".repeat(label.length + at.column)}^`;
}

/** Line, from 1, and column of the query's text; undefined where PostgreSQL tells none. */
function placeInPostgres(cause: unknown, statement: string) {
  const position = cause instanceof Error && "position" in cause ? Number(cause.position) : 0;
  if (!(position > 0) || statement === "") return undefined;
  // It counts letters, not their halves. The first line is ours.
  const before = Array.from(statement)
    .slice(0, position - 1)
    .join("")
    .split("\n");
  const line = statement.split("\n")[before.length - 1]!;
  const column = before.at(-1)!.length;
  // A long line is shown around the place, as DuckDB does.
  const from = column > 60 ? column - 40 : 0;
  const shown = `${from === 0 ? "" : "…"}${line.slice(from, from + 100)}`;
  return { line: before.length - 1, shown, column: column - from + (from === 0 ? 0 : 1) };
}
