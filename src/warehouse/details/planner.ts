import { sql } from "kysely";
import type { Db, Fragment } from "../database.ts";
import type { Destination } from "../destination.ts";
import { dropTables, temporaryName } from "../sql_fragments.ts";

/** Why a parent whose list row did not change is looked at: a related row changed, chance, it waited longest, its index is among the highest. */
export type Why = "caused" | "sample" | "oldest" | "index";

export interface NightRequest {
  readonly company: string;
  readonly stream: string;
  /**
   * A temporary table, a row a live parent: `parent_key` text, `open` boolean, `newest` date or timestamp, `fetched_at` timestamptz,
   * `reason` text (only audit and caused count), `since` timestamptz and `idle` (of causes: when, and 1 if they find nothing),
   * `changed_at` timestamptz (a fetch last found a change). Statistics are gathered here.
   */
  readonly candidates: Fragment;
  readonly budget: number;
  /** ISO 8601. */
  readonly now: string;
  /** Another one each night, or the same parents would be drawn again. */
  readonly seed: string;
}

export interface NightPlan {
  /** A temporary table of the session, a row a chosen parent: `parent_key`, `why`, `rank` (order within the night). Its maker drops it. */
  readonly table: Fragment;
  readonly counts: Readonly<Record<Why, number>>;
}

/** Causes take so much of the budget, in tenths; but so many are served the same night, beyond the budget where it is small. */
const CAUSED_TENTHS = 6;
const ALWAYS_CAUSED = 100;
/** Of what causes leave. The rest is the index's. */
const OLDEST_TENTHS = 3;
const SAMPLE_TENTHS = 1;
/** Details of rows that are open, or younger than so many days, count twice. */
const ACTIVE_DAYS = 60;
const ACTIVE_WEIGHT = 2;
/** Days that are added to those since the last change. */
const MORE_DAYS = 14;
/** Indices are compared as whole numbers of this: databases differ in the last digit of a power of e. */
const STEPS = 1e6;
/** Where a night is cut short, it is the index that goes without. */
const TURNS: readonly Why[] = ["caused", "sample", "oldest", "index"];
/** More than the parents that one turn takes. */
const TURN = 1e12;

export function isActive(now: string): Fragment {
  const from = new Date(Date.parse(now) - ACTIVE_DAYS * 86_400_000).toISOString().slice(0, 10);
  return sql`coalesce(c.open or c.newest >= cast(${from} as date), false)`;
}

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
  { dialect }: Pick<Destination, "dialect">,
  { company, stream, candidates, budget, now, seed }: NightRequest,
): Promise<NightPlan> {
  const table = sql.id(temporaryName("night", company, stream));
  if (dialect.plansByStatistics) await sql`analyze ${candidates}`.execute(db);
  await dropTables(db, [table]);
  await sql`create temporary table ${table} as
    select parent_key, cast('' as varchar) as why, cast(0 as bigint) as rank from ${candidates} where false`.execute(
    db,
  );
  const key = dialect.byteText(sql`c.parent_key`);
  const choose = async (why: Why, most: number, order: Fragment, which = sql`c.reason in ('audit', 'caused')`) => {
    if (most === 0) return 0;
    const { numAffectedRows } = await sql`insert into ${table}
      select c.parent_key, ${sql.lit(why)}, ${sql.lit(TURN * TURNS.indexOf(why))} + row_number() over (order by ${order}, ${key})
      from (select c.* from ${candidates} c
        where ${which} and not exists (select 1 from ${table} t where t.parent_key = c.parent_key)
        order by ${order}, ${key} limit ${sql.lit(most)}) c`.execute(db);
    return Number(numAffectedRows);
  };
  const most = divide(budget, Number.POSITIVE_INFINITY).caused;
  const caused = await choose("caused", most, sql`c.idle, c.since nulls first`, sql`c.reason = 'caused'`);
  const shares = divide(budget, caused);
  const oldest = await choose("oldest", shares.oldest, sql`c.fetched_at nulls first`);
  const index = await choose("index", shares.index, sql`${indexOf(now)} desc`);
  const drawn = dialect.byteText(sql`md5(${sql.lit(`${seed} `)} || c.parent_key)`);
  const sample = await choose("sample", shares.sample, drawn);
  return { table, counts: { caused, sample, oldest, index } };
}

/**
 * Of rows `c`: the age-optimal index of Cho and Garcia-Molina, w·(1−(1+λu)·e^(−λu))/λ, for u days since the last fetch. Unlike the
 * probability of a change it grows with every day, to w/λ: every detail gets a turn. λ is d^(−3/2), for d the days since the last change that
 * a fetch found, and fourteen more: the longer nothing changed, the rarer is a change, and more so than in proportion.
 */
export function indexOf(now: string): Fragment {
  const since = (moment: Fragment) =>
    sql`greatest((${sql.lit(Date.parse(now) / 1_000)} - date_part('epoch', ${moment})) / 86400, 0)`;
  const unseen = since(sql`c.fetched_at`);
  // Without a change noted the days since the last fetch count.
  const days = sql`(greatest(${since(sql`c.changed_at`)}, ${unseen}) + ${sql.lit(MORE_DAYS)})`;
  const wait = sql`(${days} * sqrt(${days}))`;
  const x = sql`(${unseen} / ${wait})`;
  const weight = sql`case when ${isActive(now)} then ${sql.lit(ACTIVE_WEIGHT)} else 1 end`;
  return sql`floor(${wait} * ${weight} * ${sql.lit(STEPS)} * (1 - (1 + ${x}) * exp(-${x})))`;
}
