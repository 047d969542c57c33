import { sql } from "kysely";
import type { Db, Fragment } from "../database.ts";
import type { Destination } from "../destination.ts";
import { dropTables, temporaryName } from "../sql_fragments.ts";
import { bucketOf, daysBefore, daysSince, decayed, type RatesOf, stratumOf, withRates } from "./rates.ts";

/** Why a parent whose list row did not change is looked at: a related row changed, chance, it waited longest, its index is among the highest. */
export type Why = "caused" | "sample" | "oldest" | "index";

/** What a night may spend on parents whose list row did not change. */
export interface NightRequest extends RatesOf {
  /**
   * A temporary table, a row a live parent: `parent_key` text, `open` boolean, `newest` date or timestamp, `fetched_at` timestamptz,
   * `reason` text (audit or caused), `since` timestamptz (of the cause), `changed_at` timestamptz (a fetch last found a change),
   * `caused_at` timestamptz (last fetched for a cause), `factor` text. Statistics are gathered here.
   */
  readonly candidates: Fragment;
  readonly budget: number;
  /** ISO 8601. */
  readonly now: string;
  /** Another one each night, or the same parents would be drawn again. */
  readonly seed: string;
}

/** What was chosen for a night. */
export interface NightPlan {
  /**
   * A temporary table of the session, a row a chosen parent: `parent_key`, `why`, `rank` (order within the night, from 1), `stratum`,
   * `factor`, `active`, `u` (days since the last fetch), `rate` (λ, changes a day), `p` (that it is wrong: 1 − e^(−λu)). Its maker
   * drops it.
   */
  readonly table: Fragment;
  readonly counts: Readonly<Record<Why, number>>;
  /** What the sample was drawn from, by bucket of predicted probability. */
  readonly populations: readonly Population[];
}

export interface Population {
  readonly bucket: number;
  readonly population: number;
  /** Of those: the rows that are open or young. */
  readonly active: number;
}

/** Causes take so much of the budget, in tenths; but so many are served the same night, beyond the budget where it is small. */
const CAUSED_TENTHS = 6;
const ALWAYS_CAUSED = 100;
/** Of what causes leave. The rest is the index's. */
const OLDEST_TENTHS = 3;
const SAMPLE_TENTHS = 1;
/** Details of rows that are open, or younger than so many days, count twice. */
const ACTIVE_DAYS = 60;
export const ACTIVE_WEIGHT = 2;
export const isActive = (now: string, open = sql.ref("c.open"), newest = sql.ref("c.newest")): Fragment =>
  sql`coalesce(${open} or ${newest} >= cast(${daysBefore(now, ACTIVE_DAYS).slice(0, 10)} as date), false)`;
/** A slower change is none; and what is divided by is not 0. */
const SLOWEST = 1e-8;
/** Indices are compared as whole numbers of this: databases differ in the last digit of a power of e. */
const STEPS = 1e9;

/** How a night's budget is divided when so many parents have a cause. What is served beyond the budget is not taken from the others. */
export function divide(budget: number, causes: number): Readonly<Record<Why, number>> {
  const most = Math.floor((budget * CAUSED_TENTHS) / 10);
  const caused = Math.min(causes, Math.max(most, ALWAYS_CAUSED));
  const left = budget - Math.min(caused, most);
  const oldest = Math.ceil((left * OLDEST_TENTHS) / 10);
  const sample = Math.min(Math.ceil((left * SAMPLE_TENTHS) / 10), left - oldest);
  return { caused, oldest, sample, index: left - oldest - sample };
}

/**
 * The most nights that a parent waits for a look when each night's budget is this share of the parents, and causes take at
 * most `caused` of it. Each night looks at the `oldest` ones, of which no later look makes another one older: of n parents the
 * last has its turn after n ÷ oldest nights.
 */
export function longestWait(share: number, caused: number = CAUSED_TENTHS / 10): number {
  return Math.ceil(10 / (share * OLDEST_TENTHS * (1 - caused)) - 1e-9);
}

/**
 * Chooses the parents of a night. The sample is drawn last, from exactly those that nothing else chose: these are the ones that
 * stay unseen, and their share of wrong details is what the estimate asks for. Drawn first, it would be one of all parents, and
 * those that would have been chosen anyway, wrong more often, would count for the others. What the others choose depends on
 * the state alone and never on the draw, and how many are drawn is known before, so each of the rest has the same chance.
 */
