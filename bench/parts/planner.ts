import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { systemClock } from "../../src/clock.ts";
import type { Destination } from "../../src/warehouse/destination.ts";
import { learn } from "../../src/warehouse/details/learner.ts";
import { type NightPlan, planNight } from "../../src/warehouse/details/planner.ts";
import { openDuckdb } from "../../src/warehouse/duckdb/open.ts";
import { openPostgres } from "../../src/warehouse/postgres/open.ts";
import { ensureState } from "../../src/warehouse/state/state_ddl.ts";
import { auditOf } from "../../test/fresh/policies.ts";
import { createDatabase } from "../../test/support/database.ts";
import { type Figure, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";

const PARENTS = 1_000_000;
const SHARE = 0.02;
const VENDORS = 3_000;
/** To today's. */
const CHOICE = 1.5;
const LEARNING_MS = 5_000;

const NOW = "2026-03-15T02:00:00.000Z";
const of = { company: "acme", stream: "purchase_order_details" };

/** Time in which a night's details are chosen, and what they found is learned. */
export const planner: Part = {
  name: "planner",
  async measure(laboratory) {
    const parents = laboratory.size(PARENTS, 1_000);
    const figures: Figure[] = [];
    for (const warehouse of laboratory.warehouses) {
      const { destination, remove } = await open(laboratory, warehouse);
      try {
        laboratory.say(`  ${parents.toLocaleString("en-US")} parents, ${warehouse}`);
        await fill(destination, parents);
        figures.push(...(await figuresOf(laboratory, warehouse, destination, parents)));
      } finally {
        await remove();
      }
    }
    return figures;
  },
};

async function open(laboratory: Laboratory, warehouse: Warehouse) {
  const holder = { pid: process.pid, host: "here", command: "bench", startedAt: NOW };
  const run = { schema: "procurement", stateSchema: "_tributary", runId: "bench", holder, clock: systemClock };
  const folder = await mkdtemp(join(laboratory.folder, "planner-"));
  const database = warehouse === "postgres" ? await createDatabase(laboratory.postgresUrl) : undefined;
  const destination =
    database === undefined
      ? await openDuckdb({ ...run, path: join(folder, "warehouse.duckdb"), readers: "direct", keepVersions: 1 })
      : await openPostgres({ ...run, url: database.url, grantSelectTo: [] });
  await ensureState(destination.db, destination.dialect, destination.stateSchema);
  const remove = async () => {
    await destination.close();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  };
  return { destination, remove };
}

/** Parents of three years, one of seven open, one of fifty with a cause, and the detail state of all. */
async function fill({ db, stateSchema }: Destination, parents: number): Promise<void> {
  const now = sql.lit(Date.parse(NOW) / 1_000);
  const ago = (days: string) => sql`to_timestamp(${now} - 86400 * ${sql.raw(days)})`;
  await sql`create table ${sql.id(stateSchema, "parents")} as
    select 'PO-' || i as parent_key, i as hash, i % 7 = 0 as open, cast(${ago("(i * 7919 % 1095)")} as date) as newest,
      case when i % 50 = 0 then ${ago("(i % 3)")} end as since, case when i % 3 = 0 then ${ago("(i * 31 % 200)")} end as changed_at,
      case when i % 13 = 0 then ${ago("(i * 7 % 60)")} end as caused_at, 'V' || i % ${sql.lit(VENDORS)} as factor
    from (select cast(i as bigint) as i from generate_series(1, ${sql.lit(parents)}) as numbers(i)) numbered`.execute(
    db,
  );
  await sql`insert into ${sql.id(stateSchema, "details")} (company, stream, parent_key, parent_hash, fetched_at, outcome, attempts)
    select ${of.company}, ${of.stream}, parent_key, hash, ${ago("(1 + hash * 61 % 1000003 / 6000.0)")}, 'ok', 0
    from ${sql.id(stateSchema, "parents")}`.execute(db);
  for (const [kind, names] of [
    [
      "stratum",
      sql`select distinct case when open then 'open' else 'closed' end as name from ${sql.id(stateSchema, "parents")}`,
    ],
    ["factor", sql`select distinct factor as name from ${sql.id(stateSchema, "parents")}`],
  ] as const)
    await sql`insert into ${sql.id(stateSchema, "detail_rates")} (company, stream, kind, name, events, exposure, updated_at)
      select ${of.company}, ${of.stream}, ${kind}, name, 3, 4, cast(${NOW} as timestamptz) from (${names}) n`.execute(
      db,
    );
  for (const name of ["parents", "details", "detail_rates"])
    await sql`analyze ${sql.id(stateSchema, name)}`.execute(db);
}

async function figuresOf(
  laboratory: Laboratory,
  warehouse: Warehouse,
  destination: Destination,
  parents: number,
): Promise<Figure[]> {
  const { db, stateSchema } = destination;
  const budget = Math.ceil(SHARE * parents);
  const candidates = sql.id("bench_candidates");
  const audited = sql.id("bench_audit");
  const looks = sql.id("bench_looks");
  const joined = sql`create temporary table ${candidates} as
    select p.parent_key, p.open, p.newest, d.fetched_at, case when p.since is null then 'audit' else 'caused' end as reason,
      p.since, p.changed_at, p.caused_at, p.factor
    from ${sql.id(stateSchema, "parents")} p left join ${sql.id(stateSchema, "details")} d
      on d.company = ${of.company} and d.stream = ${of.stream} and d.parent_key = p.parent_key`;
  const timed = async <T>(work: () => Promise<T>) => {
    for (const name of [candidates, audited]) await sql`drop table if exists ${name}`.execute(db);
    const begun = performance.now();
    const done = await work();
    return { ms: performance.now() - begun, done };
  };
  const choices = { today: [] as number[], planner: [] as number[], learning: [] as number[] };
  for (let run = 0; run < laboratory.runs; run++) {
    const today = await timed(() =>
      destination.withRoom("compare", () =>
        db.transaction().execute(async trx => {
          await joined.execute(trx);
          await sql`create temporary table ${audited} as ${auditOf(candidates, budget)}`.execute(trx);
        }),
      ),
    );
    choices.today.push(today.ms);
    const night = { ...of, candidates, budget, now: NOW, seed: String(run) };
    const planned = await timed(() =>
      destination.withRoom("compare", () =>
        db.transaction().execute(async trx => {
          await joined.execute(trx);
          return planNight(trx, destination, night);
        }),
      ),
    );
    choices.planner.push(planned.ms);
    choices.learning.push(await learned(destination, planned.done, parents));
  }
  const base = { part: "planner", warehouse, unit: "ms" } as const;
  const against = { what: "the audit before it", value: median(choices.today) };
  return [
    {
      ...{ ...base, against },
      figure: "choice of a night",
      measured: median(choices.planner),
      target: { of: "ratio", most: CHOICE },
    },
    {
      ...base,
      figure: "learning of a night's looks",
      measured: median(choices.learning),
      target: { of: "measured", most: LEARNING_MS },
    },
  ];

  async function learned({ db }: Destination, { table, populations }: NightPlan, live: number): Promise<number> {
    await sql`drop table if exists ${looks}`.execute(db);
    await sql`create temporary table ${looks} as select t.*, "rank" % 9 = 0 as found from ${table} t`.execute(db);
    const night = { ...of, looks, populations, live, fetched: budget, timestamp: NOW, activeLive: 0, withinDays: 2 };
    const { ms } = await timed(() => db.transaction().execute(trx => learn(trx, destination, night)));
    return ms;
  }
}
