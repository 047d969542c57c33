import type { Feed, Stream } from "../../catalog/stream.ts";
import { isoUtc } from "../../rows/moment.ts";
import { differentRows, PLURAL } from "../../rows/old_rows.ts";
import type { Answer, Query } from "../../source/api.ts";
import { telling } from "../../source/archive/about.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import type { StreamState } from "../../warehouse/state/stream_state.ts";
import type { StreamSync } from "../context.ts";
import { firstPage, pagesOf } from "../extract/listing.ts";
import { planScan, type ScanPlan, strayRows } from "../extract/scan_plan.ts";
import type { DatedFeed } from "../extract/windows.ts";
import { publishStage } from "../load/apply_load.ts";
import { hasDates, timeOf } from "./backfill.ts";
import { keepState, openExtraction } from "./extraction.ts";
import { distrustFilter, doubtsOf, read, setAside, syncListing } from "./listing.ts";
import { feedMessages, gapInWords } from "./messages.ts";

const DAY = 86_400_000;
/** How far back the beginning of a feed is looked for, in years. */
const LONGEST = 64;

/** Calendar dates: what the config's start leaves in of a feed and no full scan has covered. From null: from the feed's beginning. */
export interface Gap {
  readonly from: string | null;
  readonly to: string;
}

/** Reads a feed, first what an earlier `start` leaves in that was never read. */
export async function syncFeed(sync: StreamSync<Feed>): Promise<void> {
  const { context, stream, mode, progress } = sync;
  const { clock, company, destination, policy } = context;
  const state = await loadStreamState(destination.db, company, stream.name);
  const plan = planScan(stream, state, context.policy.ofStream(stream.name), { ...policy, now: clock.now() });
  const gap = gapOf(mode, state, plan, policy.start);
  if (gap === undefined) return syncListing(sync);
  const api = telling(context.service.api, { confirms: true });
  const requests = await gapRequests(stream, mode, state, gap, async (path, query) => {
    const answer = await api.get(path, query, { paged: true, signal: context.signal }).catch(error => {
      progress.failedRequest(error);
      throw error;
    });
    progress.page(answer);
    return answer;
  });
  if (!isSame(state.startGap, gap)) await keepState(context, stream, { ...state, startGap: { ...gap, requests } });
  if (requests > policy.confirmAbove) {
    const confirm_above = policy.confirmAbove;
    progress.warnings.push(feedMessages.gap_refused({ stream: stream.name, ...gap, requests, confirm_above }));
    return syncListing({ ...sync, context: { ...context, policy: { ...policy, start: gap.to } } });
  }
  progress.notes.push(feedMessages.gap_read({ stream: stream.name, ...gap, requests }));
  // A full scan brings it, too; where the filter can't say a day nothing else does.
  if (plan.full) return syncListing(sync);
  if (!hasDates(mode)) return syncListing({ ...sync, context: { ...context, policy: { ...policy, full: true } } });
  const distrusted = await readGap({ ...sync, mode }, gap);
  if (!distrusted) await syncListing(sync);
}

/** What a start that was moved back or removed leaves in, where the plan doesn't read it anyway. A warehouse that noted nothing is taken to be covered. */
export function gapOf(
  { narrow }: Feed,
  { coversFrom, filterDistrusted }: StreamState,
  { full }: ScanPlan,
  start: string | undefined,
): Gap | undefined {
  if (coversFrom === undefined || coversFrom === null || (full && (filterDistrusted || narrow.by === "window")))
    return undefined;
  return start === undefined || start < coversFrom ? { from: start ?? null, to: coversFrom } : undefined;
}

const isSame = (known: StreamState["startGap"], { from, to }: Gap): boolean => known?.from === from && known.to === to;

/** How many requests a gap takes beside the usual ones: by the list's total, else by the time that one page covers. What was worked out before is not asked again. */
export async function gapRequests(
  stream: Stream,
  mode: Feed,
  state: StreamState,
  gap: Gap,
  ask: (path: string, query: Query) => Promise<Answer>,
): Promise<number> {
  const { narrow } = mode;
  if (narrow.by === "window") return state.lastFullPages ?? 0;
  if (state.startGap !== null && isSame(state.startGap, gap)) return state.startGap.requests;
  const since = gap.from === null ? {} : { [narrow.from]: gap.from };
  const until = (to: string, most?: number) =>
    firstPage(mode, { ...stream.query, ...since, [narrow.to]: to }, query => ask(stream.path, query), most);
  const { rows, total, hasMore } = await until(gap.to);
  if (!hasMore) return 1;
  if (total !== null) return pagesOf(total);
  const times = rows.map(timeOf(isoUtc, stream, mode)).filter(time => time !== undefined);
  const covered = Math.max(...times) - Math.min(...times);
  let from = gap.from;
  for (let years = 1; from === null; years *= 2) {
    const day = dayOf(Date.parse(gap.to) - years * 365 * DAY);
    // A single row that is older than all others may be odd.
    const older = (await until(day, PLURAL)).rows.length >= PLURAL;
    if (!older || years >= LONGEST) from = day;
  }
  const length = (Date.parse(gap.to) - Date.parse(from)) * 1000;
  return Math.ceil(length / Math.max(covered, 60_000_000));
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Reads a gap to its end; stopped, the next run goes on with it. Whether the filter turned out not to be relied on, and the feed was read whole. */
async function readGap(sync: StreamSync<DatedFeed>, gap: Gap): Promise<boolean> {
  const { context, stream, mode, progress } = sync;
  const { narrow } = mode;
  const state = await loadStreamState(context.destination.db, context.company, stream.name);
  // The day itself, too: rows that the service counts to it may lie before it.
  const dates = { [narrow.to]: dayOf(Date.parse(gap.to) + DAY) };
  const plan: ScanPlan = {
    query: { ...stream.query, ...(gap.from === null ? {} : { [narrow.from]: gap.from }), ...dates },
    full: false,
    range: gap.from === null ? undefined : { by: "day", from: Date.parse(gap.from) },
    why: gapInWords(gap),
    coversAnew: true,
  };
  const extraction = await openExtraction(sync, state, plan);
  progress.activity.state = "reading";
  const record = await read(sync, plan, extraction, state);
  const strays = strayRows(plan.range, record.oldest, 0);
  const doubts = doubtsOf(stream, state, strays, `from ${gap.from} on`, progress);
  if (doubts !== undefined) {
    await setAside(extraction, record, progress);
    await distrustFilter(sync, { ...state, strays: doubts });
    return true;
  }
  // Neither a high-water mark nor a full scan: rows that have no time are in no window, and what is newer comes next.
  await publishStage(context, {
    stream,
    stage: extraction.stage,
    record,
    progress,
    state: { ...state, strays: differentRows([...strays, ...state.strays]), coversFrom: gap.from, startGap: null },
    completeTo: null,
  });
  return false;
}
