import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { systemClock } from "../../src/clock.ts";
import type { Destination } from "../../src/warehouse/destination.ts";
import { planNight } from "../../src/warehouse/details/planner.ts";
import { openDuckdb } from "../../src/warehouse/duckdb/open.ts";
import { openPostgres } from "../../src/warehouse/postgres/open.ts";
import { ensureState } from "../../src/warehouse/state/state_ddl.ts";
import { createDatabase } from "../../test/support/database.ts";
import { type Figure, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";

const PARENTS = 1_000_000;
const SHARE = 0.02;
/** To the time in which the candidates alone are read. */
const CHOICE = 8;

const NOW = "2026-03-15T02:00:00.000Z";
const of = { company: "acme", stream: "purchase_order_details" };

/** Time in which a night's details are chosen. */
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
/** Parents of three years, one of seven open, one of fifty with a cause, and the detail state of all. */
async function fill({ db, stateSchema }: Destination, parents: number): Promise<void> {
  const now = sql.lit(Date.parse(NOW) / 1_000);
  const ago = (days: string) => sql`to_timestamp(${now} - 86400 * ${sql.raw(days)})`;
  await sql`create table ${sql.id(stateSchema, "parents")} as
    select 'PO-' || i as parent_key, i as hash, i % 7 = 0 as open, cast(${ago("(i * 7919 % 1095)")} as date) as newest,
      case when i % 50 = 0 then ${ago("(i % 3)")} end as since
    from (select cast(i as bigint) as i from generate_series(1, ${sql.lit(parents)}) as numbers(i)) numbered`.execute(
    db,
  );
  await sql`insert into ${sql.id(stateSchema, "details")} (company, stream, parent_key, parent_hash, fetched_at, changed_at, outcome, attempts)
    select ${of.company}, ${of.stream}, parent_key, hash, ${ago("(1 + hash * 61 % 1000003 / 6000.0)")},
      ${ago("(170 + hash * 31 % 200)")}, 'ok', 0
    from ${sql.id(stateSchema, "parents")}`.execute(db);
  for (const name of ["parents", "details"]) await sql`analyze ${sql.id(stateSchema, name)}`.execute(db);
}

async function figuresOf(
  laboratory: Laboratory,
  warehouse: Warehouse,
  destination: Destination,
  parents: number,
): Promise<Figure[]> {
  const { db, stateSchema } = destination;
  const candidates = sql.id("bench_candidates");
  const joined = sql`create temporary table ${candidates} as
    select p.parent_key, p.open, p.newest, d.fetched_at, d.changed_at, p.since, 0 as idle,
      case when p.since is null then 'audit' else 'caused' end as reason
    from ${sql.id(stateSchema, "parents")} p left join ${sql.id(stateSchema, "details")} d
      on d.company = ${of.company} and d.stream = ${of.stream} and d.parent_key = p.parent_key`;
  const reading: number[] = [];
  const choosing: number[] = [];
  for (let run = 0; run < laboratory.runs; run++) {
    const night = { ...of, candidates, budget: Math.ceil(SHARE * parents), now: NOW, seed: String(run) };
    await sql`drop table if exists ${candidates}`.execute(db);
    await destination.withRoom("compare", () =>
      db.transaction().execute(async trx => {
        const begun = performance.now();
        await joined.execute(trx);
        reading.push(performance.now() - begun);
        await planNight(trx, destination, night);
        choosing.push(performance.now() - begun);
      }),
    );
  }
  return [
    {
      ...{ part: "planner", warehouse, unit: "ms", figure: "choice of a night", measured: median(choosing) },
      against: { what: "reading the candidates", value: median(reading) },
      target: { of: "ratio", most: CHOICE },
    },
  ];
}
