import type { Stream } from "../../catalog/stream.ts";
import { ConfigError } from "../../errors.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { dropStages } from "../../warehouse/state/drop_stages.ts";
import { loadStreamState, saveStreamState } from "../../warehouse/state/run_log.ts";
import type { BackfillPlan, StreamState, Window } from "../../warehouse/state/stream_state.ts";
import { hasDates } from "../stream/backfill.ts";
import { runMessages } from "./messages.ts";

/** What a backfill is to load, as it was decided. */
export interface Backfill {
  readonly streams: readonly string[];
  /** Undefined: the one that each stream's own plan says. */
  readonly range: Range | undefined;
  /** What such plans said when it was decided: who removes tables removes them, too. */
  readonly ranges: readonly PlannedRange[];
  /** Goes on with plans that were confirmed before. */
  readonly continued: boolean;
  /** Forgets plans of other dates. */
  readonly restart: boolean;
}

export interface PlannedRange {
  readonly company: string;
  readonly stream: string;
  readonly range: Range;
}

/** Calendar dates, YYYY-MM-DD: rows from the one on, up to the other. Undefined: the oldest there is, and now. */
export interface Range {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export interface Unfinished {
  readonly company: string;
  readonly stream: string;
  readonly plan: BackfillPlan;
}

export const isOf = (plan: BackfillPlan, { from, to }: Range): boolean =>
  plan.from === (from ?? null) && plan.to === (to ?? null);

export const rangeOf = ({ from, to }: BackfillPlan): Range => ({ from: from ?? undefined, to: to ?? undefined });

export function otherDates({ company, stream, plan }: Unfinished, range: Range): ConfigError {
  return new ConfigError(runMessages.other_backfill({ stream, company, unfinished: rangeOf(plan), wanted: range }));
}

/** Notes for every stream what it has to load, in one transaction; what goes on keeps its plan. @throws ConfigError */
export async function notePlans(
  destination: Destination,
  { streams: names, range: asked, ranges, continued, restart }: Backfill,
  companies: readonly string[],
  catalogue: readonly Stream[],
  now: string,
): Promise<void> {
  const fresh: { company: string; stream: Stream; state: StreamState; range: Range }[] = [];
  for (const company of companies) {
    for (const stream of catalogue.filter(({ name }) => names.includes(name))) {
      const state = await loadStreamState(destination.db, company, stream.name);
      const plan = state.backfill;
      const known = ranges.find(each => each.company === company && each.stream === stream.name)?.range;
      const range = asked ?? known;
      if (range === undefined) continue;
      // Another one may have begun since the decision was made.
      if (!restart && plan !== null && !plan.done && !isOf(plan, range))
        throw otherDates({ company, stream: stream.name, plan }, range);
      if (plan !== null && isOf(plan, range) && (continued || (!restart && !plan.done))) continue;
      fresh.push({ company, stream, state, range });
    }
  }
  // What an earlier plan of the same range has staged would be gone on with.
  for (const { company, stream, range } of fresh) {
    if (windowsFor(stream, range, noDistrust, now).length > 0) await dropStages(destination, company, stream.tables);
  }
  await destination.db.transaction().execute(async trx => {
    for (const { company, stream, state, range } of fresh) {
      const windows = windowsFor(stream, range, state, now);
      const backfill: BackfillPlan = { from: range.from ?? null, to: range.to ?? null, windows, done: false };
      await saveStreamState(trx, company, stream.name, { ...state, backfill }, now);
    }
  });
}

const noDistrust = { filterDistrusted: false };

export function windowsFor(
  { mode }: Stream,
  { from, to }: Range,
  { filterDistrusted }: Pick<StreamState, "filterDistrusted">,
  now: string,
): BackfillPlan["windows"] {
  if (mode.kind !== "feed" || !hasDates(mode) || from === undefined || filterDistrusted) return [];
  return [...windowsOf(from, to, now.slice(0, 10))];
}

/** Cuts a range of dates into months, newest first. Windows overlap by a day: not every service documents whether it counts the last one. Without `to` the newest has no end. */
export function windowsOf(from: string, to: string | undefined, today: string): readonly Window[] {
  const windows: Window[] = [];
  let start = from;
  for (;;) {
    const next = monthAfter(start);
    const last = to === undefined ? next > today : next >= to;
    const end = last ? (to ?? null) : next;
    windows.unshift({ from: start, to: end, cursor: null, pages: 0, done: false });
    if (last) return windows;
    start = next;
  }
}

function monthAfter(day: string): string {
  const [year, month] = day.split("-").map(Number) as [number, number];
  return new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10);
}
