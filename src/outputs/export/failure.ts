import { DestinationError, TributaryError } from "../../errors.ts";
import { codeOf } from "../../files.ts";
import { destinationFailure } from "../../warehouse/duckdb/session/failure.ts";

const advice: readonly (readonly [RegExp, string])[] = [
  [
    /ENOSPC|EDQUOT|EFBIG|No space left|File too large|[Dd]isk (is )?full|quota exceeded/,
    "The disk is full, or your quota is used up. Changed tables are written beside the previous export, and rows of PostgreSQL wait there in slices of 256 MB: free some space, or keep fewer versions (--keep 1), then run the same command again.",
  ],
  [
    /EACCES|EPERM|EROFS|Permission denied|Operation not permitted|Read-only file system/,
    "This user may not write there. Give it write permission on the folder that --out lies in, or name another one.",
  ],
  [/EBUSY|Resource busy/, "A disk is mounted there, or a program stands in it. Name a folder below it instead."],
  [/ENAMETOOLONG/, "The path is too long for the file system. Name a folder further up."],
  [/ENOTDIR|Not a directory/, "A part of the path that should be a folder is a file. Name another folder."],
  [
    /ENOENT|ESTALE|No such file or directory/,
    "Something vanished meanwhile: a mounted drive, or the folder beside it that holds the versions. Run the same command again.",
  ],
];

/** An error of the disk as a DestinationError that says what to do; what was exported before is still there. */
export function exportFailure(path: string, error: unknown): unknown {
  // What DuckDB says of files it says of the warehouse's, where these are the export's.
  const told = error instanceof DestinationError && /IO Error/.test(String(error.cause)) ? error.cause : error;
  if (told instanceof TributaryError) return told;
  const message = told instanceof Error ? told.message : String(told);
  const isOfFiles = codeOf(told) !== undefined || /IO Error/.test(message);
  const found = isOfFiles ? advice.find(([pattern]) => pattern.test(message)) : undefined;
  if (found === undefined) return destinationFailure(`export to ${path}`, error);
  const line = message.trim().split("\n", 1)[0]!.replace(/\.$/, "");
  return new DestinationError(
    `Expected to export to ${path}, but: ${line}. ${found[1]} What was exported before is untouched.`,
    error,
  );
}
