import type { Feed, Stream } from "../../catalog/stream.ts";
import { digestOf } from "../../digest.ts";
import type { OldRow } from "../../rows/old_rows.ts";
import type { Query } from "../../source/api.ts";
import type { StreamState } from "../../warehouse/state/stream_state.ts";
import type { RunPolicy, StreamPolicy } from "../context.ts";

const DAY = 86_400_000;

/** The service's clock may be ahead of ours by so much. */
const SLACK = 3_600_000;

/** How a listing is read this time. */
export interface ScanPlan {
  readonly query: Query;
  /** No narrowing filter but the config's start: what it doesn't see is missing. */
  readonly full: boolean;
  readonly range: Range | undefined;
  readonly why: string;
  /** A time filter that is distrusted is tried again after it. */
  readonly restoresTrust?: true;
  /** A part that no full scan has read: by all its statuses, too. */
  readonly coversAnew?: true;
}

/** What a scan that is narrowed, if only by the config's start, asked for: from a day on, or so many days back by the service's own clock. Moments in ms. */
export type Range = { readonly by: "day"; readonly from: number } | { readonly by: "window"; readonly days: number };

/** The day from which on a listing's rows are stored; undefined: all of them, for only a feed's say when they came about. */
export function boundOf({ mode }: Stream, start: string | undefined): string | undefined {
  return mode.kind === "feed" ? start : undefined;
}

/** All statuses that a list's rows came by, and those that the config no longer names: none once deletions are accepted, as what is not listed is gone then. */
export function statusesOf(
  { statuses: before }: StreamState,
  { statuses }: StreamPolicy,
  { confirmDeletes }: Pick<RunPolicy, "confirmDeletes">,
): { readonly all: readonly string[]; readonly dropped: readonly string[] } {
  const dropped = confirmDeletes ? [] : before.filter(status => !statuses.includes(status));
  return { all: [...statuses, ...dropped], dropped };
}

/** Lists are read whole, feeds since their high-water mark once that is cheaper. */
export function planScan(
  stream: Stream,
  state: StreamState,
  policy: StreamPolicy,
  run: Pick<RunPolicy, "full" | "confirmDeletes" | "start"> & { readonly now: number },
): ScanPlan {
  const query = stream.query ?? {};
  const { mode } = stream;
  if (mode.kind !== "feed") return { query, full: true, range: undefined, why: "lists are read whole" };
  const every = policy.fullScanEveryMs ?? mode.fullScanEveryDays * DAY;
  // Then neither may `start` be left to it.
  if (state.filterDistrusted) {
    const since = state.distrustedAt === null ? 0 : Date.parse(state.distrustedAt);
    const due = run.full || run.confirmDeletes || run.now - since >= every;
    const why = "its time filter is distrusted";
    return { query, full: true, range: undefined, why, ...(due ? { restoresTrust: true } : {}) };
  }
  const start = mode.narrow.by === "dates" ? run.start : undefined;
  const bounded = start !== undefined && mode.narrow.by === "dates" ? { ...query, [mode.narrow.from]: start } : query;
  const range = start === undefined ? undefined : ({ by: "day", from: Date.parse(start) } as const);
  const whole = (why: string): ScanPlan => ({ query: bounded, full: true, range, why });
  if (run.full) return whole("asked for with --full");
  // A part of a feed misses nothing: there would be nothing to accept.
  if (run.confirmDeletes) return whole("asked for with --confirm-deletes");
  if (state.mixedFormats) return whole("formats changed since it was read");
  if (state.highWaterMark === null || state.lastFullAt === null) return whole("never read whole before");
  if (state.undecided?.again === true) return whole("rows were missing from its last full scan");
  const pages = policy.fullScanPages ?? mode.fullScanPages;
  if ((state.lastFullPages ?? 0) <= pages) return whole(`it has no more than ${pages} pages`);
  if (run.now - Date.parse(state.lastFullAt) >= every) return whole("its regular full scan is due");
  const since = Date.parse(state.highWaterMark) - (policy.lookbackMs ?? mode.lookbackDays * DAY);
  return narrowed(mode, query, since, run) ?? whole("its high-water mark lies further back than its filter reaches");
}

function narrowed(
  mode: Feed,
  query: Query,
  since: number,
  run: { readonly start: string | undefined; readonly now: number },
): ScanPlan | undefined {
  const { narrow } = mode;
  if (narrow.by === "window") {
    const days = narrow.days.find(candidate => run.now + SLACK - since <= candidate * DAY);
    if (days === undefined) return undefined;
    return {
      query: { ...query, [narrow.parameter]: `${days}d` },
      full: false,
      range: { by: "window", days },
      why: `of the last ${days} days`,
    };
  }
  // A day of slack: which zone the service cuts its days in is not known.
  const day = new Date(since - DAY).toISOString().slice(0, 10);
  const from = run.start !== undefined && run.start > day ? run.start : day;
  return {
    query: { ...query, [narrow.from]: from },
    full: false,
    range: { by: "day", from: Date.parse(from) },
    why: `from ${from} on`,
  };
}

/** Those of a scan's oldest rows that it did not ask for; a day of slack for the service's zone. `at`: the service's time, in ms. */
export function strayRows(range: Range | undefined, oldest: readonly OldRow[], at: number): readonly OldRow[] {
  if (range === undefined) return [];
  const from = range.by === "day" ? range.from : at - range.days * DAY;
  return oldest.filter(row => row.at < (from - DAY) * 1000);
}

/** What a scan is: one is continued only by the request that began it. */
export const fingerprint = (facts: readonly unknown[]): string => digestOf(facts, 32);
