import { lookupOf } from "../../catalog/lookup.ts";
import type { Feed, Scan, Stream } from "../../catalog/stream.ts";
import { isWithin } from "../../clock.ts";
import { ApiError, meetsOthers, TributaryError } from "../../errors.ts";
import { momentText } from "../../rows/moment.ts";
import { differentRows, type OldRow, PLURAL } from "../../rows/old_rows.ts";
import type { Query } from "../../source/api.ts";
import { telling } from "../../source/archive/about.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import type { ScanRecord, StreamState } from "../../warehouse/state/stream_state.ts";
import { askedBy, completeWith, type StreamSync, type SyncContext } from "../context.ts";
import { type ListingJob, mayBeCursor, readBeyond, readListing } from "../extract/listing.ts";
import { type Question, readLookup } from "../extract/lookups.ts";
import { readingOf } from "../extract/reading.ts";
import { planScan, type ScanPlan, statusesOf, strayRows } from "../extract/scan_plan.ts";
import { applyLoad, publishStage } from "../load/apply_load.ts";
import { diffLoad, type Load } from "../load/diff_load.ts";
import { deletesMessages, rowsMessages } from "../load/messages.ts";
import { answersAbout } from "../load/row_addresses.ts";
import { type DeleteDecision, decideDeletes, type Missed, OLDEST_SCAN_MS } from "../load/soft_delete_decision.ts";
import type { StreamProgress } from "../stream_progress.ts";
import { type Extraction, keepState, newScan, openExtraction } from "./extraction.ts";
import { begunQuestions, findQuestions } from "./lookups.ts";
import { feedMessages, lookupMessages, streamMessages } from "./messages.ts";

/** Runs that may end with an error of the service before what they read is published as it is. */
const PATIENCE = 3;

/** Reads a list or feed and publishes it. */
export async function syncListing(sync: StreamSync<Scan | Feed>): Promise<void> {
  const { context, stream, mode, progress } = sync;
  const { policy, log, clock } = context;
  const state = await loadStreamState(context.destination.db, context.company, stream.name);
  const plan = planScan(stream, state, context.policy.ofStream(stream.name), { ...policy, now: clock.now() });
  log.debug("reading", { stream: stream.name, query: plan.query, why: plan.why });
  if (state.filterDistrusted) {
    const last_time = plan.restoresTrust === true;
    progress.notes.push(
      feedMessages.filter_distrusted({ stream: stream.name, strays: named(state.strays), last_time }),
    );
  }
  if (mode.kind === "scan" && mode.lookup !== undefined) return lookUp({ ...sync, mode }, state);
  const extraction = await openExtraction(sync, state, plan);
  progress.activity.state = "reading";
  const record = await read(sync, plan, extraction, state);
  const strays = strayRows(plan.range, record.oldest, Date.parse(dateOf(record)));
  const asked = plan.full ? `from ${policy.start} on` : plan.why;
  const doubts = doubtsOf(stream, state, strays, asked, progress);
  if (doubts !== undefined) {
    await setAside(extraction, record, progress);
    return distrustFilter(sync, { ...state, strays: doubts });
  }
  const next = plan.restoresTrust === true ? trusting(state) : plan.range === undefined ? state : { ...state, strays };
  return publishScan(sync, { stage: extraction.stage, record, state: next });
}

/** Rows that were not asked for, where several different ones in this scan and the one before say that the service filters by another field. One may be odd. */
export function doubtsOf(
  { name }: Stream,
  state: Pick<StreamState, "strays">,
  strays: readonly OldRow[],
  asked: string,
  progress: StreamProgress,
): readonly OldRow[] | undefined {
  if (strays.length === 0) return undefined;
  const all = differentRows([...strays, ...state.strays]);
  if (all.length < PLURAL) {
    progress.notes.push(feedMessages.odd_row({ stream: name, asked, strays: named(all) }));
    return undefined;
  }
  progress.warnings.push(feedMessages.filter_refuted({ asked, strays: named(all) }));
  return all;
}

const named = (rows: readonly OldRow[]) => rows.map(({ key, at }) => ({ key, at: momentText(at) }));

const trusting = (state: StreamState): StreamState => ({
  ...state,
  filterDistrusted: false,
  distrustedAt: null,
  strays: [],
});

