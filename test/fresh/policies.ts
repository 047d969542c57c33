import { DuckDBInstance } from "@duckdb/node-api";
import { type Kysely, sql } from "kysely";
import { Mutex } from "../../src/mutex.ts";
import type { Fragment } from "../../src/warehouse/database.ts";
import { learn } from "../../src/warehouse/details/learner.ts";
import { planNight, type Why } from "../../src/warehouse/details/planner.ts";
import { stratumOf, withRates } from "../../src/warehouse/details/rates.ts";
import type { SampleRow } from "../../src/warehouse/details/wrong_estimate.ts";
import { duckdbDialect } from "../../src/warehouse/duckdb/session/dialect.ts";
import { kyselyOver } from "../../src/warehouse/duckdb/session/driver.ts";
import { countOf } from "../../src/warehouse/sql_fragments.ts";
import { ensureState } from "../../src/warehouse/state/state_ddl.ts";
import type { StateTables } from "../../src/warehouse/state_tables.ts";

/** Two policies over the same table of parents, in a DuckDB of their own. They are SQL: today's as openWorkList has it, and the planner itself. */

export interface Chosen {
  readonly order: number;
  readonly why: Why | "audit";
}

export interface Parent {
  readonly order: number;
  readonly open: boolean;
  /** Days, as in the world. */
  readonly newest: number;
  readonly fetched: number;
  /** When a fetch last found a change, as the tables' _changed_at tells. */
  readonly changed?: number | undefined;
  readonly factor: number;
}

export interface Fetch {
  readonly order: number;
  readonly found: boolean;
  readonly caused: boolean;
}

export interface Policy {
  readonly name: string;
  begin(parents: readonly Parent[]): Promise<void>;
  /** Orders that came, were closed (their list rows are new, so both fetch them anyhow), or have a cause from now on. */
  listed(day: number, come: readonly Parent[], closed: readonly Fetch[], caused: readonly number[]): Promise<void>;
  choose(day: number, live: number): Promise<readonly Chosen[]>;
  fetched(day: number, fetches: readonly Fetch[], live: number, others: number): Promise<void>;
  close(): void;
}

export const SHARE = 0.02;
/** What is promised of details of open or young orders. */
export const WITHIN_DAYS = 2;
export const ACTIVE_DAYS = 60;
const START = Date.parse("2026-01-01T02:00:00Z");
const DAY_MS = 86_400_000;
const STATE = "_tributary";
const rates = { company: "acme", stream: "purchase_order_details" };
const place = { stateSchema: STATE, dialect: duckdbDialect };
const iso = (day: number) => new Date(START + day * DAY_MS).toISOString();
const moment = (day: number) => sql`cast(${iso(day)} as timestamptz)`;
const numbers = (values: readonly number[]) => sql.raw(`unnest([${values.join(",")}]::integer[])`);
const flags = (values: readonly boolean[]) => sql.raw(`unnest([${values.join(",")}]::boolean[])`);

