import { snakeCase } from "../../catalog/columns.ts";
import { type Detail, fixedPaths, pathParameters, type Stream } from "../../catalog/stream.ts";
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
import { type Absent, absentWithRows, areReadable, type Parted, stagedAbsent } from "../../warehouse/merge/outcomes.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import type { ScanRecord, StreamState } from "../../warehouse/state/stream_state.ts";
import { completeTogether } from "../../warehouse/state/table_counts.ts";
import type { StreamSync, SyncContext } from "../context.ts";
import { completeWith } from "../context.ts";
import { type DetailRequest, type DetailsJob, type DetailsResult, readDetails } from "../extract/details.ts";
import { readingOf } from "../extract/reading.ts";
import { publishStage } from "../load/apply_load.ts";
import { parentsOf } from "../load/child_streams.ts";
import type { StreamProgress } from "../stream_progress.ts";
import { presentTime } from "../witnessed_time.ts";
import { type Extraction, openExtraction, startAfresh } from "./extraction.ts";
import { areReadWhole } from "./lookups.ts";

/** Priority of the requests of a run's first details: below those of lists, even when they are sent again. */
const EARLIEST = 0.4;
/** More failures than this share of the requests make the stream a failure. */
const TOLERATED = 0.05;
/** So many details that were never fetched are worth a word before they are. */
const MANY_NEW = 1_000;
const DAY_MS = 86_400_000;

/** Details that were fetched before, to be loaded again. */
export interface FetchedBefore {
  readonly work: WorkList;
  readonly at: (item: WorkItem) => string;
}

/** Fetches the details that are due and publishes them, early ones while the rest is still being fetched. */
export async function syncDetails(sync: StreamSync<Detail>, before?: FetchedBefore): Promise<void> {
  const { context, stream, mode, progress } = sync;
  const { clock, destination, policy } = context;
  const state = await loadStreamState(destination.db, context.company, stream.name);
  const query = { ...stream.query, ...(before === undefined ? {} : { again: context.runId }) };
  const extraction = await openExtraction(sync, state, { query, full: false });
  const request = workRequest(context, stream, mode);
  const work = before?.work ?? (await openWorkList(destination, { ...request, stage: extraction.stage }));
  try {
    progress.activity.state = "reading";
    // Progress goes by answers; of many rows each the ones that an earlier run left don't tell how many those were.
    if (mode.rows !== undefined) progress.activity.rows = 0;
    progress.activity.total = progress.activity.rows + work.total;
    if (before === undefined) announce(sync, work);
    // Of all of them, and of what was fetched back then, none waits.
    const waiting = before !== undefined || policy.allDetails ? undefined : await countWaiting(destination, request);
    let published = clock.now();
    let refusal: unknown;
    const parentsComplete = await areParentsComplete(context, request.parents);
    const shelf: Shelf = {
      context,
      stream,
      extraction,
      state,
      progress,
      parentsComplete,
      deleted: 0,
      blocked: undefined,
    };
    const at = before?.at ?? (() => new Date(presentTime(clock, context.service.api.stats)).toISOString());
    const how = detailRequest(stream, mode, request.parents, context.streams.catalogue);
    const priority = EARLIEST / (1 + context.service.turn);
    const asked = { request: { ...how, priority }, work, timeOf: at };
    const result = await fetchAll(sync, extraction, asked, async record => {
      if (clock.now() - published < policy.publishEveryMs) return record;
      await extraction.batches.flush();
      // Whether 404s can be believed is known at the end, when all of them are: until then none is published.
      const absent = await stagedAbsent(destination, extraction.stage);
      await publishDetails(shelf, record, "kept back", null).catch(error => {
        refusal ??= error;
        throw error;
      });
      published = clock.now();
      const fresh = await startAfresh(context, extraction.stage, record.fingerprint, false);
      for (const outcome of absent) extraction.encoder.outcome(outcome);
      return fresh;
    });
    // What came after it found no stage any more: that is no news.
    if (refusal !== undefined) throw refusal;
    if (result.error !== undefined && !mayPublish(result.error)) throw result.error;
    const doubted = await areDoubtful(context, stream, extraction, result.counts);
    const trouble = troubleWith(stream, result.counts, doubted, waiting, work.leftFailed);
    const ranged = policy.ranged === true && mode.newest !== undefined;
    const isLeft = before === undefined ? lacksNew(work) : await isBehind(destination, request, extraction.stage);
    const lacking = ranged || isLeft;
    const whole = result.error === undefined && trouble === undefined && shelf.blocked === undefined && !lacking;
    const completeTo = whole ? await completeWithParents(context, request.parents) : null;
    await publishDetails(shelf, result.record, doubted ? "doubted" : "believed", completeTo);
    if (result.error !== undefined) throw result.error;
    if (shelf.blocked !== undefined) throw new TributaryError(blockedDeletes(shelf, shelf.blocked), 1);
    if (trouble !== undefined) throw new TributaryError(trouble, 1);
  } finally {
    await work.close();
  }
}

function announce(sync: StreamSync, work: WorkList): void {
  const { context, stream, progress } = sync;
  const { name } = stream;
  if (work.total > 0) context.log.info({ stream: name, details: work.total, ...work.reasons }, "fetching details");
  const fresh = work.reasons["new"] ?? 0;
  if (fresh > MANY_NEW) {
    context.log.warn(
      { stream: name, requests: fresh },
      `${name}: ${count(fresh)} details were never fetched, each is one request. streams.settings.${name}.max_details caps how many a run asks for; the next run goes on.`,
    );
  }
  if (work.left > 0)
    progress.notes.push(
      `${name}: ${count(work.left)} details are left for the next runs, as max_details allows ${count(work.total)} a run.`,
    );
}