/** Asks all that the config asks of a lookup; what a run before began to ask is asked to its end first. */
async function lookUp(sync: StreamSync<Scan>, state: StreamState): Promise<void> {
  const { context, stream, mode, progress } = sync;
  const { log } = context;
  const found = await findQuestions(sync);
  if (found.query.length === 0) {
    progress.published = true;
    return;
  }
  const before = begunQuestions(sync, state.questions);
  const opened = await openExtraction(sync, state, found, before);
  const { stage, request, resumed } = opened;
  const remember = (questions: StreamState["questions"]) => keepState(context, stream, { ...state, questions });
  if (!resumed && request.begun !== null) await remember(request.begun);
  const questions = request.query;
  progress.activity.state = "reading";
  const pagesBefore = progress.run.pages;
  const reading = readingOf(context, opened, progress);
  const record = await readLookup({ ...reading, stream, questions, listing: mode }).catch(async error => {
    // Where it gets no further with these values it is begun anew as soon as the columns hold others.
    const stuck = error instanceof ApiError && !meetsOthers(error) && progress.run.pages === pagesBefore;
    if (stuck && request.begun !== null) await remember(null);
    throw error;
  });
  if (record.absent.length > 0)
    log.info(lookupMessages.unknown_values(), { stream: stream.name, unknown: record.absent.length });
  return publishScan(sync, { stage, record, state }, questions);
}

/** Forgets a scan whose rows the next one brings again. */
export async function setAside({ stage }: Extraction, record: ScanRecord, progress: StreamProgress): Promise<void> {
  progress.run.repeated += record.rows;
  await stage.drop();
}

/** Notes that the filter is distrusted, for its rows in `state.strays` too, and reads the feed whole. */
export async function distrustFilter(sync: StreamSync<Scan | Feed>, state: StreamState): Promise<void> {
  const { context, stream } = sync;
  const { clock, policy } = context;
  const distrusting = { ...state, filterDistrusted: true, distrustedAt: new Date(clock.now()).toISOString() };
  // Known only once the whole feed is published, it would be found out anew by every run that is cut short, and the feed begun anew.
  await keepState(context, stream, distrusting);
  const plan = planScan(stream, distrusting, context.policy.ofStream(stream.name), { ...policy, now: clock.now() });
  const extraction = await openExtraction(sync, distrusting, plan);
  const record = await read(sync, plan, extraction, distrusting);
  return publishScan(sync, { stage: extraction.stage, record, state: distrusting });
}

/** Reads a scan to its end; where the service may not take its cursor any more, once from its beginning. */
export async function read(
  sync: StreamSync<Scan | Feed>,
  plan: ScanPlan,
  extraction: Extraction,
  state: StreamState,
  begin?: () => Promise<void>,
): Promise<ScanRecord> {
  const { context, stream, mode, progress } = sync;
  const { stage, record: opened } = extraction;
  const request = { stream, path: stream.path, queries: queriesOf(context, stream, plan), listing: mode };
  const { run } = progress;
  const pagesBefore = run.pages;
  const edges = mode.orders === undefined ? undefined : new Set<string>();
  const job = { ...readingOf(context, extraction, progress), ...request, edges };
  try {
    return await readListing({ ...job, ...(begin === undefined ? {} : { begin }) });
  } catch (error) {
    if (!(error instanceof ApiError) || meetsOthers(error)) throw error;
    const left = stage.record as ScanRecord;
    if (begin === undefined && left.cursor !== null && mayBeCursor(error, run.pages === pagesBefore)) {
      context.log.info(streamMessages.cursor_expired(), { stream: stream.name, reason: error.message });
      // Failing again it counts once for this run.
      const record = newScan(context, opened.fingerprint, plan.full, opened);
      extraction.encoder.forgetPlaces();
      return read(sync, plan, { ...extraction, record }, state, async () => {
        run.repeated += left.rows - run.carried;
        run.carried = 0;
        await stage.begin(record);
      });
    }
    await publishInPart(sync, extraction, state, error, job);
    throw error;
  }
}

/** Where nothing was read before the statuses that the config names are asked for, too: which ones the list shows by itself is not documented. */
function queriesOf(context: SyncContext, stream: Stream, plan: ScanPlan): readonly Query[] {
  if (!plan.full && plan.coversAnew !== true) return [plan.query];
  return [plan.query, ...context.policy.ofStream(stream.name).statuses.map(status => ({ ...plan.query, status }))];
}

