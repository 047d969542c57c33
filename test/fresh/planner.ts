import { DuckDBInstance } from "@duckdb/node-api";
import { sql } from "kysely";
import { Mutex } from "../../src/mutex.ts";
import { indexOf, planNight, type Why } from "../../src/warehouse/details/planner.ts";
import { duckdbDialect } from "../../src/warehouse/duckdb/session/dialect.ts";
import { kyselyOver } from "../../src/warehouse/duckdb/session/driver.ts";

/** The planner itself over a table of parents, in a DuckDB of its own. */

export interface Chosen {
  readonly order: number;
  readonly why: Why;
}

export interface Parent {
  readonly order: number;
  readonly open: boolean;
  /** Days, as in the world. */
  readonly newest: number;
  readonly fetched: number;
  /** When a fetch last found a change, or the first one was. */
  readonly changed: number;
}

export interface Fetch {
  readonly order: number;
  readonly found: boolean;
}

export type Planner = Awaited<ReturnType<typeof openPlanner>>;

export const SHARE = 0.02;
const START = Date.parse("2026-01-01T02:00:00Z");
const iso = (day: number) => new Date(START + day * 86_400_000).toISOString();
export const dateOf = (day: number): Date => new Date(START + day * 86_400_000);
const moment = (day: number) => sql`cast(${iso(day)} as timestamptz)`;
const numbers = (values: readonly number[]) => sql.raw(`unnest([${values.join(",")}]::integer[])`);
const flags = (values: readonly boolean[]) => sql.raw(`unnest([${values.join(",")}]::boolean[])`);

export async function openPlanner(seed: number) {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  const db = kyselyOver(async () => connection, new Mutex());
  await sql`create table parents (parent_key varchar, id integer, open boolean, newest date, fetched_at timestamptz,
    since timestamptz, changed_at timestamptz)`.execute(db);
  const come = async (parents: readonly Parent[]) => {
    for (let from = 0; from < parents.length; from += 5_000) {
      const rows = parents
        .slice(from, from + 5_000)
        .map(
          ({ order, open, newest, fetched, changed }) =>
            `('PO-${order}',${order},${open},'${iso(newest).slice(0, 10)}','${iso(fetched)}',null,'${iso(changed)}')`,
        );
      await sql`insert into parents values ${sql.raw(rows.join(","))}`.execute(db);
    }
  };
  const fetched = async (day: number, fetches: readonly Fetch[]) => {
    if (fetches.length === 0) return;
    const columns = sql`${numbers(fetches.map(({ order }) => order))} as id,
      ${flags(fetches.map(({ found }) => found))} as found`;
    await sql`update parents p set fetched_at = ${moment(day)}, since = null,
      changed_at = case when f.found then ${moment(day)} else p.changed_at end
      from (select ${columns}) f where p.id = f.id`.execute(db);
  };
  return {
    come,
    /** Orders that were closed: their list rows are new, so their details are fetched anyhow. */
    async shut(day: number, closed: readonly Fetch[]) {
      await fetched(day, closed);
      await sql`update parents set open = false where id in (select ${numbers(closed.map(({ order }) => order))})`.execute(
        db,
      );
    },
    /** Orders that have a cause from now on. */
    async hint(day: number, caused: readonly number[]) {
      await sql`update parents set since = coalesce(since, ${moment(day)})
        where fetched_at < ${moment(day)} and id in (select ${numbers(caused)})`.execute(db);
    },
    async choose(day: number): Promise<readonly Chosen[]> {
      await sql`create or replace temporary table candidates as select parent_key, open, newest, fetched_at, changed_at, since, 0 as idle,
        case when since is null then 'audit' else 'caused' end as reason from parents where fetched_at < ${moment(day)}`.execute(
        db,
      );
      const { rows: counted } = await sql<{ n: number }>`select count(*) as n from candidates`.execute(db);
      const night = {
        ...{ company: "acme", stream: "purchase_order_details", candidates: sql`candidates` },
        ...{ budget: Math.ceil(SHARE * counted[0]!.n), now: iso(day), seed: `${seed} ${day}` },
      };
      const plan = await db.transaction().execute(trx => planNight(trx, { dialect: duckdbDialect }, night));
      const { rows } = await sql<{ id: number; why: Why }>`select cast(substr(parent_key, 4) as integer) as id, why
        from ${plan.table} order by rank`.execute(db);
      return rows.map(({ id, why }) => ({ order: id, why }));
    },
    fetched,
    /** Orders of which the index values a look least. */
    async lowest(day: number, count: number): Promise<readonly number[]> {
      const { rows } = await sql<{ id: number }>`select c.id from parents c
        order by ${indexOf(iso(day))}, md5(concat(c.id, ${String(day)})) limit ${sql.lit(count)}`.execute(db);
      return rows.map(({ id }) => id);
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}
