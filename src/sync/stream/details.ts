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
import { isTooMany } from "../../warehouse/merge/deletion_limits.ts";
import {
  type Absent,
  absentWithRows,
  areReadable,
  type Parted,
  stagedAbsent,
  stagedAnswers,
} from "../../warehouse/merge/outcomes.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import type { ScanRecord, StreamState } from "../../warehouse/state/stream_state.ts";
import { completeTogether } from "../../warehouse/state/table_counts.ts";
import type { StreamSync, SyncContext } from "../context.ts";
import { completeWith } from "../context.ts";
import { type DetailsResult, readDetails } from "../extract/details.ts";
import { readingOf } from "../extract/reading.ts";
import { publishStage } from "../load/apply_load.ts";
import { deletesMessages } from "../load/messages.ts";
import type { StreamProgress } from "../stream_progress.ts";
import { countParts } from "./count_parts.ts";
import { announce, type DetailCounts, noteIdleCauses, troubleWith } from "./detail_notes.ts";
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

/** What one part of a stream's details came to. */
export interface PartResult extends DetailCounts {
  /** Rows that were too many to go. */
  readonly blocked: Parted["blocked"];
}

/** What other sessions did for a stream: the names of their parts, and what those that came to an end came to. */
export interface Gathered {
  readonly parts: readonly string[];
  readonly counts: readonly PartResult[];
}

/** Hands details out to other sessions, by what is asked for and how many are due; undefined: this one fetches them. */
export type Gather = (request: WorkRequest, due: number) => Promise<Gathered | undefined>;

/**
 * Fetches the shard of the details that are due which `context.part` names, and publishes it beside the others. What 404s mean
 * is left to `syncDetails`: they stay in the part's stage. @throws what ended the requests early, once it is published; never
 * for answers that failed, or rows that were too many to go
 */
export async function fetchPart(sync: StreamSync<Detail>): Promise<PartResult> {
  const { destination } = sync.context;
  const { run } = sync.progress;
  // More than none where it was killed and goes on.
  const asked = run.requests - run.retries;
  const { shelf, request } = await openShelf(sync);
  const { stage } = shelf.extraction;
  const staged =
    request.limit === undefined || stage.record === undefined ? 0 : await stagedAnswers(destination, stage);
  await using work = await openWorkList(destination, { ...request, asked: asked + staged, stage });
  shelf.work = work.table;
  const { record, counts, error } = await fetchDue(sync, shelf, { work, request });
  const kept = await publishBut404s(shelf, record);
  await shelf.extraction.batches.end(kept);
  await work.learn?.();
  if (counts === undefined) throw error;
  const { ok, absent, failed, firstFailure } = counts;
  return { ok, absent, failed, firstFailure, blocked: shelf.blocked };
}

/**
 * Fetches the details that are due and publishes them, early ones while the rest is still being fetched. What `gather` had
 * other sessions fetch before is taken over, and only what they could not do is left to fetch.
 */
export async function syncDetails(sync: StreamSync<Detail>, before?: FetchedBefore, gather?: Gather): Promise<void> {
  const { context, stream, mode } = sync;
  const { destination, policy } = context;
  const { shelf, request } = await openShelf(sync, before && { again: context.runId });
  // Of all of them, and of what was fetched back then, none waits; who names rows asks of these alone.
  const waiting = before !== undefined || request.force ? undefined : await countWaiting(destination, request);
  const gathered = gather && (await gather(request, await countDue(shelf, request)));
  const left = gathered === undefined ? request : await takeOver(sync, shelf, request, gathered);
  await using work = before?.work ?? (await openWorkList(destination, { ...left, stage: shelf.extraction.stage }));
  shelf.work = work.table;
  if (before === undefined) announce(sync, work);
  const { record, counts: own, error } = await fetchDue(sync, shelf, { work, request, at: before?.at });
  const counts = own && together(own, gathered?.counts);
  const doubted = await areDoubtful(context, stream, shelf.extraction, counts);
  const trouble = troubleWith(stream, counts, doubted, waiting, work.leftFailed);
  const ranged = policy.ranged === true && mode.newest !== undefined;
  const isLeft = before === undefined ? lacksNew(work) : await isBehind(destination, request, shelf.extraction.stage);
  const lacking = ranged || isLeft || policy.only !== undefined;
  const whole = error === undefined && trouble === undefined && shelf.blocked === undefined && !lacking;
  const completeTo = whole ? await completeWithParents(context, request.parents) : null;
  await publishDetails(shelf, record, doubted ? "doubted" : "believed", completeTo);
  await work.learn?.();
  await noteIdleCauses(sync);
  if (error !== undefined) throw error;
  if (shelf.blocked !== undefined) {
    const { maxShare, minRows } = policy.deletes;
    const blocked = { stream: stream.name, ...shelf.blocked, max_share: maxShare, min_rows: minRows };
    throw new TributaryError(deletesMessages.details_blocked(blocked), 1);
  }
  if (trouble !== undefined) throw new TributaryError(trouble, 1);
}

