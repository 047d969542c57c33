import { sql } from "kysely";
import type { Fragment } from "../database.ts";
import type { Destination } from "../destination.ts";

/*
 * How often details change though their list row does not: a rate for each stratum of parents, times a factor (of the vendor,
 * say). Both are posterior means, from what looks found, with a Gamma prior.
 */

/** Whose rates: they stand in the state table detail_rates. */
export interface RatesOf {
  readonly company: string;
  readonly stream: string;
}

/** How much a prior weighs, in changes seen: the stream's own rate for a stratum, 1 for a factor. */
const SHAPE = 1.5;
/** What a stream is taken for before any look: one change in so many days. */
const FIRST_DAYS = 200;
/** Days between a parent's date and now, and between its last found change and now, at which strata meet. */
const AGES = [30, 60, 120, 365] as const;
const CHANGES = [7, 30, 60, 180] as const;
const CAUSED_DAYS = 30;
/** Smaller powers of e end a statement in PostgreSQL. */
const SMALLEST = 500;

const DAY_MS = 86_400_000;

export const daysBefore = (now: string, days: number): string =>
  new Date(Date.parse(now) - days * DAY_MS).toISOString();

/** How many days before `now` a timestamp is. */
export const daysSince = (now: string, timestamp: Fragment): Fragment =>
  sql`(${sql.lit(Date.parse(now) / 1_000)} - date_part('epoch', ${timestamp})) / 86400`;

/** e^−x, x at least 0. */
export const decayed = (x: Fragment): Fragment => sql`exp(-least(${x}, ${sql.lit(SMALLEST)}))`;

/** A candidate's stratum: open × age × time since the last change × fetched for a cause within 30 days, by name. */
export function stratumOf(of: string, now: string): Fragment {
  const day = (days: number) => sql`cast(${daysBefore(now, days).slice(0, 10)} as date)`;
  const moment = (days: number) => sql`cast(${daysBefore(now, days)} as timestamptz)`;
  const bucket = (name: string, edges: readonly number[], at: (days: number) => Fragment) => {
    const column = sql.id(of, name);
    const whens = edges.map(edge => sql`when ${column} >= ${at(edge)} then ${sql.lit(` ${name} <${edge}`)}`);
    return sql`case ${sql.join(whens, sql` `)} else '' end`;
  };
  const parts = [
    sql`case when ${sql.id(of, "open")} then 'open' else 'closed' end`,
    bucket("newest", AGES, day),
    bucket("changed_at", CHANGES, moment),
    bucket("caused_at", [CAUSED_DAYS], moment),
  ];
  return sql`(${sql.join(parts, sql` || `)})`;
}

/** Rates as FROM items: `overall` is a row of `rate`, the others have `name` and `rate`; what they lack is overall, or 1. */
function ratesOf(place: Pick<Destination, "stateSchema">, { company, stream }: RatesOf) {
  const kept = (kind: "stratum" | "factor") =>
    sql`${sql.id(place.stateSchema, "detail_rates")} where company = ${company} and stream = ${stream} and kind = ${sql.lit(kind)}`;
  const shape = sql.lit(SHAPE);
  const overall = sql`(select cast(1 + coalesce(sum(events), 0) as double precision)
    / (${sql.lit(FIRST_DAYS)} + coalesce(sum(exposure), 0)) as rate from ${kept("stratum")})`;
  return {
    overall,
    strata: sql`(select name, (${shape} + events) / (${shape} / o.rate + exposure) as rate
      from (select name, events, exposure from ${kept("stratum")}) k cross join ${overall} o)`,
    factors: sql`(select name, (${shape} + events) / (${shape} + exposure) as rate from ${kept("factor")})`,
  };
}

/** Joins rates to rows that have `stratum` and `factor`: `stratum` and `times` are the stratum's rate and the factor. */
export function withRates(place: Pick<Destination, "stateSchema">, of: RatesOf, rows: Fragment, alias: string) {
  const { overall, strata, factors } = ratesOf(place, of);
  return {
    from: sql`${rows} ${sql.id(alias)}
      left join ${strata} s on s.name = ${sql.id(alias, "stratum")}
      left join ${factors} f on f.name = ${sql.id(alias, "factor")}`,
    stratum: sql`cast(coalesce(s.rate, ${overall}) as double precision)`,
    times: sql`cast(coalesce(f.rate, 1) as double precision)`,
  };
}

/** Where the buckets of predicted probability meet that the estimate is stratified by. */
const PROBABILITIES = [0.003, 0.01, 0.03, 0.1, 0.3] as const;

/** All buckets, by what `bucketOf` says. */
export const BUCKETS: readonly number[] = [...PROBABILITIES.keys(), PROBABILITIES.length];

/** The bucket of a predicted probability, from 0. */
export function bucketOf(p: Fragment): Fragment {
  const whens = PROBABILITIES.map((edge, nth) => sql`when ${p} < ${sql.lit(edge)} then ${sql.lit(nth)}`);
  return sql`case ${sql.join(whens, sql` `)} else ${sql.lit(PROBABILITIES.length)} end`;
}
