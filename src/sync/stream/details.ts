import type { Detail, Stream } from "../../catalog/stream.ts";
import { ApiError, StoppedError, TributaryError } from "../../errors.ts";
import type { Stage } from "../../warehouse/destination.ts";
import { type Parents, presentParents } from "../../warehouse/details/parents.ts";
import {
  countWaiting,
  countWork,
  openWorkList,
  type WorkItem,
  type WorkList,
  type WorkRequest,
} from "../../warehouse/details/work_list.ts";
import type { Published } from "../../warehouse/merge/apply.ts";
import { areDoubtful } from "../../warehouse/merge/deletion_limits.ts";
import { type Absent, absentWithRows, areReadable, type Parted, stagedAbsent } from "../../warehouse/merge/outcomes.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import type { ScanRecord, StreamState } from "../../warehouse/state/stream_state.ts";
import { completeTogether } from "../../warehouse/state/table_counts.ts";
import type { StreamSync, SyncContext } from "../context.ts";
import { completeWith } from "../context.ts";
import { type DetailsResult, readDetails } from "../extract/details.ts";
import { readingOf } from "../extract/reading.ts";
import { publishStage, throwBlockedLines } from "../load/apply_load.ts";
import { deletesMessages } from "../load/messages.ts";
import type { StreamProgress } from "../stream_progress.ts";
import {
  announce,
  type DetailCounts,
  noteAbsent,
  noteIdleCauses,
  troubleWith,
  warnOfFailures,
} from "./detail_notes.ts";
import { detailRequest, workRequest } from "./detail_request.ts";
import { type Extraction, openExtraction, startAfresh } from "./extraction.ts";
import { areReadWhole } from "./lookups.ts";
import { roomLeft } from "./room.ts";

/** Priority of the requests of a run's first details: below those of lists, even when they are sent again. */
const EARLIEST = 0.4;

/** Details that were fetched before, to be loaded again. */
export interface FetchedBefore {
  readonly work: WorkList;
  readonly at: (item: WorkItem) => string;
}

/**
 * Fetches the details that are due and publishes them, early ones while the rest is still being fetched.
 */
export async function syncDetails(sync: StreamSync<Detail>, before?: FetchedBefore): Promise<void> {
  const { context, stream, mode } = sync;
  const { destination, policy } = context;
  const { shelf, request } = await openShelf(sync, before && { again: context.runId });
  // Of all of them, and of what was fetched back then, none waits; who names rows asks of these alone.
  const waiting = before !== undefined || request.force ? undefined : await countWaiting(destination, request);
  await using work = before?.work ?? (await openWorkList(destination, { ...request, stage: shelf.extraction.stage }));
  shelf.work = work.table;
  if (before === undefined) announce(sync, work);
  const { record, counts, error } = await fetchDue(sync, shelf, { work, request, at: before?.at });
  const doubted = await areAbsentDoubted(context, stream, shelf.extraction, counts);
  const trouble = troubleWith(stream, counts, doubted, waiting, work.leftFailed);
  if (trouble === undefined) warnOfFailures(sync, counts, waiting);
  const ranged = policy.ranged === true && mode.newest !== undefined;
  const isLeft = before === undefined ? lacksNew(work) : await isBehind(destination, request, shelf.extraction.stage);
  const lacking = ranged || isLeft || policy.only !== undefined;
  const whole =
    error === undefined &&
    trouble === undefined &&
    shelf.blocked === undefined &&
    shelf.blockedLines === undefined &&
    !lacking;
  const completeTo = whole ? await completeWithParents(context, request.parents) : null;
  await publishDetails(shelf, record, doubted ? "doubted" : "believed", completeTo);
  await work.noteLooks?.();
  await noteIdleCauses(sync);
  await noteAbsent(sync, counts, waiting);
  if (error !== undefined) throw error;
  if (shelf.blocked !== undefined) {
    const { maxShare, minRows } = policy.deletes;
    const blocked = { stream: stream.name, ...shelf.blocked, max_share: maxShare, min_rows: minRows };
    throw new TributaryError(deletesMessages.details_blocked(blocked), 1);
  }
  throwBlockedLines(context, stream, shelf.blockedLines);
  if (trouble !== undefined) throw new TributaryError(trouble, 1);
}

async function openShelf(
  sync: StreamSync<Detail>,
  again: object = {},
): Promise<{ readonly shelf: Shelf; readonly request: WorkRequest }> {
  const { context, stream, mode, progress } = sync;
  const state = await loadStreamState(context.destination.db, context.company, stream.name);
  const extraction = await openExtraction(sync, state, { query: { ...stream.query, ...again }, full: false });
  const request = { ...workRequest(context, stream, mode), room: await roomLeft(sync) };
  const parentsComplete = await areParentsComplete(context, request.parents);
  const nothing = { work: undefined, deleted: 0, blocked: undefined, blockedLines: undefined };
  return { shelf: { context, stream, extraction, state, progress, parentsComplete, ...nothing }, request };
}

/** Whether it is known which values there are: only then is one gone that no row carries. */
async function areParentsComplete(context: SyncContext, parents: Parents): Promise<boolean> {
  if (parents.kind === "rows") return false;
  const { destination, company } = context;
  const { catalogue } = context.streams;
  const carriers = parents.sources.flatMap(({ stream }) => catalogue.find(other => other.name === stream) ?? []);
  if (!(await areReadWhole(context, carriers))) return false;
  const { sources } = await presentParents(destination, parents);
  return areReadable(destination, company, sources);
}

