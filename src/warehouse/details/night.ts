import { sql } from "kysely";
import type { Fragment, Trx } from "../database.ts";
import type { Destination } from "../destination.ts";
import { temporaryName } from "../sql_fragments.ts";
import { daysOf, noteFreshness, type Promised } from "./freshness.ts";
import { type Looked, learn } from "./learner.ts";
import { type NightPlan, type NightRequest, planNight } from "./planner.ts";

/** What a work list spends on unchanged parents: of `candidates` it looks at `budget`. Moments are ISO 8601. */
type Night = Omit<NightRequest, "seed">;

/** Chooses among the parents whose list row did not change. Causes that find nothing are taken for younger than all others. */
export async function planUnchanged(
  trx: Trx,
  destination: Destination,
  { company, stream, candidates, budget, now }: Night,
): Promise<NightPlan> {
  const unchanged = sql.id(temporaryName("unchanged", company, stream));
  await sql`create temporary table ${unchanged} as
    select parent_key, open, newest, fetched_at, reason, changed_at, caused_at, factor,
      case when idle = 1 then since + interval '36500 days' else since end as since
    from ${candidates} where reason in ('caused', 'audit')`.execute(trx);
  const plan = await planNight(trx, destination, {
    ...{ company, stream, budget, now, candidates: unchanged },
    seed: `${stream} ${now}`,
  });
  await sql`drop table ${unchanged}`.execute(trx);
  return plan;
}

export async function learnFrom(
  { db, stateSchema, dialect }: Destination,
  { table, populations }: NightPlan,
  work: Fragment,
  looked: Omit<Looked, "looks" | "populations" | "withinDays">,
  promised: Promised,
): Promise<void> {
  const { company, stream } = looked;
  const looks = sql.id(temporaryName("looks", company, stream));
  await db.transaction().execute(async trx => {
    // Only what was answered: what the plan names and a limit left out was not looked at.
    await sql`create temporary table ${looks} as
      select t.parent_key, t.why, t.stratum, t.factor, t.active, t.rate, t.p, coalesce(d.found, false) as found,
        greatest(${daysBetween(sql`w.fetched_at`, sql`d.fetched_at`)}, 0) as u
      from ${table} t join ${work} w on w.parent_key = t.parent_key
      join ${sql.id(stateSchema, "details")} d
        on d.company = ${company} and d.stream = ${stream} and d.parent_key = t.parent_key
      where d.outcome <> 'failed' and d.previous_at = w.fetched_at`.execute(trx);
    const night = { ...looked, looks, populations, withinDays: daysOf(promised) };
    const samples = await learn(trx, { stateSchema, dialect }, night);
    await noteFreshness(trx, { stateSchema }, looked, promised, samples);
    await sql`drop table ${looks}`.execute(trx);
  });
}

const daysBetween = (from: Fragment, to: Fragment): Fragment =>
  sql`(cast(extract(epoch from ${to}) as double precision) - cast(extract(epoch from ${from}) as double precision)) / 86400`;