/**
 * Loads what came of a listing that cannot be completed: at once where the service's answers say so, else after several runs that
 * ended with an error. Only deletions need a listing that was read to its end.
 */
async function publishInPart(
  sync: StreamSync,
  { stage }: Extraction,
  state: StreamState,
  error: ApiError,
  job: ListingJob,
): Promise<void> {
  const { context, stream, progress } = sync;
  const record = stage.record as ScanRecord;
  const isDue = error.failure === "malformed" || record.failures >= PATIENCE;
  if (!isDue) return;
  // Nothing is deleted here that could be accepted.
  const { all: statuses } = statusesOf(state, context.policy.ofStream(stream.name), { confirmDeletes: false });
  const load = { stream, stage, progress, state: { ...state, statuses }, completeTo: null };
  const publish = async (part: ScanRecord): Promise<void> => {
    progress.isPartial = true;
    await publishStage(context, { ...load, record: part });
  };
  const { pages, rows, part } = record;
  if (rows > 0) {
    progress.warnings.push(streamMessages.read_in_part({ stream: stream.name, pages, rows }));
    await publish(record);
  }
  const isAll = job.listing.orders === undefined && part + 1 >= job.queries.length;
  // Behind a gap, rows that their place tells apart would get the places of others.
  if (isAll || job.encoder.isPlaced) return;
  const begun = { ...newScan(context, `beyond ${record.fingerprint}`, false), part };
  await stage.begin(begun);
  try {
    const beyond = await readBeyond({ ...job, record: begun });
    if (beyond.rows === 0) return stage.drop();
    progress.notes.push(streamMessages.read_beyond({ stream: stream.name, pages: beyond.pages, rows: beyond.rows }));
    await publish(beyond);
  } catch (late) {
    // The run fails with the reason why the list broke off, not with a limit that came later.
    if (!(late instanceof ApiError) || late.exitCode !== 5) throw late;
  }
}

/** A scan that was read before, and is loaded again. */
export interface Again {
  readonly run: string;
  /** It was published before: what it misses is noted, and missing it once more proves nothing. */
  readonly seen: boolean;
  /** The tables knew of later answers than it: the next run reads the stream whole. */
  readonly stale: boolean;
}

