import type { Stream } from "../../catalog/stream.ts";
import { formatCount } from "../../counted.ts";
import { uncoded } from "../../message.ts";
import type { countWaiting, WorkList } from "../../warehouse/details/work_list.ts";
import { idleCauses } from "../../warehouse/merge/causes.ts";
import type { StreamSync } from "../context.ts";
import type { DetailsResult } from "../extract/details.ts";

/** How the requests of details ended; where one of its parts was killed, those since it went on. */
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
    context.log.info(uncoded("fetching details"), { stream: name, details: work.total, ...work.reasons });
  const fresh = work.reasons["new"] ?? 0;
  if (fresh > MANY_NEW) {
    context.log.warn(
      uncoded(
        `${name}: ${formatCount(fresh)} details were never fetched, each is one request. streams.settings.${name}.max_details caps how many a run asks for; the next run goes on.`,
      ),
      { stream: name, requests: fresh },
    );
  }
  if (work.left > 0)
    progress.notes.push(
      uncoded(
        `${name}: ${formatCount(work.left)} details are left for the next runs, as max_details allows ${formatCount(work.total)} a run.`,
      ),
    );
}

/** Causes that make details due which are as they were. */
export async function noteIdleCauses({ context, stream, progress }: StreamSync): Promise<void> {
  const { db } = context.destination;
  for (const { cause, in_vain } of await idleCauses(db, context.company, stream.name))
    progress.notes.push(
      uncoded(
        `${stream.name}: changes of ${cause} made ${formatCount(in_vain)} details due of which none had changed. streams.settings.${stream.name}.refresh: { without: [${cause}] } leaves their turns to others.`,
      ),
    );
}

/** Why the stream counts as failed; undefined: it doesn't. */
export function troubleWith(
  stream: Stream,
  counts: DetailCounts | undefined,
  doubted: boolean,
  { waiting: backingOff, known, next }: Awaited<ReturnType<typeof countWaiting>> = {
    waiting: 0,
    known: 0,
    next: undefined,
  },
  left: number,
): string | undefined {
  if (counts === undefined) return undefined;
  const { ok, absent, failed, firstFailure } = counts;
  const all = ok + absent + failed;
  if (doubted)
    return `${stream.name}: ${absent} of ${all} details answered 404, too many to be believed: nothing was marked deleted, they are asked again later.`;
  if (failed > TOLERATED * all)
    return `${stream.name}: ${failed} of ${all} details could not be fetched; they are tried again with growing pauses. The first: ${firstFailure}`;
  // That they are not asked for yet, or left to later runs by max_details, makes no success of what failed before.
  const waiting = backingOff + left;
  if (waiting === 0 || failed + waiting <= TOLERATED * Math.max(known, all)) return undefined;
  return `${stream.name}: ${waiting} of ${known} details could not be fetched by the runs before, and wait for their next try. ${nextTry(next)}`;
}

const nextTry = (next: Date | undefined): string =>
  next === undefined
    ? "Later runs fetch them, as many as max_details allows."
    : `The first run after ${next.toISOString().slice(0, 16).replace("T", " ")} UTC asks for some of them again.`;