export async function planNight(
  db: Db,
  place: Pick<Destination, "stateSchema" | "dialect">,
  night: NightRequest,
): Promise<NightPlan> {
  const { company, stream, candidates, budget, now, seed } = night;
  const temporary = (purpose: string) => sql.id(temporaryName(purpose, company, stream));
  const [scored, chosen, table] = [temporary("scored"), temporary("chosen"), temporary("night")];
  const { plansByStatistics, byteText } = place.dialect;
  if (plansByStatistics) await sql`analyze ${candidates}`.execute(db);
  await dropTables(db, [table]);
  await sql`create temporary table ${scored} as ${scoring(place, night)}`.execute(db);
  await sql`create temporary table ${chosen} as
    select parent_key, cast('' as varchar) as why, cast(0 as bigint) as nth, rate, p from ${scored} where false`.execute(
    db,
  );
  const key = byteText(sql`c.parent_key`);
  const left = sql`${scored} c where not exists (select 1 from ${chosen} t where t.parent_key = c.parent_key)`;
  const choose = async (why: Why, most: number, from: Fragment, order: Fragment) => {
    if (most === 0) return 0;
    const { numAffectedRows } =
      await sql`insert into ${chosen} select c.parent_key, ${sql.lit(why)}, row_number() over (order by ${order}, ${key}), c.rate, c.p
      from (select c.* from ${from} order by ${order}, ${key} limit ${sql.lit(most)}) c`.execute(db);
    return Number(numAffectedRows);
  };
  const most = divide(budget, Number.POSITIVE_INFINITY).caused;
  const caused = await choose("caused", most, sql`${scored} c where c.is_caused`, sql`c.since nulls first`);
  const shares = divide(budget, caused);
  const oldest = await choose("oldest", shares.oldest, left, sql`c.fetched_at nulls first`);
  const index = await choose("index", shares.index, left, sql`c.gain desc`);
  const bucket = bucketOf(sql`c.p`);
  const populations =
    await sql<Population>`select ${bucket} as bucket, count(*) as population, count(*) filter (where c.weight = ${sql.lit(ACTIVE_WEIGHT)}) as active
    from ${left} group by ${bucket} order by 1`.execute(db);
  const drawn = byteText(sql`md5(${sql.lit(`${seed} `)} || c.parent_key)`);
  const sample = await choose("sample", shares.sample, left, drawn);
  // Where a night is cut short, it is the index that goes without.
  const turn = sql`case t.why when 'caused' then 1 when 'sample' then 2 when 'oldest' then 3 else 4 end`;
  await sql`create temporary table ${table} as
    select t.parent_key, t.why, row_number() over (order by ${turn}, t.nth) as rank, ${stratumOf("c", now)} as stratum,
      c.factor, ${isActive(now)} as active, ${unseenDays("c", now)} as u, t.rate, t.p
    from ${chosen} t join ${candidates} c on c.parent_key = t.parent_key`.execute(db);
  await dropTables(db, [scored, chosen]);
  return {
    table,
    counts: { caused, sample, oldest, index },
    populations: populations.rows.map(row => ({ ...row, bucket: Number(row.bucket) })),
  };
}

const unseenDays = (of: string, now: string): Fragment =>
  sql`coalesce(greatest(${daysSince(now, sql.id(of, "fetched_at"))}, 0), 0)`;

/**
 * Candidates with what they are chosen by. `gain` is the age-optimal index of Cho and Garcia-Molina, w·(1−(1+λu)·e^(−λu))/λ: unlike the
 * probability of a change it grows with every day, to w/λ, which is highest where details change least.
 */
export function scoring(
  place: Pick<Destination, "stateSchema">,
  night: Pick<NightRequest, "company" | "stream" | "candidates" | "now">,
  more = sql``,
): Fragment {
  const { candidates, now } = night;
  const rows = sql`(select c.parent_key, c.reason = 'caused' as is_caused, c.since, c.fetched_at, c.factor,
      ${unseenDays("c", now)} as u, ${stratumOf("c", now)} as stratum,
      case when ${isActive(now)} then ${sql.lit(ACTIVE_WEIGHT)} else 1 end as weight
    from ${candidates} c)`;
  const { from, stratum, times } = withRates(place, night, rows, "r");
  // Without an offset PostgreSQL works out each expression again wherever its name stands.
  return sql`select x.parent_key, x.is_caused, x.since, x.fetched_at, x.weight, x.rate, 1 - x.unchanged as p${more},
      floor(${sql.lit(STEPS)} * x.weight * (1 - (1 + x.rate * x.u) * x.unchanged) / x.rate) as gain
    from (select y.*, ${decayed(sql`y.rate * y.u`)} as unchanged
      from (select r.parent_key, r.is_caused, r.since, r.fetched_at, r.u, r.weight,
        greatest(${stratum} * ${times}, ${sql.lit(SLOWEST)}) as rate from ${from} offset 0) y offset 0) x`;
}
