import { DestinationError, LockedError } from "../../../errors.ts";
import { diskFailure } from "../../../files.ts";
import type { Message } from "../../../message.ts";
import { duckdbMessages } from "./messages.ts";

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

const kinds: readonly (readonly [RegExp, (failure: { doing: string; reason: string }) => Message])[] = [
  [lockless, duckdbMessages.lockless],
  [diskFailure.full, duckdbMessages.disk_full],
  [diskFailure.readOnly, duckdbMessages.read_only],
  [diskFailure.denied, duckdbMessages.denied],
  [diskFailure.notFolder, duckdbMessages.no_folder],
  [/ENOENT|ESTALE|No such file or directory|No files found that match/, duckdbMessages.vanished],
  [outOfMemory, duckdbMessages.out_of_memory],
  [
    /newer version of DuckDB|older version of DuckDB|storage version|compiled vector size/,
    duckdbMessages.other_version,
  ],
  [damage, duckdbMessages.damaged],
  [/invalidated/, duckdbMessages.invalidated],
  [
    // A commit says what could not be done, but not that it was the system.
    /IO Error|(Could not|Cannot) (\w+ ){1,3}file|Could not seek|fsync failed|\bEIO\b|EMFILE|ENFILE|EBUSY|EINVAL/,
    duckdbMessages.system_refused,
  ],
];

export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && outOfMemory.test(error.message);
}

/** Whether DuckDB found the file itself damaged, rather than the disk full, or itself too small or too old for it. */
export function isDamage(error: unknown): boolean {
  return kinds.find(([pattern]) => pattern.test(messageOf(error)))?.[0] === damage;
}

/** A failure of the disk or the file as DestinationError with what to do about it; anything else as it came. */
export function destinationFailure(doing: string, error: unknown): unknown {
  if (error instanceof DestinationError || error instanceof LockedError) return error;
  const found = kinds.find(([pattern]) => pattern.test(messageOf(error)));
  return found === undefined ? error : new DestinationError(found[1]({ doing, reason: firstLineOf(error) }), error);
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
