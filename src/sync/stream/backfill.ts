import type { Feed, Stream } from "../../catalog/stream.ts";
import { valueAt } from "../../rows/encode_value.ts";
import { type Formats, readMoment } from "../../rows/moment.ts";
import { differentRows, type OldRow, PLURAL } from "../../rows/old_rows.ts";
import { knownKey } from "../../rows/reject.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import type { BackfillPlan, StreamState } from "../../warehouse/state/stream_state.ts";
import type { StreamSync, SyncContext } from "../context.ts";
import { readingOf } from "../extract/reading.ts";
import { besideRows } from "../extract/rows_in_answer.ts";
import { type DatedFeed, readWindows } from "../extract/windows.ts";
import { mayPublish, syncDetails } from "./details.ts";
import { keepState } from "./extraction.ts";
import { distrustFilter, doubtsOf, syncListing } from "./listing.ts";
import { openWindowStage } from "./window_stage.ts";

/**
 * Loads what the stream's plan names: a list whole, a detail for parents dated in the range, a feed in windows where it can filter by dates. No high-water
 * mark moves: the next run reads the feed whole, because rows without a time are in no window.
 */
export async function backfillStream(sync: StreamSync): Promise<void> {
  const { context, stream, progress } = sync;
  const { mode } = stream;
  const state = await loadState(context, stream);
  const plan = state.backfill;
  if (plan === null || plan.done) {
    progress.published = true;
    return;
  }
  switch (mode.kind) {
    case "scan":
      await syncListing({ ...sync, mode });
      break;
    case "feed":
      if (isInWindows(mode, state)) return backfillFeed({ ...sync, mode }, state, plan);
      await readWhole({ ...sync, mode });
      break;
    case "detail":
      await syncDetails({ ...sync, context: detailsContext(context, plan), mode });
      break;
    case "snapshot":
      break;
  }
  await endPlan(context, stream);
}

const isInWindows = (mode: Feed, { backfill, filterDistrusted }: StreamState): mode is DatedFeed =>
  hasDates(mode) && (backfill?.windows.length ?? 0) > 0 && !filterDistrusted;

export function hasDates(mode: Feed): mode is DatedFeed {
  return mode.narrow.by === "dates";
}

const loadState = (context: SyncContext, stream: Stream): Promise<StreamState> =>
  loadStreamState(context.destination.db, context.company, stream.name);

async function saveState(context: SyncContext, stream: Stream, change: Partial<StreamState>): Promise<void> {
  await keepState(context, stream, { ...(await loadState(context, stream)), ...change });
}

async function endPlan(context: SyncContext, stream: Stream): Promise<void> {
  const { backfill } = await loadState(context, stream);
  if (backfill !== null) await saveState(context, stream, { backfill: { ...backfill, done: true } });
}

function readWhole(sync: StreamSync<Feed>): Promise<void> {
  const { context } = sync;
  return syncListing({ ...sync, context: { ...context, policy: { ...context.policy, full: true } } });
}

/** Only what is missing or changed, all of it: nightly runs look at unchanged ones again, and spread the rest over nights. */
function detailsContext(context: SyncContext, plan: BackfillPlan): SyncContext {
  const start = plan.from ?? context.policy.start;
  const ranged = plan.to !== null || start !== context.policy.start;
  return {
    ...context,
    policy: {
      ...{ ...context.policy, start, to: plan.to ?? undefined, ranged },
      ofStream: name => {
        const own = context.policy.ofStream(name);
        return { ...own, details: { ...own.details, audit: 0, refreshMs: undefined }, maxDetails: undefined };
      },
    },
  };
}

async function backfillFeed(sync: StreamSync<DatedFeed>, state: StreamState, plan: BackfillPlan): Promise<void> {
  const { context, stream, progress } = sync;
  const before = state.strays;
  const strays = await readPlanned(sync, plan, before);
  const doubts = doubtsOf(stream, state, strays, "of one window of time", progress);
  if (doubts === undefined) {
    if (strays.length + before.length > 0) await saveState(context, stream, { strays });
    return;
  }
  await saveState(context, stream, { backfill: { ...plan, windows: [] } });
  await distrustFilter(sync, { ...(await loadState(context, stream)), strays: doubts });
  await endPlan(context, stream);
}

/** Reads and publishes the windows that are not done. Answers the rows that they exclude: where these and those `before` are several, the rest was not read. */
async function readPlanned(
  sync: StreamSync<DatedFeed>,
  plan: BackfillPlan,
  before: readonly OldRow[],
): Promise<readonly OldRow[]> {
  const { context, stream, mode, progress } = sync;
  const staged = await openWindowStage(sync, plan);
  progress.activity.state = "reading";
  const timeOfRow = timeOf(context.encoding.formats, stream, mode);
  const nameOf = (row: unknown) =>
    knownKey(stream.tables.main, besideRows(row), {}, context.encoding.redact) ?? "no key";
  try {
    const { record, strays } = await readWindows({
      reading: readingOf(context, staged, progress),
      stream,
      mode,
      now: context.clock.now(),
      datedRow(row) {
        const at = timeOfRow(row);
        return at === undefined ? undefined : { key: nameOf(row), at };
      },
      strays: before,
      between: record => staged.between(record),
    });
    if (differentRows([...strays, ...before]).length < PLURAL) await staged.publish(record);
    else await staged.forget(record);
    return strays;
  } catch (error) {
    await staged.leave(mayPublish(error));
    throw error;
  }
}

/** Reads a row's time, in microseconds since 1970. */
export function timeOf(
  formats: Formats,
  stream: Stream,
  { highWaterColumn }: Feed,
): (row: unknown) => number | undefined {
  const column = stream.tables.main.columns.find(candidate => candidate.name === highWaterColumn)!;
  return row => {
    if (typeof row !== "object" || row === null) return undefined;
    const value = valueAt(column.path, row as Record<string, unknown>);
    return typeof value === "string" ? readMoment(value, formats) : undefined;
  };
}
