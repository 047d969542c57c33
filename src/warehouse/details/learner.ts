import { type RawBuilder, sql } from "kysely";
import type { Db, Fragment } from "../database.ts";
import type { Destination } from "../destination.ts";
import { temporaryName, timestampOf } from "../sql_fragments.ts";
import type { Population } from "./planner.ts";
import { BUCKETS, bucketOf, daysBefore, daysSince, decayed, type RatesOf, withRates } from "./rates.ts";
import type { SampleRow } from "./wrong_estimate.ts";

/** A night's looks at parents whose list row did not change, and what they were chosen from. */
export interface Looked extends RatesOf {
  /**
   * A temporary table, a row an answer: `parent_key`, `why`, `stratum`, `factor`, `active`, `rate`, `p` as the plan had them, `u` (days
   * between the fetch before and this one), `found` boolean (whether the answer was another one).
   */
  readonly looks: Fragment;
  /** Of the plan. */
  readonly populations: readonly Population[];
  /** Live parents, and those of them that this night fetched for whatever reason. */
  readonly live: number;
  readonly fetched: number;
  /** Live parents that are open or young. */
  readonly activeLive: number;
  /** Details of those are late when they have been wrong for so many days. */
  readonly withinDays: number;
  /** When the night was planned, ISO 8601. */
  readonly timestamp: string;
}

/** In so many days what was seen comes to count half. */
const HALF_LIFE_DAYS = 30;
/** Expected changes, or days, of which nothing is kept any more. */
const FORGOTTEN = 1e-6;
const SAMPLES_KEPT_DAYS = 400;
/** A detail is behind when it has been wrong for longer. */
const BEHIND_DAYS = 7;

/** Takes what a night found into the rates and the samples, which it answers; once a plan, within a transaction of the caller's. */
export async function learn(
  db: Db,
  place: Pick<Destination, "stateSchema" | "dialect">,
  looked: Looked,
): Promise<readonly SampleRow[]> {
  const { company, stream } = looked;
  if (place.dialect.plansByStatistics) await sql`analyze ${looked.looks}`.execute(db);
  const own = sql<boolean>`company = ${company} and stream = ${stream}`;
  const rates = sql.id(place.stateSchema, "detail_rates");
  const learned = sql.id(temporaryName("learned", company, stream));
  await sql`create temporary table ${learned} as ${renewedRates(place, looked, own)}`.execute(db);
  await sql`delete from ${rates} where ${own}`.execute(db);
  await sql`insert into ${rates} (company, stream, kind, name, events, exposure, updated_at)
    select ${company}, ${stream}, kind, name, events, exposure, updated_at from ${learned}`.execute(db);
  await sql`drop table ${learned}`.execute(db);
  return renewSamples(db, looked, own);
}

/**
 * A look that finds no change adds u days of exposure. One that finds a change adds an event and E[T | T<u] =
 * 1/λ − u·e^(−λu)/(1−e^(−λu)) days, the expected time until the change, because the moment of the change is unknown. A stratum's exposure is weighed by the factors, a factor's by the strata's rates: each is measured beside
 * the other. What a cause foretold says nothing of how often details change without one.
 */
