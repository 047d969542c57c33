import { DestinationError, TributaryError } from "../../errors.ts";
import { uncoded } from "../../message.ts";
import { destinationFailure, firstLineOf } from "../duckdb/session/failure.ts";

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

/** Whether a transaction was taken back for the sake of another writer of the lake: done again it is likely to get through. */
export const isConflict = (error: unknown): boolean => {
  for (let at = error; at instanceof Error; at = at.cause)
    if (conflict.test(at.message) && !lost.test(at.message)) return true;
  return false;
};

/** A failure of the catalog, the storage or the disk as DestinationError with what to do about it; anything else as it came. */
export function lakeFailure(doing: string, error: unknown): unknown {
  if (error instanceof TributaryError || !(error instanceof Error)) return error;
  const said = firstLineOf(error);
  if (lost.test(error.message))
    return new DestinationError(
      uncoded(
        `The connection to the PostgreSQL of destination.catalog was lost, or none came about (${said}). What was committed stays and the next run goes on from there; check address, server and network.`,
      ),
      error,
      true,
    );
  if (conflict.test(error.message))
    return new DestinationError(
      uncoded(
        `Another program wrote to the lake at the same moment, and its transaction came first (${said}). Nothing of this one was stored; the next run goes on from there.`,
      ),
      error,
      true,
    );
  if (stored.test(said))
    return refused.test(said)
      ? new DestinationError(
          uncoded(
            `The object storage of destination.data_path refused the credentials (${said}). Check destination.storage and what they may do in that bucket.`,
          ),
          error,
        )
      : new DestinationError(
          uncoded(
            `The object storage of destination.data_path did not do what it was asked (${said}). What was committed stays and the next run goes on from there; check destination.storage and the network.`,
          ),
          error,
          true,
        );
  const failure = destinationFailure(doing, error);
  if (!(failure instanceof DestinationError)) return failure;
  const text = failure.message.replaceAll("destination.path", "destination.data_path");
  return new DestinationError(uncoded(text), error, failure.passing || vanished.test(error.message));
}