async function openTable() {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  const db = kyselyOver(async () => connection, new Mutex()).withSchema(STATE);
  await sql`create table parents (parent_key varchar, id integer, open boolean, newest date, fetched_at timestamptz,
    since timestamptz, changed_at timestamptz, caused_at timestamptz, factor varchar)`.execute(db);
  const insert = async (parents: readonly Parent[]) => {
    for (let from = 0; from < parents.length; from += 5_000) {
      const some = parents.slice(from, from + 5_000);
      const rows = some.map(
        ({ order, open, newest, fetched, changed, factor }) =>
          `('PO-${order}',${order},${open},'${iso(newest).slice(0, 10)}','${iso(fetched)}',null,${changed === undefined ? null : `'${iso(changed)}'`},null,'V${factor}')`,
      );
      await sql`insert into parents values ${sql.raw(rows.join(","))}`.execute(db);
    }
  };
  const note = async (day: number, fetches: readonly Fetch[]) => {
    if (fetches.length === 0) return;
    const columns = sql`${numbers(fetches.map(({ order }) => order))} as id,
      ${flags(fetches.map(({ found }) => found))} as found, ${flags(fetches.map(({ caused }) => caused))} as caused`;
    await sql`update parents p set fetched_at = ${moment(day)}, since = null,
      changed_at = case when f.found then ${moment(day)} else p.changed_at end,
      caused_at = case when f.caused then ${moment(day)} else p.caused_at end
      from (select ${columns}) f where p.id = f.id`.execute(db);
  };
  return {
    db,
    begin: insert,
    async listed(day: number, come: readonly Parent[], closed: readonly Fetch[], caused: readonly number[]) {
      await insert(come);
      await note(day, closed);
      await sql`update parents p set open = false where id in (select ${numbers(closed.map(({ order }) => order))})`.execute(
        db,
      );
      await sql`update parents p set since = coalesce(since, ${moment(day)})
        where fetched_at < ${moment(day)} and id in (select ${numbers(caused)})`.execute(db);
    },
    note,
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

const budgetOf = async (db: Kysely<StateTables>, day: number): Promise<number> => {
  const { rows } = await sql<{
    n: number;
  }>`select count(*) as n from parents where fetched_at < ${moment(day)}`.execute(db);
  return Math.ceil(SHARE * rows[0]!.n);
};

/** The audit that went before the planner: oldest first, three of four turns to open ones. */
export const auditOf = (candidates: Fragment, budget: number): Fragment => sql`
  select row_number() over (order by q.open desc, q.newest desc nulls last, q.parent_key) as nth, q.* from (
    select c.*, row_number() over (order by case when c.open then c.turn / 3.0 else c.turn end, c.parent_key) as place
    from (select d.*, row_number() over (partition by d.open order by d.fetched_at, d.parent_key) as turn
      from ${candidates} d) c
  ) q where q.place <= ${sql.lit(budget)} order by nth`;

export async function todaysAudit(): Promise<Policy> {
  const table = await openTable();
  const { db } = table;
  return {
    ...table,
    name: "today",
    async choose(day) {
      const parents = sql`(select * from parents where fetched_at < ${moment(day)})`;
      const { rows } = await sql<{ id: number }>`${auditOf(parents, await budgetOf(db, day))}`.execute(db);
      return rows.map(({ id }) => ({ order: id, why: "audit" }));
    },
    fetched: (day, fetches) => table.note(day, fetches),
  };
}

export interface PlannerPolicy extends Policy {
  /** What the estimate is made of. */
  samples(): Promise<readonly SampleRow[]>;
  /** Orders with the lowest expected rate, or index, as the planner would have it. */
  lowest(day: number, by: "rate" | "index", count: number): Promise<readonly number[]>;
}

export async function planner(seed: number): Promise<PlannerPolicy> {
  const table = await openTable();
  const { db } = table;
  await ensureState(db, duckdbDialect, STATE);
  const candidates = sql`candidates`;
  let plan: Awaited<ReturnType<typeof planNight>> | undefined;
  return {
    ...table,
    name: "planner",
    async choose(day) {
      await sql`create or replace temporary table candidates as select parent_key, open, newest, fetched_at,
        case when since is null then 'audit' else 'caused' end as reason, since, changed_at, caused_at, factor
        from parents where fetched_at < ${moment(day)}`.execute(db);
      const budget = await budgetOf(db, day);
      const night = { ...rates, candidates, budget, now: iso(day), seed: `${seed} ${day}` };
      plan = await db.transaction().execute(trx => planNight(trx, place, night));
      const { rows } = await sql<{ id: number; why: Why }>`select cast(substr(parent_key, 4) as integer) as id, why
        from ${plan.table} order by rank`.execute(db);
      return rows.map(({ id, why }) => ({ order: id, why }));
    },
    async fetched(day, fetches, live, others) {
      const { populations, table: chosen } = plan!;
      await sql`create or replace temporary table looks as select t.*, f.found from ${chosen} t
        join (select ${numbers(fetches.map(({ order }) => order))} as id, ${flags(fetches.map(({ found }) => found))} as found) f
        on t.parent_key = concat('PO-', f.id)`.execute(db);
      const looked = { ...rates, looks: sql`looks`, populations, live, fetched: fetches.length + others };
      const active = sql`parents where open or newest >= cast(${moment(day - ACTIVE_DAYS)} as date)`;
      const activeLive = await countOf(db, active);
      await db
        .transaction()
        .execute(trx => learn(trx, place, { ...looked, activeLive, withinDays: WITHIN_DAYS, timestamp: iso(day) }));
      await table.note(day, fetches);
    },
    async samples() {
      const { rows } =
        await sql<SampleRow>`select planned_at, bucket, population, sampled, wrong, behind, live, fetched,
        active, active_sampled, late, active_live
        from ${sql.id(STATE, "detail_samples")}`.execute(db);
      return rows;
    },
    async lowest(day, by, count) {
      const u = sql`(epoch(${moment(day)}) - epoch(p.fetched_at)) / 86400`;
      const rows = sql`(select p.id, p.factor, p.open or p.newest >= cast(${moment(day - 60)} as date) as active, ${u} as u,
        ${stratumOf("p", iso(day))} as stratum from parents p)`;
      const { from, stratum, times } = withRates(place, rates, rows, "r");
      const lambda = sql`(${stratum} * ${times})`;
      const index = sql`case when active then 2 else 1 end * (1 - (1 + ${lambda} * u) * exp(-${lambda} * u)) / ${lambda}`;
      const found = await sql<{ id: number }>`select r.id from ${from}
        order by ${by === "rate" ? lambda : index}, md5(concat(r.id, ${sql.lit(String(day))})) limit ${sql.lit(count)}`.execute(
        db,
      );
      return found.rows.map(({ id }) => id);
    },
  };
}