function renewedRates(place: Pick<Destination, "stateSchema">, looked: Looked, own: Fragment): Fragment {
  const { from, stratum, times } = withRates(place, looked, looked.looks, "l");
  const x = sql`(l.rate * l.u)`;
  // Both terms are near 1/λ for a small λu: their difference is u·(1/2 − λu/12).
  const until = sql`case when ${x} < 1e-4 then l.u * (0.5 - ${x} / 12)
    else 1 / l.rate - l.u * ${decayed(x)} / (1 - ${decayed(x)}) end`;
  const age = daysSince(looked.timestamp, sql`updated_at`);
  const kept = sql`power(cast(0.5 as double precision), least(greatest(${age}, 0) / ${sql.lit(HALF_LIFE_DAYS)}, 1000))`;
  return sql`select kind, name, cast(sum(events) as double precision) as events,
      cast(sum(exposure) as double precision) as exposure, ${timestampOf(looked)} as updated_at
    from (
      select kind, name, events * ${kept} as events, exposure * ${kept} as exposure
      from ${sql.id(place.stateSchema, "detail_rates")} where ${own}
      union all
      select k.kind, case when k.kind = 'stratum' then v.stratum else v.factor end, v.event,
        v.exposure * case when k.kind = 'stratum' then v.times else v.rate end
      from (select l.stratum, l.factor, ${stratum} as rate, ${times} as times, case when l.found then 1 else 0 end as event,
          case when l.found then ${until} else l.u end as exposure
        from ${from} where l.why <> 'caused') v
      cross join (select 'stratum' as kind union all select 'factor') k
      where k.kind = 'stratum' or v.factor is not null
    ) seen group by kind, name having sum(exposure) > ${sql.lit(FORGOTTEN)}`;
}

/** By bucket of predicted probability the night's sample alone: what else was looked at was looked at because it is wrong more often. Answers all that are kept. */
async function renewSamples(
  db: Db,
  { company, stream, looks, populations, live, fetched, activeLive, withinDays, timestamp }: Looked,
  own: RawBuilder<boolean>,
): Promise<readonly SampleRow[]> {
  // P(T < u − days | T < u): of what was found, how probably it had been so for longer.
  const longer = (days: number) => sql`case when found and u > ${sql.lit(days)} then
    (1 - ${decayed(sql`rate * (u - ${sql.lit(days)})`)}) / (1 - ${decayed(sql`rate * u`)}) else 0 end`;
  const { rows: drawn } = await sql<Pick<SampleRow, "bucket" | (typeof FOUND)[number]>>`
    select ${bucketOf(sql`p`)} as bucket, count(*) as sampled, count(case when found then 1 end) as wrong,
      cast(sum(${longer(BEHIND_DAYS)}) as double precision) as behind, count(case when active then 1 end) as active_sampled,
      cast(coalesce(sum(case when active then ${longer(withinDays)} end), 0) as double precision) as late
    from ${looks} where why = 'sample' group by 1`.execute(db);
  const known = await db.selectFrom("detail_samples").selectAll().where(own).execute();
  const oldest = Date.parse(daysBefore(timestamp, SAMPLES_KEPT_DAYS));
  // One row for each bucket, also for empty ones: each repeats the number of all live parents.
  const fresh = BUCKETS.map(bucket => {
    const among = { ...noneFound, ...drawn.find(each => Number(each.bucket) === bucket) };
    const { population = 0, active = 0 } = populations.find(each => each.bucket === bucket) ?? {};
    const row = { ...among, population, active, live, fetched, active_live: activeLive };
    const counts = SAMPLED.map(name => [name, Number(row[name])]);
    return { planned_at: new Date(timestamp), bucket, ...Object.fromEntries(counts) } as SampleRow;
  });
  const isKept = ({ planned_at }: SampleRow) =>
    planned_at.getTime() >= oldest && planned_at.getTime() !== Date.parse(timestamp);
  const kept = known.filter(isKept);
  if (kept.length < known.length) {
    const since = sql<Date>`cast(${new Date(oldest).toISOString()} as timestamptz)`;
    const now = sql<Date>`cast(${timestamp} as timestamptz)`;
    await db
      .deleteFrom("detail_samples")
      .where(own)
      .where(({ eb, or }) => or([eb("planned_at", "=", now), eb("planned_at", "<", since)]))
      .execute();
  }
  await db
    .insertInto("detail_samples")
    .values(fresh.map(row => ({ company, stream, ...row, planned_at: timestamp })))
    .execute();
  return [...kept, ...fresh];
}

/** Of a bucket what its looks found. */
const FOUND = ["sampled", "wrong", "behind", "active_sampled", "late"] as const;
const SAMPLED = [...FOUND, "population", "active", "live", "fetched", "active_live"] as const;
const noneFound = { sampled: 0, wrong: 0, behind: 0, active_sampled: 0, late: 0 };
