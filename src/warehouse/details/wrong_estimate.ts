import type { Selectable } from "kysely";
import type { StateTables } from "../state_tables.ts";

/** A line of detail_samples: a night. */
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
  /** Active ones that are no later than promised, as a share of these; null without a look at one. */
  readonly fresh: Estimated | null;
  readonly sampled: number;
}

/** `1.2 %`, `14 %`. */
export const shareText = (share: number): string => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

/** The quantile of the normal distribution at 95 %. */
const Z = 1.6448536269514722;

/**
 * The share of wrong details by the random samples of a week, times the share of parents that the last night did not fetch: what it
 * fetched is right. Undefined without a look.
 */
export function estimateWrong(nights: readonly SampleRow[]): WrongEstimate | undefined {
  const sum = (of: (night: SampleRow) => number) => nights.reduce((all, night) => all + of(night), 0);
  const sampled = sum(night => night.sampled);
  if (sampled === 0) return undefined;
  const last = nights.reduce((a, b) => (b.planned_at > a.planned_at ? b : a));
  const unseen = (live: number, fetched: number) => (live === 0 ? 0 : Math.max(0, (live - fetched) / live));
  const active = sum(night => night.active_sampled);
  const late = bounded(
    sum(night => night.late),
    active,
    unseen(last.active_live, last.active_fetched),
  );
  return {
    wrong: bounded(
      sum(night => night.wrong),
      sampled,
      unseen(last.live, last.fetched),
    ),
    fresh: active === 0 ? null : { share: 1 - late.share, low: 1 - late.high, high: 1 - late.low },
    sampled,
  };
}

/** A share of finds, each of which stands for as many unseen details, with the exact interval of a Poisson count. */
export function bounded(found: number, looks: number, unseen: number): Estimated {
  const of = (count: number) => Math.min((unseen * count) / looks, unseen);
  return {
    share: of(found),
    low: of(found === 0 ? 0 : chiSquare(2 * found, -Z) / 2),
    high: of(chiSquare(2 * found + 2, Z) / 2),
  };
}

/** A quantile of chi-square by Wilson and Hilferty, which is right to 1 % from two degrees of freedom on, for the upper one; the lower one comes out smaller. */
function chiSquare(degrees: number, z: number): number {
  const step = 2 / (9 * degrees);
  return degrees * Math.max(0, 1 - step + z * Math.sqrt(step)) ** 3;
}

/** How many details looks found to have changed without a cause, a day. */
export function foundADay(nights: readonly SampleRow[]): number {
  const times = nights.map(night => night.planned_at.getTime());
  const days = Math.min(POOLED_DAYS, (Math.max(...times) - Math.min(...times)) / DAY_MS + 1);
  return nights.reduce((sum, night) => sum + night.found, 0) / days;
}

const DAY_MS = 86_400_000;
/** Nights that are pooled: a night alone samples too few. */
export const POOLED_DAYS = 7;
