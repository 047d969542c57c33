import type { Stream } from "../../catalog/stream.ts";
import { ConfigError } from "../../errors.ts";
import { hasDates } from "../../sync/stream/backfill.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { dropStages } from "../../warehouse/state/drop_stages.ts";
import { loadStreamState, saveStreamState } from "../../warehouse/state/run_log.ts";
import type { Window } from "../../warehouse/state/stream_state.ts";
import { type BackfillPlan, readStreamState, type StreamState } from "../../warehouse/state/stream_state.ts";

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

export interface Wish {
  readonly companies: readonly string[];
  /** Undefined: whatever is unfinished. */
  readonly streams: readonly string[] | undefined;
  readonly range: Range;
  readonly resume: boolean;
  readonly restart: boolean;
}

export interface Decision {
  /** Goes on with a plan that was confirmed before. */
  readonly continued: boolean;
  readonly streams: readonly string[];
  /** Undefined: the one that each stream's own plan says. */
  readonly range: Range | undefined;
  readonly restart: boolean;
  readonly plans: readonly Unfinished[];
}

/** A new plan, or the one that is under way. @throws ConfigError when that has other dates, or there is none to resume */
export function decide(wish: Wish, unfinished: readonly Unfinished[]): Decision {
  const { companies, streams, range, resume, restart } = wish;
  const mine = unfinished.filter(
    ({ company, stream }) => companies.includes(company) && (streams === undefined || streams.includes(stream)),
  );
  if (resume) {
    if (mine.length === 0)
      throw new ConfigError(
        "--resume: no backfill is unfinished. `tributary backfill --from 2023-01-01` begins one, `tributary backfill --help` says more.",
      );
    const named = [...new Set(mine.map(each => each.stream))];
    return { continued: true, streams: named, range: undefined, restart: false, plans: mine };
  }
  const all = streams ?? [];
  if (restart || mine.length === 0) return { continued: false, streams: all, range, restart, plans: mine };
  const other = mine.find(({ plan }) => !isOf(plan, range));
  if (other !== undefined) throw otherDates(other, range);
  return { continued: true, streams: all, range, restart: false, plans: mine };
}

const isOf = (plan: BackfillPlan, { from, to }: Range): boolean =>
  plan.from === (from ?? null) && plan.to === (to ?? null);

const rangeOf = ({ from, to }: BackfillPlan): Range => ({ from: from ?? undefined, to: to ?? undefined });

function otherDates({ company, stream, plan }: Unfinished, range: Range): ConfigError {
  const known = inWords(rangeOf(plan));
  return new ConfigError(
    `A backfill of ${stream} (${company}) ${known} is unfinished, and this one is ${inWords(range)}. \`tributary backfill --resume\` goes on with the first; --restart forgets it and begins with these dates.`,
  );
}

/** `from 2023-01-01 to 2024-01-01`. */
export function inWords({ from, to }: Range): string {
  return `${from === undefined ? "from the oldest row" : `from ${from}`} ${to === undefined ? "up to now" : `to ${to}`}`;
}

export async function unfinishedPlans(db: Destination["db"]): Promise<readonly Unfinished[]> {
  const rows = await db.selectFrom("stream_state").select(["company", "stream", "state"]).execute();
  return rows.flatMap(({ company, stream, state }) => {
    const plan = readStreamState(state).backfill;
    return plan === null || plan.done ? [] : [{ company, stream, plan }];
  });
}

/** Notes for every stream what it has to load, in one transaction; what goes on keeps its plan. @throws ConfigError */
export async function notePlans(
  destination: Destination,
  decision: Decision,
  companies: readonly string[],
  streams: readonly Stream[],
  now: string,
): Promise<void> {
  const { continued, restart, plans } = decision;
  const fresh: { company: string; stream: Stream; state: StreamState; range: Range }[] = [];
  for (const company of companies) {
    for (const stream of streams) {
      const known = plans.find(each => each.company === company && each.stream === stream.name)?.plan;
      const range = decision.range ?? (known === undefined ? undefined : rangeOf(known));
      if (range === undefined) continue;
      const state = await loadStreamState(destination.db, company, stream.name);
      const plan = state.backfill;
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
