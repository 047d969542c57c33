import { createHash } from "node:crypto";
import type { Query } from "../api/client.ts";
import type { StreamState } from "../state.ts";
import type { Feed, Stream } from "../stream.ts";
import type { StreamPolicy } from "./context.ts";

const DAY = 86_400_000;

/** How a listing is read this time. */
export interface ScanPlan {
  readonly query: Query;
  /** No narrowing filter but the config's start: what it doesn't see is missing. */
  readonly full: boolean;
  /** Rows before this (microseconds) prove that the filter looks at another field; undefined: no filter to check. */
  readonly notBefore: number | undefined;
  readonly why: string;
}

/** Lists are read whole, feeds since their mark once that is cheaper. */
export function planScan(
  stream: Stream,
  state: StreamState,
  policy: StreamPolicy,
  run: { readonly full: boolean; readonly start: string | undefined; readonly now: number },
): ScanPlan {
  const query = stream.query ?? {};
  const { mode } = stream;
  if (mode.kind !== "feed") return { query, full: true, notBefore: undefined, why: "lists are read whole" };
  const bounded =
    run.start !== undefined && mode.narrow.by === "dates" ? { ...query, [mode.narrow.from]: run.start } : query;
  const whole = (why: string): ScanPlan => ({ query: bounded, full: true, notBefore: undefined, why });
  if (run.full) return whole("asked for with --full");
  if (state.mark === null || state.lastFullAt === null) return whole("never read whole before");
  if (state.filterDistrusted) return whole("its time filter does not follow its time field");
  const pages = policy.fullScanPages ?? mode.fullScanPages;
  if ((state.lastFullPages ?? 0) <= pages) return whole(`it has no more than ${pages} pages`);
  const every = policy.fullScanEveryMs ?? mode.fullScanEveryDays * DAY;
  if (run.now - Date.parse(state.lastFullAt) >= every) return whole("its regular full scan is due");
  const since = Date.parse(state.mark) - (policy.lookbackMs ?? mode.lookbackDays * DAY);
  return narrowed(mode, query, since, run) ?? whole("its mark lies further back than its filter reaches");
}

function narrowed(
  mode: Feed,
  query: Query,
  since: number,
  run: { readonly start: string | undefined; readonly now: number },
): ScanPlan | undefined {
  const { narrow } = mode;
  if (narrow.by === "window") {
    const days = narrow.days.find(candidate => run.now - since <= candidate * DAY);
    if (days === undefined) return undefined;
    const from = run.now - (days + 1) * DAY;
    return {
      query: { ...query, [narrow.parameter]: `${days}d` },
      full: false,
      notBefore: from * 1000,
      why: `of the last ${days} days`,
    };
  }
  // A day of slack: which zone the service cuts its days in is not known.
  const day = new Date(since - DAY).toISOString().slice(0, 10);
  const from = run.start !== undefined && run.start > day ? run.start : day;
  return {
    query: { ...query, [narrow.from]: from },
    full: false,
    notBefore: (Date.parse(from) - DAY) * 1000,
    why: `from ${from} on`,
  };
}

/** What a scan is: one is continued only by the request that began it. */
export function fingerprint(facts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 32);
}
