import { ConfigError } from "../../errors.ts";
import {
  type Backfill,
  isOf,
  otherDates,
  type PlannedRange,
  type Range,
  rangeOf,
  type Unfinished,
} from "../../sync/run/backfill_plans.ts";
import type { Db } from "../../warehouse/database.ts";
import { readStreamState } from "../../warehouse/state/stream_state.ts";
import { backfillMessages } from "./messages.ts";

export interface Wish {
  readonly companies: readonly string[];
  /** Undefined: whatever is unfinished. */
  readonly streams: readonly string[] | undefined;
  readonly range: Range;
  readonly resume: boolean;
  readonly restart: boolean;
}

/** A new plan, or the one that is under way. @throws ConfigError when that has other dates, or there is none to resume */
export function decide(wish: Wish, unfinished: readonly Unfinished[]): Backfill {
  const { companies, streams, range, resume, restart } = wish;
  const mine = unfinished.filter(
    ({ company, stream }) => companies.includes(company) && (streams === undefined || streams.includes(stream)),
  );
  if (resume) {
    if (mine.length === 0) throw new ConfigError(backfillMessages.nothing_unfinished());
    const named = [...new Set(mine.map(each => each.stream))];
    return { continued: true, streams: named, range: undefined, ranges: mine.map(rangesOf), restart: false };
  }
  const all = streams ?? [];
  if (restart || mine.length === 0) return { continued: false, streams: all, range, ranges: [], restart };
  const other = mine.find(({ plan }) => !isOf(plan, range));
  if (other !== undefined) throw otherDates(other, range);
  return { continued: true, streams: all, range, ranges: [], restart: false };
}

const rangesOf = ({ company, stream, plan }: Unfinished): PlannedRange => ({ company, stream, range: rangeOf(plan) });

export async function unfinishedPlans(db: Db): Promise<readonly Unfinished[]> {
  const rows = await db.selectFrom("stream_state").select(["company", "stream", "state"]).execute();
  return rows.flatMap(({ company, stream, state }) => {
    const plan = readStreamState(state).backfill;
    return plan === null || plan.done ? [] : [{ company, stream, plan }];
  });
}
