import type { Selectable } from "kysely";
import type { StateTables } from "../state_tables.ts";

/** A line of detail_samples: a night's bucket of predicted probability. */
export type SampleRow = Omit<Selectable<StateTables["detail_samples"]>, "company" | "stream">;

/** A share between 0 and 1 with the bounds of its interval of 90 %. */
export interface Estimated {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

export interface WrongEstimate {
  /** Of all live details, after the last night. */
  readonly wrong: Estimated;
  /** Those that have been wrong for more than seven days. */
  readonly behind: Estimated;
  /** Active ones that are no later than promised, as a share of these; null without a look at one. */
  readonly fresh: Estimated | null;
  /** How many looks that rests on. */
  readonly sampled: number;
}

/** `1.2 %`, `14 %`. */
export const shareText = (share: number): string => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

/** Nights that are pooled: a night alone samples too few. */
const POOLED_DAYS = 7;
/** Buckets with fewer looks are joined with their neighbours: one of a few looks would weigh for too many details. */
const FEWEST = 30;
const DAY_MS = 86_400_000;
/** The quantile of the normal distribution at 95 %. */
const Z = 1.6448536269514722;

/** A stratum of the sample: what its finds add up to, and what one of them stands for. */
export interface Weighted {
  readonly found: number;
  readonly weight: number;
}

/**
 * The share of wrong details by the random sample alone, pooled over seven nights and post-stratified by predicted probability
 * with what the last night's sample was drawn from, times the share of parents that the last night did not fetch: what it fetched
 * is right. Undefined without a look.
 */
export function estimateWrong(rows: readonly SampleRow[]): WrongEstimate | undefined {
  const last = Math.max(...rows.map(row => row.planned_at.getTime()));
  const pooled = rows.filter(row => row.planned_at.getTime() > last - POOLED_DAYS * DAY_MS);
  const lately = pooled.filter(row => row.planned_at.getTime() === last);
  const sampled = total(pooled.map(row => row.sampled));
  if (sampled === 0) return undefined;
  const { live, fetched, active_live: activeLive } = lately[0]!;
  const estimate = (of: Counting, unseen: number) => estimateOf(pooled, last, of, Math.max(0, unseen));
  const unseen = live === 0 ? 0 : (live - fetched) / live;
  const left = total(lately.map(row => row.active - row.active_sampled));
  const counted: Counting = row => [row.active, row.active_sampled, row.late];
  const late = activeLive === 0 ? undefined : estimate(counted, left / activeLive);
  return {
    wrong: estimate(row => [row.population, row.sampled, row.wrong], unseen)!,
    behind: estimate(row => [row.population, row.sampled, row.behind], unseen)!,
    fresh: late === undefined ? null : { share: 1 - late.share, low: 1 - late.high, high: 1 - late.low },
    sampled,
  };
}

/** Of a night's bucket: parents that the sample was drawn from, those that were drawn, and finds among these. */
type Counting = (row: SampleRow) => readonly [population: number, sampled: number, found: number];

/** The share of finds among all of whom such a share was not fetched. Undefined without a look. */
function estimateOf(rows: readonly SampleRow[], last: number, of: Counting, unseen: number): Estimated | undefined {
  const strata = joined(rows, last, of);
  const population = total(strata.map(stratum => stratum.population));
  if (total(strata.map(({ sampled }) => sampled)) === 0) return undefined;
  const weighted = strata.map(stratum => ({
    found: stratum.found,
    weight: population === 0 ? 0 : (unseen * stratum.population) / population / stratum.sampled,
  }));
  return bounded(weighted, unseen);
}

/** Buckets by size of their probability, each with looks enough; the last night says how many parents are in them. */
function joined(rows: readonly SampleRow[], last: number, of: Counting) {
  const none = { population: 0, sampled: 0, found: 0 };
  const add = (sum: typeof none, more: typeof none) => ({
    population: sum.population + more.population,
    sampled: sum.sampled + more.sampled,
    found: sum.found + more.found,
  });
  const strata: (typeof none)[] = [];
  let open = none;
  for (const bucket of [...new Set(rows.map(row => row.bucket))].sort((a, b) => b - a)) {
    for (const row of rows.filter(row => row.bucket === bucket)) {
      const [population, sampled, found] = of(row);
      open = add(open, { population: row.planned_at.getTime() === last ? population : 0, sampled, found });
    }
    if (open.sampled < FEWEST) continue;
    strata.push(open);
    open = none;
  }
  const rest = strata.pop();
  return [...strata, rest === undefined ? open : add(rest, open)];
}

/**
 * The sum of weighted finds, each Poisson, with the interval of Fay and Feuer (1997): at least as wide as a gamma distribution of the
 * same mean and variance says, and with equal weights the exact one for a Poisson count.
 */
export function bounded(strata: readonly Weighted[], most = 1): Estimated {
  const share = total(strata.map(({ found, weight }) => found * weight));
  const variance = total(strata.map(({ found, weight }) => found * weight ** 2));
  const heaviest = Math.max(...strata.map(({ weight }) => weight));
  const quantile = (mean: number, spread: number, z: number) =>
    mean === 0 ? 0 : (spread / (2 * mean)) * chiSquare((2 * mean ** 2) / spread, z);
  return {
    share: Math.min(share, most),
    low: Math.min(quantile(share, variance, -Z), most),
    high: Math.min(quantile(share + heaviest, variance + heaviest ** 2, Z), most),
  };
}

/** A quantile of chi-square by Wilson and Hilferty, which is right to 1 % from two degrees of freedom on, for the upper one; the lower one comes out smaller. */
function chiSquare(degrees: number, z: number): number {
  const step = 2 / (9 * degrees);
  return degrees * Math.max(0, 1 - step + z * Math.sqrt(step)) ** 3;
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
