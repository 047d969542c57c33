import { sql } from "kysely";
import type { Db, Fragment } from "../database.ts";
import type { Destination } from "../destination.ts";
import { takeTurns } from "../sql_fragments.ts";
import { noteFreshness, type Promised } from "./freshness.ts";
import { isActive, type NightPlan } from "./planner.ts";
import { POOLED_DAYS, type SampleRow } from "./wrong_estimate.ts";

/** A night that looked at unchanged parents. */
export interface Night {
  readonly company: string;
  readonly stream: string;
  /** Live parents, and those of them that are open or young. */
  readonly live: number;
  readonly activeLive: number;
  /** When it was planned, ISO 8601. */
  readonly now: string;
}

/** Notes what looks at unchanged parents found, and how fresh details are by that: called once answers are published. */
export async function noteLooks(
  { db, stateSchema, dialect }: Destination,
  { table }: NightPlan,
  work: Fragment,
  night: Night,
  promised: Promised,
): Promise<void> {
  const { company, stream } = night;
  await db.transaction().execute(async trx => {
    await takeTurns(trx, dialect, [JSON.stringify(["samples", stateSchema, company, stream])]);
    const found = await foundIn(trx, stateSchema, table, work, night, promised);
    await addSample(trx, night, { ...found, live: night.live, active_live: night.activeLive });
    await noteFreshness(trx, { stateSchema }, night, promised, await samplesOf(trx, night));
  });
}

/** The nights of the last week. */
export const samplesOf = (db: Db, { company, stream }: Pick<Night, "company" | "stream">): Promise<SampleRow[]> =>
  db
    .selectFrom("detail_samples")
    .selectAll()
    .where(sql<boolean>`company = ${company} and stream = ${stream}`)
    .execute();

/**
 * By the sample alone what is wrong: what else was looked at was looked at because it is wrong more often. A change may have come
 * at any time since the fetch before, each as likely: that is how many of those found were late.
 */
async function foundIn(
  db: Db,
  stateSchema: string,
  plan: Fragment,
  work: Fragment,
  { company, stream, now }: Night,
  { withinMs }: Promised,
): Promise<Omit<SampleRow, "planned_at" | "live" | "active_live">> {
  const days = sql`(date_part('epoch', d.fetched_at) - date_part('epoch', c.fetched_at))`;
  const within = sql.lit(withinMs / 1_000);
  // Only what was answered: what the plan names and a limit left out was not looked at.
  const { rows } = await sql<Omit<SampleRow, "planned_at" | "live" | "active_live">>`
    select count(*) as fetched, count(*) filter (where active) as active_fetched,
      count(*) filter (where why <> 'caused' and found) as found, count(*) filter (where why <> 'caused') as looks,
      count(*) filter (where why = 'sample') as sampled, count(*) filter (where why = 'sample' and found) as wrong,
      count(*) filter (where why = 'sample' and active) as active_sampled,
      coalesce(sum(late) filter (where why = 'sample' and active and found), 0) as late
    from (select ${isActive(now)} as active, case when d.parent_key is not null then t.why end as why, coalesce(d.found, false) as found,
        case when ${days} > ${within} then (${days} - ${within}) / ${days} else 0 end as late
      from ${work} c left join ${plan} t on t.parent_key = c.parent_key
      left join ${sql.id(stateSchema, "details")} d on d.company = ${company} and d.stream = ${stream}
        and d.parent_key = c.parent_key and d.outcome <> 'failed' and d.previous_at = c.fetched_at) looked`.execute(db);
  return rows[0]!;
}

async function addSample(
  db: Db,
  { company, stream, now }: Night,
  sample: Omit<SampleRow, "planned_at">,
): Promise<void> {
  const own = sql<boolean>`company = ${company} and stream = ${stream}`;
  const weekAgo = new Date(Date.parse(now) - POOLED_DAYS * 86_400_000).toISOString();
  await db
    .deleteFrom("detail_samples")
    .where(own)
    .where(sql<boolean>`(planned_at <= cast(${weekAgo} as timestamptz) or planned_at = cast(${now} as timestamptz))`)
    .execute();
  await db
    .insertInto("detail_samples")
    .values({ company, stream, planned_at: now, ...sample })
    .execute();
}
