import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { DestinationError, LostFileError, TributaryError } from "../../errors.ts";
import { reworded } from "../../message.ts";
import { destinationFailure, firstLineOf } from "../duckdb/session/failure.ts";
import { lakeMessages } from "./messages.ts";

/** What the catalog's PostgreSQL, or the way to it, says when it can't be reached. libpq's words, which are not translated here; none of a session that it knows to be gone. */
const lost =
  /Unable to connect to Postgres|Failed to execute query "(COMMIT|ROLLBACK)": *(\n|$)|server closed the connection|terminating connection|connection to server|could not (receive data from|send data to) server|no connection to the server|SSL connection has been closed|the database system is|Connection refused/i;
const stored =
  /HTTP Error|HTTPException|HTTP (GET|PUT|POST|HEAD)|Could not establish connection|Connection error for HTTP|s3:\/\//;
/** Of files in a folder: it may be a drive that comes back. */
const vanished = /No such file or directory|ESTALE/;
const refused = /\b(401|403)\b|Forbidden|Unauthorized|InvalidAccessKeyId|SignatureDoesNotMatch|AccessDenied/;
// The second is a constraint's name, which PostgreSQL doesn't translate.
const conflict = /Transaction conflict|ducklake_snapshot_pkey/;

/** The file of rows that a message names in quotes, and the folder of its table. */
function dataFileIn(reason: string): { readonly file: string; readonly table: string | undefined } {
  const end = reason.indexOf(".parquet");
  const start = Math.max(reason.lastIndexOf('"', end), reason.lastIndexOf("'", end));
  const file = end < 0 || start < 0 ? "" : reason.slice(start + 1, end + ".parquet".length);
  const [name, table] = file.split("/").reverse();
  return { file, table: name?.startsWith("ducklake-") === true ? table : undefined };
}

/** Whether a transaction was taken back for the sake of another writer of the lake: done again it is likely to get through. */
export const isConflict = (error: unknown): boolean => {
  for (let at = error; at instanceof Error; at = at.cause)
    if (conflict.test(at.message) && !lost.test(at.message)) return true;
  return false;
};

/** A failure of the catalog, the storage or the disk as DestinationError with what to do about it; anything else as it came. */
export function lakeFailure(doing: string, error: unknown): unknown {
  if (error instanceof TributaryError || !(error instanceof Error)) return error;
  const reason = firstLineOf(error);
  if (lost.test(error.message)) return new DestinationError(lakeMessages.catalog_lost({ reason }), error, true);
  if (conflict.test(error.message)) return new DestinationError(lakeMessages.other_writer({ reason }), error, true);
  const { file, table } = dataFileIn(reason);
  // Where the folder is gone with it, the drive may be.
  const isGone = stored.test(reason) ? /\b404\b/.test(reason) : vanished.test(reason) && existsSync(dirname(file));
  if (isGone && table !== undefined) return new LostFileError(lakeMessages.file_lost({ file, table }), 6, error);
  if (stored.test(reason))
    return refused.test(reason)
      ? new DestinationError(lakeMessages.storage_refused({ reason }), error)
      : new DestinationError(lakeMessages.storage_failed({ reason }), error, true);
  const failure = destinationFailure(doing, error);
  if (!(failure instanceof DestinationError)) return failure;
  const text = failure.message.replaceAll("destination.path", "destination.data_path");
  return new DestinationError(reworded(failure, text), error, failure.passing || vanished.test(error.message));
}
