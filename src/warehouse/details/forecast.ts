import { sql } from "kysely";
import type { Looked } from "../ddl/present_tables.ts";
import { ACTIVE_WEIGHT, divide, scoring } from "./planner.ts";
import { candidatesOf, type WorkRequest } from "./work_list.ts";

/** A detail whose list row did not change: how often it changes, in changes a day, and since how many days it is unseen. */
export interface UnseenDetail {
  readonly rate: number;
  readonly days: number;
  /** Of a row that is open or young: it counts twice, and promises are about it. */
  readonly isActive: boolean;
}

/** Some of a stream's details, whatever order they stand in: the same ones each time. */
export async function someUnseen(
  reading: Looked,
  request: WorkRequest,
  most: number,
): Promise<readonly UnseenDetail[]> {
  const { company, stream, now } = request;
  const all = await candidatesOf(reading, request);
  const candidates = sql`(select * from ${all} d where d.reason in ('caused', 'audit'))`;
  const scored = scoring(reading, { company, stream, candidates, now }, sql`, x.u`);
  const { rows } = await sql<{ rate: number; u: number; weight: number }>`select rate, u, weight from (${scored}) s
    order by md5(parent_key) limit ${sql.lit(most)}`.execute(reading.db);
  return rows.map(({ rate, u, weight }) => ({
    ...{ rate: Number(rate), days: Number(u) },
    isActive: Number(weight) === ACTIVE_WEIGHT,
  }));
}

export interface Forecast {
  /** Share of details that are wrong, as their rates let expect. */
  readonly wrong: number;
  /** Share of active ones that are behind for longer than promised. */
  readonly late: number;
}

interface Nights {
  readonly nights: number;
  /** Looks a night, as a share of the details; causes take so much of it. */
  readonly share: number;
  readonly caused: number;
  readonly withinDays: number;
}

/** How things stand now. */
export const presentForecast = (details: readonly UnseenDetail[], withinDays: number): Forecast => {
  const active = details.filter(({ isActive }) => isActive);
  return {
    wrong: mean(details.map(({ rate, days }) => 1 - Math.exp(-rate * days))),
    late: mean(active.map(({ rate, days }) => 1 - Math.exp(-rate * Math.max(0, days - withinDays)))),
  };
};

/** The forecast after so many nights, each planned as `planNight` does. Details that causes refresh are left out, so it is pessimistic. */
export function forecastAfter(
  details: readonly UnseenDetail[],
  { nights, share, caused, withinDays }: Nights,
): Forecast {
  const days = details.map(detail => detail.days);
  const gainOf = ({ rate, isActive }: UnseenDetail, unseen: number): number => {
    const x = rate * unseen;
    return ((isActive ? ACTIVE_WEIGHT : 1) * (1 - (1 + x) * Math.exp(-x))) / rate;
  };
  let owed = 0;
  for (let night = 1; night <= nights; night++) {
    for (const nth of days.keys()) days[nth]! += 1;
    // Of a few thousand details a night looks at some, or at less than one.
    owed += share * (1 - caused) * details.length;
    const looks = Math.floor(owed);
    owed -= looks;
    const { oldest, sample } = divide(looks, 0);
    const byAge = [...days.keys()].sort((a, b) => days[b]! - days[a]!);
    const seen = new Set(byAge.slice(0, oldest));
    // Spread evenly, another place each night.
    for (let nth = 0; nth < sample; nth++)
      seen.add(Math.floor((((night * looks + nth) * GOLDEN) % 1) * details.length));
    const gains = details.map((detail, nth) => gainOf(detail, days[nth]!));
    const byGain = [...days.keys()].filter(nth => !seen.has(nth)).sort((a, b) => gains[b]! - gains[a]!);
    for (const nth of [...seen, ...byGain.slice(0, Math.max(0, looks - seen.size))]) days[nth] = 0;
  }
  return presentForecast(
    details.map((detail, nth) => ({ ...detail, days: days[nth]! })),
    withinDays,
  );
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** The smallest share of looks a night that keeps a promise after so many nights; undefined: none does. */
export function shareKeeping(
  details: readonly UnseenDetail[],
  { promised, ...how }: Omit<Nights, "share"> & { readonly promised: number },
): number | undefined {
  const isKept = (share: number) => forecastAfter(details, { ...how, share }).late <= 1 - promised;
  if (!isKept(1)) return undefined;
  let [low, high] = [0, 1];
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (isKept(middle)) high = middle;
    else low = middle;
  }
  return high;
}

const STEPS = 10;
