import { DestinationError, LockedError } from "../../../errors.ts";
import { DENIED, diskFailure, FULL } from "../../../files.ts";
import { uncoded } from "../../../message.ts";

const conflict = /Could not set lock on file|Conflicting lock is held|being used by another process/;

/** What a file system without locks, or one whose locks are out of order, says instead of who has it. */
const lockless =
  /Could not set lock on file.*: (No locks available|Function not implemented|Operation not supported|Input\/output error)/;

/** Whether DuckDB or the system said that another process has the file open; `pid` where it told. */
export function lockConflict(error: unknown): { pid: number | undefined } | undefined {
  const message = messageOf(error);
  if (!conflict.test(message) || lockless.test(message)) return undefined;
  const pid = /\(PID (\d+)\)/.exec(message)?.[1];
  return { pid: pid === undefined ? undefined : Number(pid) };
}

// The third is what a commit says.
const outOfMemory = /Out of Memory|failed to (allocate|pin block)|could not allocate block/i;

const damage = /not a valid DuckDB database|Could not read enough bytes|Corrupt|checksum|Failure while replaying WAL/i;

const advice: readonly (readonly [RegExp, string])[] = [
  [
    lockless,
    "The file system cannot lock files, which is what keeps two runs apart: see to its locks (of NFS: its lock service), or point destination.path to another file system.",
  ],
  [
    diskFailure.full,
    `${FULL} Free some space (a publish needs room for one more copy of the file) or lower destination.keep_versions, then run the same command again: what was stored before is safe.`,
  ],
  [diskFailure.readOnly, "It lies on a read-only file system. Point destination.path to a folder that can be written."],
  [
    diskFailure.denied,
    `${DENIED} Give it write permission on the folder that holds destination.path, or point destination.path elsewhere.`,
  ],
  [
    diskFailure.notFolder,
    "A part of destination.path that should be a folder is a file. Correct destination.path in the config.",
  ],
  [
    /ENOENT|ESTALE|No such file or directory|No files found that match/,
    "The file or its folder has vanished. See that the folder of destination.path exists (a mounted drive may be gone) and run the same command again.",
  ],
  [outOfMemory, "DuckDB needed more memory than it is given. Run fewer streams at a time, or give it more memory."],
  [
    /newer version of DuckDB|older version of DuckDB|storage version|compiled vector size/,
    "The file cannot be used by this version of DuckDB. Move it away: the next run starts from the newest published version if there is one, and from nothing otherwise.",
  ],
  [
    damage,
    "The file is damaged: cut short, or written over. It was left as it is. Move it away, and the .wal beside it: the next run starts from the newest published version if there is one, and from nothing otherwise.",
  ],
  [
    /invalidated/,
    "DuckDB gave up on the file after an earlier error. Run the same command again: what was committed is safe.",
  ],
  [
    // A commit says what could not be done, but not that it was the system.
    /IO Error|(Could not|Cannot) (\w+ ){1,3}file|Could not seek|fsync failed|\bEIO\b|EMFILE|ENFILE|EBUSY|EINVAL/,
    "The system refused to read or write it. See that the disk is well and has room, then run the same command again.",
  ],
];

/** Whether DuckDB had too little memory for what it was asked. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && outOfMemory.test(error.message);
}

/** Whether DuckDB found the file itself damaged, rather than the disk full, or itself too small or too old for it. */
export function isDamage(error: unknown): boolean {
  return advice.find(([pattern]) => pattern.test(messageOf(error)))?.[0] === damage;
}

/** A failure of the disk or the file as DestinationError with what to do about it; anything else as it came. */
export function destinationFailure(doing: string, error: unknown): unknown {
  if (error instanceof DestinationError || error instanceof LockedError) return error;
  const found = advice.find(([pattern]) => pattern.test(messageOf(error)));
  return found === undefined
    ? error
    : new DestinationError(uncoded(`Expected to ${doing}, but: ${firstLineOf(error)}. ${found[1]}`), error);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** DuckDB shows the statement below its message. */
export function firstLineOf(error: unknown): string {
  return messageOf(error).trim().split("\n", 1)[0]!.replace(/\.$/, "");
}

/** Does it, and turns a failure of disk or file into a DestinationError that begins with "Expected to <doing>". */
export async function attempting<T>(
  doing: string,
  work: () => Promise<T>,
  failure: (doing: string, error: unknown) => unknown = destinationFailure,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw failure(doing, error);
  }
}
