import type { Stream } from "../../catalog/stream.ts";
import type { Message } from "../../message.ts";
import { countAbsent, type Waiting, type WorkList } from "../../warehouse/details/work_list.ts";
import { idleCauses } from "../../warehouse/merge/causes.ts";
import type { StreamSync } from "../context.ts";
import type { DetailsResult } from "../extract/details.ts";
import { detailsMessages } from "./messages.ts";

/** How the requests of details ended. */
export type DetailCounts = Pick<DetailsResult, "ok" | "absent" | "failed" | "firstFailure">;

/** So many details that were never fetched are worth a word before they are. */
const MANY_NEW = 1_000;
/** More failures than this share of the requests make the stream a failure. */
const TOLERATED = 0.05;

/** Says what the work list asks for, before it does. */
export function announce(sync: StreamSync, work: WorkList): void {
  const { context, stream, progress } = sync;
  const { name } = stream;
  if (work.total > 0)
    context.log.info(detailsMessages.fetching(), { stream: name, details: work.total, ...work.reasons });
  const fresh = work.reasons["new"] ?? 0;
  if (fresh > MANY_NEW)
    context.log.warn(detailsMessages.many_new({ stream: name, details: fresh }), { stream: name, requests: fresh });
  if (work.left > 0) progress.notes.push(detailsMessages.left({ stream: name, left: work.left, allowed: work.total }));
}

/** Causes that make details due which are as they were. */
export async function noteIdleCauses({ context, stream, progress }: StreamSync): Promise<void> {
  const { db } = context.destination;
  for (const { cause, in_vain } of await idleCauses(db, context.company, stream.name))
    progress.notes.push(detailsMessages.idle_cause({ stream: stream.name, cause, details: in_vain }));
}

const noneWaiting: Waiting = { waiting: 0, known: 0, absent: 0, next: undefined, reason: undefined };

/** Warns of failures that are too few to make the stream fail. */
export function warnOfFailures(
  { stream: { name: stream }, progress }: StreamSync,
  counts: DetailCounts | undefined,
  { waiting, reason: before }: Waiting = noneWaiting,
): void {
  const { failed = 0, firstFailure: reason = before } = counts ?? {};
  if (failed + waiting > 0) progress.warnings.push(detailsMessages.some_failed({ stream, failed, waiting, reason }));
}

/** Notes how many listed rows have no detail, where there were any before this run or in it. */
export async function noteAbsent(
  { context, stream: { name: stream }, progress }: StreamSync,
  counts: DetailCounts | undefined,
  { absent: before }: Waiting = noneWaiting,
): Promise<void> {
  if (before + (counts?.absent ?? 0) === 0) return;
  const absent = await countAbsent(context.destination, context.company, stream);
  if (absent > 0) progress.notes.push(detailsMessages.absent({ stream, absent }));
}

/** Why the stream counts as failed; undefined: it doesn't. */
export function troubleWith(
  { name: stream }: Stream,
  counts: DetailCounts | undefined,
  doubted: boolean,
  { waiting: backingOff, known, next }: Waiting = noneWaiting,
  left: number,
): Message | undefined {
  if (counts === undefined) return undefined;
  const { ok, absent, failed, firstFailure } = counts;
  const details = ok + absent + failed;
  if (doubted) return detailsMessages.absent_doubted({ stream, absent, details });
  if (failed > TOLERATED * details) return detailsMessages.failed({ stream, failed, details, reason: firstFailure });
  // That they are not asked for yet, or left to later runs by max_details, makes no success of what failed before.
  const waiting = backingOff + left;
  if (waiting === 0 || failed + waiting <= TOLERATED * Math.max(known, details)) return undefined;
  return detailsMessages.waiting({ stream, waiting, known, next: next?.toISOString() });
}