const count = (value: number): string => value.toLocaleString("en-US");

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
  counts: DetailsResult | undefined,
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
  readonly extraction: Extraction;
  readonly state: StreamState;
  readonly progress: StreamProgress;
  readonly parentsComplete: boolean;
  /** Rows that were deleted in this run because answers or values no longer have them. */
  deleted: number;
  /** Those that were too many: from then on none goes. */
  blocked: Parted["blocked"];
}

function blockedDeletes(
  { context, stream: { name } }: Shelf,
  { leaving, live }: NonNullable<Shelf["blocked"]>,
): string {
  const { maxShare, minRows } = context.policy.deletes;
  return `${name}: ${leaving} of ${live} live rows are in no answer any more or belong to values that no row carries, more than deletes.max_share (${maxShare}) and deletes.min_rows (${minRows}) allow. None of these was marked deleted, and of the answers that lack them nothing was published; everything else was. If it is right, run \`tributary sync ${name} --confirm-deletes\`.`;
}

/** Each parent's detail is whole: after a plan limit or an outage what was fetched is worth showing. A signal wants the end. */
export function mayPublish(error: unknown): boolean {
  return error instanceof ApiError || (error instanceof StoppedError && error.exitCode === 5);
}

async function fetchAll(
  { context, progress }: StreamSync<Detail>,
  extraction: Extraction,
  asked: Pick<DetailsJob, "request" | "work" | "timeOf">,
  between: DetailsJob["between"],
): Promise<{ record: ScanRecord; counts: DetailsResult | undefined; error: unknown }> {
  try {
    const counts = await readDetails({ ...readingOf(context, extraction, progress), ...asked, between });
    return { record: counts.record, counts, error: undefined };
  } catch (error) {
    return { record: extraction.stage.record as ScanRecord, counts: undefined, error };
  }
}

async function publishDetails(
  shelf: Shelf,
  record: ScanRecord,
  absent: Absent,
  completeTo: string | null,
): Promise<void> {
  const { context, stream, extraction, state, progress, parentsComplete, deleted, blocked } = shelf;
  const { confirmDeletes, deletes: limits } = context.policy;
  const { parted } = await publishStage(context, {
    stream,
    stage: extraction.stage,
    record: { ...record, phase: "read" },
    progress,
    details: {
      absent,
      guard: confirmDeletes ? undefined : { limits, deleted, isBlocked: blocked !== undefined },
      parentsComplete,
    },
    state: await currentState(shelf, state),
    completeTo,
  });
  shelf.deleted += parted.deleted;
  if (parted.blocked !== undefined && parted.blocked.leaving > (shelf.blocked?.leaving ?? 0))
    shelf.blocked = parted.blocked;
}

/** An early publish of this run has moved the state on. */
async function currentState({ context, stream }: Shelf, state: StreamState): Promise<StreamState> {
  const now = await loadStreamState(context.destination.db, context.company, stream.name);
  return { ...state, lastMoment: now.lastMoment };
}

/** Why the stream counts as failed; undefined: it doesn't. */
function troubleWith(
  stream: Stream,
  counts: DetailsResult | undefined,
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

export function parameterColumns(stream: Stream, mode: Detail): Record<string, string> {
  const columnOf = (name: string) => mode.by ?? mode.param?.[name] ?? snakeCase(name);
  return Object.fromEntries(pathParameters(stream.path).map(name => [name, columnOf(name)]));
}

/** How details are asked for, by the columns of their parents. */
export function detailRequest(
  stream: Stream,
  mode: Detail,
  parents: Parents,
  catalogue: readonly Stream[],
): Omit<DetailRequest, "priority"> {
  const keys = parents.kind === "values" ? { [stream.key[0]!]: mode.by! } : Object.fromEntries(parents.on);
  return { stream, mode, columns: parameterColumns(stream, mode), keys, siblings: fixedPaths(catalogue) };
}

export const columnsFor = ({ columns, keys }: Pick<DetailRequest, "columns" | "keys">): readonly string[] => [
  ...new Set([...Object.values(columns), ...Object.values(keys)]),
];

/** What decides which details are due, but for what a run under way has asked for. */
export function workRequest(
  context: Pick<SyncContext, "company" | "clock"> & {
    readonly streams: Pick<SyncContext["streams"], "catalogue">;
    readonly policy: Pick<SyncContext["policy"], "start" | "to" | "allDetails" | "ofStream">;
  },
  stream: Stream,
  mode: Detail,
): Omit<WorkRequest, "stage"> {
  const { catalogue } = context.streams;
  const policy = context.policy.ofStream(stream.name);
  const parents = parentsOf(catalogue, stream, mode);
  return {
    company: context.company,
    stream: stream.name,
    parents,
    columns: columnsFor(detailRequest(stream, mode, parents, catalogue)),
    open: mode.open,
    newest: mode.newest,
    start: context.policy.start,
    to: context.policy.to,
    audit: policy.audit,
    refresh: policy.refresh,
    everyMs: policy.refreshEveryMs ?? (mode.everyDays === undefined ? undefined : mode.everyDays * DAY_MS),
    force: context.policy.allDetails,
    limit: policy.maxDetails,
    now: new Date(context.clock.now()).toISOString(),
  };
}

/** Whether `max_details` leaves some that were never fetched: these come first. Those it leaves to be fetched again do not make the table late. */
const lacksNew = ({ left, reasons }: WorkList): boolean =>
  left > 0 && Object.keys(reasons).every(reason => reason === "new" || reason === "forced");

/** Whether answers of back then lack some that are due: the run that got them may have been cut short. */
async function isBehind(
  destination: SyncContext["destination"],
  request: Omit<WorkRequest, "stage">,
  stage: Stage,
): Promise<boolean> {
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
