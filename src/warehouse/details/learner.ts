import { type Kysely, sql } from "kysely";
import type { Destination } from "../destination.ts";
import { type Fragment, takeTurns, temporaryName, timestampOf } from "../sql_fragments.ts";
import type { StateTables } from "../state_tables.ts";
import type { Population } from "./planner.ts";
import { BUCKETS, bucketOf, daysBefore, daysSince, decayed, type RatesOf, withRates } from "./rates.ts";

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
  /** When the night was planned, ISO 8601: what several parts of one run tell of it is added up. */
  readonly timestamp: string;
}

/** In so many days what was seen comes to count half. */
const HALF_LIFE_DAYS = 30;
/** Expected changes, or days, of which nothing is kept any more. */
const FORGOTTEN = 1e-6;
const SAMPLES_KEPT_DAYS = 400;
/** A detail is behind when it has been wrong for longer. */
const BEHIND_DAYS = 7;

/** Takes what a night found into the rates and the samples; once a plan, or a shard's plan, within a transaction of the caller's. */
export async function learn(
  db: Kysely<StateTables>,
  place: Pick<Destination, "stateSchema" | "dialect">,
  looked: Looked,
): Promise<void> {
  const { company, stream } = looked;
  await takeTurns(db, place.dialect, [JSON.stringify(["rates", place.stateSchema, company, stream])]);
  if (place.dialect.plansByStatistics) await sql`analyze ${looked.looks}`.execute(db);
  const own = sql`company = ${company} and stream = ${stream}`;
  const renew = async (
    name: "detail_rates" | "detail_samples",
    columns: Fragment,
    renewed: Fragment,
    old: Fragment,
  ) => {
    const table = sql.id(place.stateSchema, name);
    const learned = sql.id(temporaryName("learned", company, stream));
    await sql`drop table if exists ${learned}`.execute(db);
    await sql`create temporary table ${learned} as ${renewed}`.execute(db);
    await sql`delete from ${table} where ${own} and ${old}`.execute(db);
    await sql`insert into ${table} (company, stream, ${columns})
      select ${company}, ${stream}, ${columns} from ${learned}`.execute(db);
    await sql`drop table ${learned}`.execute(db);
  };
  const rates = sql`kind, name, events, exposure, updated_at`;
  await renew("detail_rates", rates, renewedRates(place, looked, own), sql`true`);
  const samples = sql`planned_at, bucket, population, sampled, wrong, behind, live, fetched,
    active, active_sampled, late, active_live`;
  const old = sql`(planned_at = ${timestampOf(looked)}
    or planned_at < cast(${daysBefore(looked.timestamp, SAMPLES_KEPT_DAYS)} as timestamptz))`;
  await renew("detail_samples", samples, renewedSamples(place, looked, own), old);
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

/** By bucket of predicted probability the night's sample alone: what else was looked at was looked at because it is wrong more often. */
function renewedSamples(place: Pick<Destination, "stateSchema">, looked: Looked, own: Fragment): Fragment {
  const { looks, populations, live, fetched, activeLive, withinDays } = looked;
  // One row for each bucket, also for empty ones: each repeats the number of all live parents.
  const planned = BUCKETS.map(bucket => {
    const { population = 0, active = 0 } = populations.find(among => among.bucket === bucket) ?? {};
    return sql`select ${sql.lit(bucket)} as bucket, ${sql.lit(population)} as population, 0 as sampled, 0 as wrong,
      cast(0 as double precision) as behind, ${sql.lit(live)} as live, ${sql.lit(fetched)} as fetched, ${sql.lit(active)} as active,
      0 as active_sampled, cast(0 as double precision) as late, ${sql.lit(activeLive)} as active_live`;
  });
  // P(T < u − days | T < u): of what was found, how probably it had been so for longer.
  const longer = (days: number) => sql`case when found and u > ${sql.lit(days)} then
    (1 - ${decayed(sql`rate * (u - ${sql.lit(days)})`)}) / (1 - ${decayed(sql`rate * u`)}) else 0 end`;
  const parts = [
    ...planned,
    sql`select ${bucketOf(sql`p`)}, 0, 1, case when found then 1 else 0 end, ${longer(BEHIND_DAYS)}, 0, 0,
      0, case when active then 1 else 0 end, case when active then ${longer(withinDays)} else 0 end, 0 from ${looks} where why = 'sample'`,
    sql`select bucket, population, sampled, wrong, behind, live, fetched, coalesce(active, 0), coalesce(active_sampled, 0),
        coalesce(late, 0), coalesce(active_live, 0)
      from ${sql.id(place.stateSchema, "detail_samples")} where ${own} and planned_at = ${timestampOf(looked)}`,
  ];
  const sum = (name: string) => sql`cast(sum(${sql.id(name)}) as bigint) as ${sql.id(name)}`;
  const counts = ["population", "sampled", "wrong", "live", "fetched", "active", "active_sampled", "active_live"];
  const sums = sql.join(counts.map(sum));
  return sql`select ${timestampOf(looked)} as planned_at, bucket, ${sums}, sum(behind) as behind, sum(late) as late
    from (${sql.join(parts, sql` union all `)}) night group by bucket`;
}