/** Whether the 404s of these details are not believed. */
async function areAbsentDoubted(
  { destination, company, policy }: SyncContext,
  { tables }: Stream,
  { stage }: Extraction,
  counts: DetailCounts | undefined,
): Promise<boolean> {
  const absent = (await stagedAbsent(destination, stage)).length;
  if (absent === 0) return false;
  const withRows = await absentWithRows(destination, { company, tables, stage });
  return areDoubtful({ absent, answered: counts?.ok ?? 0, withRows }, policy.deletes);
}

interface Shelf {
  readonly context: SyncContext;
  readonly stream: Stream;
  readonly extraction: Extraction;
  readonly state: StreamState;
  readonly progress: StreamProgress;
  readonly parentsComplete: boolean;
  work: WorkList["table"];
  /** Rows that were deleted in this run because answers or values no longer have them. */
  deleted: number;
  /** Those that were too many: from then on none goes. */
  blocked: Parted["blocked"];
  /** Lines of child tables that were too many. */
  blockedLines: Published["blockedLines"];
}

/** Each parent's detail is whole: after a plan limit or an outage what was fetched is worth showing. A signal wants the end, and a wrong clock must date nothing. */
export function mayPublish(error: unknown): boolean {
  return (
    (error instanceof ApiError && error.failure !== "clock") || (error instanceof StoppedError && error.exitCode === 5)
  );
}

/** Fetches a work list, and publishes now and then what has come. @throws what leaves nothing to publish */
async function fetchDue(
  sync: StreamSync<Detail>,
  shelf: Shelf,
  {
    work,
    request,
    at,
  }: {
    readonly work: WorkList;
    readonly request: Pick<WorkRequest, "parents">;
    readonly at?: FetchedBefore["at"] | undefined;
  },
): Promise<{ record: ScanRecord; counts: DetailsResult | undefined; error: unknown }> {
  const { context, stream, mode, progress } = sync;
  const { clock, policy, service } = context;
  const { extraction } = shelf;
  progress.activity.state = "reading";
  // Progress goes by answers; of many rows each the ones that an earlier run left don't tell how many those were.
  if (mode.rows !== undefined) progress.activity.rows = 0;
  progress.activity.total = progress.activity.rows + work.total;
  let published = clock.now();
  let refusal: unknown;
  const timeOf = at ?? (() => new Date(clock.now()).toISOString());
  const how = detailRequest(stream, mode, request.parents, context.streams.catalogue);
  const priority = EARLIEST / (1 + service.turn);
  const between = async (record: ScanRecord) => {
    if (clock.now() - published < policy.publishEveryMs) return record;
    await extraction.batches.flush();
    const fresh = await publishBut404s(shelf, record).catch(error => {
      refusal ??= error;
      throw error;
    });
    published = clock.now();
    return fresh;
  };
  const wasRead = shelf.state.lastMoment !== null;
  const asked = { request: { ...how, priority }, work, timeOf, between, wasRead };
  try {
    const counts = await readDetails({ ...readingOf(context, extraction, progress), ...asked });
    return { record: counts.record, counts, error: undefined };
  } catch (error) {
    // What came after it found no stage any more: that is no news.
    if (refusal !== undefined) throw refusal;
    if (!mayPublish(error)) throw error;
    return { record: extraction.stage.record as ScanRecord, counts: undefined, error };
  }
}

/** Publishes what is staged, but for 404s: whether these can be believed is known when all of them are. They stay, in an empty stage. */
async function publishBut404s(shelf: Shelf, record: ScanRecord): Promise<ScanRecord> {
  const { context, extraction } = shelf;
  const absent = await stagedAbsent(context.destination, extraction.stage);
  await publishDetails(shelf, record, "kept back", null);
  const fresh = await startAfresh(context, extraction.stage, record.fingerprint, false);
  for (const outcome of absent) extraction.encoder.outcome(outcome);
  return fresh;
}

async function publishDetails(
  shelf: Shelf,
  record: ScanRecord,
  absent: Absent,
  completeTo: string | null,
): Promise<void> {
  const { context, stream, extraction, state, progress, parentsComplete, work, deleted, blocked } = shelf;
  const { confirmDeletes, deletes: limits } = context.policy;
  const { parted, blockedLines } = await publishStage(context, {
    stream,
    stage: extraction.stage,
    record: { ...record, phase: "read" },
    progress,
    details: {
      absent,
      guard: confirmDeletes ? undefined : { limits, deleted, isBlocked: blocked !== undefined },
      ...{ parentsComplete, work },
    },
    state,
    completeTo,
  });
  shelf.deleted += parted.deleted;
  shelf.blockedLines ??= blockedLines;
  if (parted.blocked !== undefined && parted.blocked.leaving > (shelf.blocked?.leaving ?? 0))
    shelf.blocked = parted.blocked;
}

/** Whether `max_details` leaves some that were never fetched: these come first. Those it leaves to be fetched again do not make the table late. */
const lacksNew = ({ left, reasons }: WorkList): boolean =>
  left > 0 && Object.keys(reasons).every(reason => reason === "new" || reason === "forced");

/** Whether answers of back then lack some that are due: the run that got them may have been cut short. */
async function isBehind(destination: SyncContext["destination"], request: WorkRequest, stage: Stage): Promise<boolean> {
  const { new: fresh = 0, changed = 0 } = await countWork(destination, { ...request, stage });
  return fresh + changed > 0;
}

/** How far details are complete that were all fetched: no further than the rows or values that they were asked for. */
async function completeWithParents(context: SyncContext, parents: Parents): Promise<string | null> {
  const { earlier, clock, company, destination } = context;
  const names = parents.kind === "rows" ? [parents.stream] : parents.sources.map(({ stream }) => stream);
  const theirs = await completeTogether(destination.db, company, names);
  const read = new Date(earlier?.at ?? clock.now()).toISOString();
  return completeWith(context, theirs !== null && read < theirs ? read : theirs);
}