async function openShelf(
  sync: StreamSync<Detail>,
  again: object = {},
): Promise<{ readonly shelf: Shelf; readonly request: WorkRequest }> {
  const { context, stream, mode, progress } = sync;
  const state = await loadStreamState(context.destination.db, context.company, stream.name);
  const extraction = await openExtraction(sync, state, { query: { ...stream.query, ...again }, full: false });
  // Of a part it is the whole's.
  const request = {
    ...workRequest(context, stream, mode),
    ...{ plannedAt: progress.run.started_at, room: await roomLeft(sync) },
  };
  // A part that ends early would take values for gone whose rows are another's.
  const parentsComplete = context.part === undefined && (await areParentsComplete(context, request.parents));
  const nothing = { work: undefined, deleted: 0, blocked: undefined };
  return { shelf: { context, stream, extraction, state, progress, parentsComplete, ...nothing }, request };
}

async function countDue({ context, extraction: { stage } }: Shelf, request: WorkRequest): Promise<number> {
  const counts = await countWork(context.destination, { ...request, stage });
  const due = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return Math.min(due, request.limit ?? due);
}

const together = (own: DetailCounts, parts: readonly DetailCounts[] = []): DetailCounts =>
  parts.reduce(
    (sum, part) => ({
      ok: sum.ok + part.ok,
      absent: sum.absent + part.absent,
      failed: sum.failed + part.failed,
      firstFailure: sum.firstFailure ?? part.firstFailure,
    }),
    own,
  );

/** Goes on where the parts have come to: their 404s and what they counted become this run's. Answers what is left to ask for. */
async function takeOver(
  sync: StreamSync,
  shelf: Shelf,
  request: WorkRequest,
  { parts, counts }: Gathered,
): Promise<WorkRequest> {
  const { context, stream, extraction } = shelf;
  const { destination, company } = context;
  const { encoder, batches, record } = extraction;
  const stages: Stage[] = [];
  for (const part of parts) stages.push(await destination.stage(company, stream.tables, part));
  encoder.sequence = record.sequence;
  for (const stage of stages.filter(({ record }) => record !== undefined))
    for (const outcome of await stagedAbsent(destination, stage)) encoder.outcome(outcome);
  shelf.extraction = { ...extraction, record: await batches.end(record) };
  const sums = await countParts(sync);
  for (const stage of stages) await stage.drop();
  shelf.deleted = sums.deleted;
  const blocked = counts.flatMap(part => part.blocked ?? []);
  shelf.blocked = blocked.toSorted((a, b) => b.leaving - a.leaving)[0];
  const asked = sums.requests - sums.retries;
  return { ...request, audit: 0, force: false, refresh: undefined, everyMs: undefined, asked };
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

/** One order that is gone answers 404; hundreds at once whose rows would go, or nothing but 404s, are a service that lost its way. */
async function areDoubtful(
  { destination, company, policy }: SyncContext,
  { tables }: Stream,
  { stage }: Extraction,
  counts: DetailCounts | undefined,
): Promise<boolean> {
  const absent = (await stagedAbsent(destination, stage)).length;
  if (absent <= policy.deletes.minRows) return false;
  const rows = await absentWithRows(destination, { company, tables, stage });
  if (rows.all === 0) return (counts?.ok ?? 0) === 0;
  return isTooMany(policy.deletes, rows.absent, rows.all);
}

interface Shelf {
  readonly context: SyncContext;
  readonly stream: Stream;
  extraction: Extraction;
  readonly state: StreamState;
  readonly progress: StreamProgress;
  readonly parentsComplete: boolean;
  work: WorkList["table"];
  /** Rows that were deleted in this run because answers or values no longer have them. */
  deleted: number;
  /** Those that were too many: from then on none goes. */
  blocked: Parted["blocked"];
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
  const asked = { request: { ...how, priority }, work, timeOf, between };
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
  const { parted } = await publishStage(context, {
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