/** Publishes a scan that has been read to its end. */
export async function publishScan(
  sync: StreamSync<Scan | Feed>,
  { stage, record: came, state }: Pick<Load, "stage" | "record" | "state">,
  asked: readonly Question[] = [],
  again?: Again,
): Promise<void> {
  const { context, stream, mode, progress } = sync;
  const record = sinceStart(came);
  const answered = record.unread.length === 0;
  const whole = record.full && answered;
  const short = fewerThanTotal(stream, mode, record);
  const date = dateOf(record);
  const newest = whole && (again === undefined || state.lastFullAt === null || state.lastFullAt <= date);
  const before = again === undefined && state.mixedFormats ? null : state.highWaterMark;
  // Only a whole scan deletes what could be accepted.
  const accepting = { confirmDeletes: whole && context.policy.confirmDeletes };
  const { all: statuses, dropped } = statusesOf(state, context.policy.ofStream(stream.name), accepting);
  const next: StreamState = {
    ...state,
    highWaterMark: nextHighWaterMark(mode, record, before, date),
    questions: null,
    lastFullAt: again?.stale === true ? null : newest ? date : state.lastFullAt,
    ...(mode.kind === "feed" ? coverage(state, context.policy.start, newest, again) : {}),
    lastFullPages: newest ? record.pages + record.absent.length : state.lastFullPages,
    statuses: whole || again !== undefined ? statuses : state.statuses,
    // What is loaded again need not be all that was read since.
    mixedFormats: state.mixedFormats && !(whole && again === undefined),
  };
  const load: Load = {
    stream,
    stage,
    record,
    progress,
    state: next,
    showsAll: newest,
    completeTo: completeWith(
      context,
      short === undefined && (whole || (asked.length > 0 && answered) || next.highWaterMark !== null) ? date : null,
    ),
  };
  const withMissing = whole && mode.absence !== "kept";
  const compared = await diffLoad(context, load, withMissing);
  const { diff, target } = compared;
  let decision: DeleteDecision | undefined;
  if (withMissing) {
    if (short === undefined) noteUnseen(record, diff.distinct, progress);
    const asking = askedBy(context, telling(context.service.api, { scan: record.scan, confirms: true }));
    // Rows that came by a status which the config names no more are not asked for: the scan showed a part of them all.
    if (dropped.length > 0 && diff.missing > 0)
      progress.notes.push(deletesMessages.status_dropped({ stream: stream.name, statuses: dropped }));
    const { confirmDeletes, deletes } = context.policy;
    const seen = again?.seen === true;
    const missed: Missed = {
      stream: stream.name,
      address: mode.confirm,
      list: mode.absence === "left" ? "working" : lookupOf(stream) === undefined ? "usual" : "lookup",
      record: dropped.length === 0 ? record : { ...record, capped: true },
      diff: seen ? { ...diff, missedBefore: 0 } : diff,
      before: state.undecided,
      run: again?.run ?? context.runId,
      seen,
      isOld: !isWithin(context.clock, Date.parse(record.startedAt), OLDEST_SCAN_MS),
      limits: confirmDeletes ? undefined : deletes,
    };
    const unknown = record.absent.map(part => asked[part]?.context ?? {});
    const answers = await answersAbout(asking, missed, { target, unknown }, progress);
    decision = decideDeletes(missed, answers);
    progress.warnings.push(...decision.warnings);
    progress.notes.push(...decision.notes);
    await context.service.archived();
  }
  const isRead = record.unread.length === 0 && short === undefined;
  const isLast = isRead && decision?.blocked === undefined;
  await applyLoad(context, { ...load, isLast }, compared, decision);
  const { unread } = record;
  if (unread.length > 0) {
    const open = { stream: stream.name, unread: unread.length, questions: asked.length, reason: unread[0]?.reason };
    throw new TributaryError(lookupMessages.unread(open), 1);
  }
  if (decision?.blocked !== undefined) throw new TributaryError(decision.blocked, 1);
  if (short !== undefined) throw short;
}

/** Why a list that comes in one answer lacks rows by the field that its stream names as their count. */
function fewerThanTotal({ name, path }: Stream, mode: Scan | Feed, record: ScanRecord): ApiError | undefined {
  const { lastTotal: total, rows } = record;
  if (mode.kind !== "scan" || mode.paged !== false || total === null || rows >= total) return undefined;
  return new ApiError(streamMessages.rows_lacking({ stream: name, path, total, rows }), { failure: "malformed", path });
}

/** The list's own counter tells of rows that its pages did not show. */
function noteUnseen({ firstTotal, lastTotal }: ScanRecord, distinct: number, progress: StreamProgress): void {
  if (lastTotal === null || firstTotal !== lastTotal || distinct >= lastTotal) return;
  progress.warnings.push(rowsMessages.unseen({ total: lastTotal, shown: distinct }));
}

/** From when on rows may have come that the scan did not see: its first answer's time, or by our clock its begin. */
const dateOf = ({ date, startedAt }: ScanRecord): string => date ?? startedAt;

/** The greatest time among the rows, but never one that the service's own clock had not reached; not earlier than the one before. */
function nextHighWaterMark(mode: Scan | Feed, record: ScanRecord, before: string | null, date: string): string | null {
  if (mode.kind !== "feed" || record.latest === null) return before;
  const latest = new Date(Math.min(Math.floor(record.latest / 1000), Date.parse(date))).toISOString();
  return before !== null && before > latest ? before : latest;
}

/** What the list counted, without the rows from before the config's start: nobody misses them. */
function sinceStart(record: ScanRecord): ScanRecord {
  const { firstTotal, lastTotal, beforeStart } = record;
  const less = (total: number | null) => (total === null ? null : Math.max(0, total - beforeStart));
  return { ...record, firstTotal: less(firstTotal), lastTotal: less(lastTotal) };
}

/** From which day on a feed is covered: that of its last full scan. Where nobody noted it, the configuration is taken at its word. */
function coverage(
  { coversFrom }: StreamState,
  start: string | undefined,
  newest: boolean,
  again: Again | undefined,
): Pick<StreamState, "coversFrom"> {
  return newest || (coversFrom === undefined && again === undefined) ? { coversFrom: start ?? null } : {};
}
