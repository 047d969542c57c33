import { expect, inject, onTestFinished, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { type MoveReport, moveWarehouse } from "../../../src/operations/move_warehouse.ts";
import type { Progress } from "../../../src/warehouse/transfer/transfer.ts";
import { streams } from "../../../streams/index.ts";
import { stillClock } from "../../support/clock.ts";
import { core } from "../../support/core.ts";
import { models } from "../../support/models.ts";
import { type Bench, bench, configOf } from "../../support/run.ts";
import { compareWarehouses } from "../../support/truth.ts";
import {
  duckdbWarehouse,
  ducklakeWarehouse,
  passing,
  postgresWarehouse,
  type Warehouse,
} from "../../support/warehouse.ts";

const DAY = 86_400_000;
const postgres = () => postgresWarehouse(inject("postgresUrl"));
const lake = () => ducklakeWarehouse(inject("postgresUrl"), inject("extensions"));
const ways = inject("databases").includes("ducklake")
  ? [
      { title: "from a file into a lake, and back", from: duckdbWarehouse, to: lake, views: "materialized" },
      { title: "from PostgreSQL into a lake, and back", from: postgres, to: lake, views: false },
    ]
  : [
      { title: "from a file to PostgreSQL, and back", from: duckdbWarehouse, to: postgres, views: "materialized" },
      { title: "from PostgreSQL into a file, and back", from: postgres, to: duckdbWarehouse, views: false },
    ];
const all = { streams: { defaults: { history: true, unknown_fields: "column" } } };
const few = { streams: { exclude: ["invoice*", "findings*", "ingested", "purchase_order_*"] } };

/** A warehouse with a few nights behind it, and what is moved from it. */
async function lived(from: () => Promise<Warehouse>, config: Readonly<Record<string, unknown>> = few) {
  const clock = stillClock();
  const sizes = { orders: 30, invoices: 20, items: 40, findings: 20, ingested: 30 };
  const simulator = await startSimulator({ sizes, now: clock.date });
  onTestFinished(() => simulator.close());
  const warehouse = await passing(from());
  const runs = bench({ simulator, warehouse, clock, config });
  expect((await runs.sync()).exit_code).toBe(0);
  clock.advance(DAY);
  simulator.update("purchase_orders", 3);
  simulator.delete("items", 2);
  expect((await runs.sync()).exit_code).toBe(0);
  return { clock, simulator, warehouse, config };
}

type Lived = Awaited<ReturnType<typeof lived>>;

interface Moving {
  readonly signal?: AbortSignal;
  readonly watch?: (progress: Progress) => void;
}

async function move(
  { clock, simulator, config }: Omit<Lived, "warehouse">,
  from: Warehouse,
  to: Warehouse,
  { signal = new AbortController().signal, watch = () => undefined }: Moving = {},
): Promise<MoveReport> {
  const order = {
    config: await configOf(simulator, from, config),
    to: await configOf(simulator, to, config),
    ...{ catalogue: streams, models, version: "1.0.0" },
  };
  const log = { info: () => undefined, debug: () => undefined, warn: () => undefined };
  return moveWarehouse(order, { clock, log, runId: "move", signal, waitMs: 0, watch });
}

/** What a night after it asks for and changes. */
async function night(runs: Bench, simulator: Simulator) {
  const before = simulator.requests.total;
  const { exit_code, streams: lines } = await runs.sync();
  const changed = lines.reduce((sum, { inserted, updated, deleted }) => sum + inserted + updated + deleted, 0);
  return { exit_code, changed, requests: simulator.requests.total - before };
}

/** The streams of `few`. */
const moved = core.filter(({ name }) => ["items", "purchase_orders"].includes(name));

const rowsOf = ({ query }: Warehouse, table: string) =>
  query(`select cast(count(*) as varchar) as n, cast(sum(hash) as varchar) as sum from _tributary.${table}`);

test.each(ways)("$title: equal row by row, without a request, and the next night is as it had been", async way => {
  const place = await lived(way.from, { ...all, views: way.views });
  const { clock, simulator, warehouse: former, config } = place;
  const [there, back] = [await passing(way.to()), await passing(way.from())];
  const before = simulator.requests.total;
  const report = await move(place, former, there);
  expect(report).toMatchObject({ companies: ["acme"], found: 0, left: [] });
  expect(report.tables).toBeGreaterThan(60);
  await move(place, there, back);
  expect(simulator.requests.total).toBe(before);
  for (const moved of [there, back]) {
    expect(await compareWarehouses(former, moved, core)).toMatchObject({ different: 0, differences: [] });
    expect(await rowsOf(moved, "rows_items")).toEqual(await rowsOf(former, "rows_items"));
    for (const table of ["_tributary.runs", "_tributary.stream_runs", "procurement.purchase_orders_versions"]) {
      const counted = `select count(*) as n from ${table}`;
      expect([table, await moved.query(counted)]).toEqual([table, await former.query(counted)]);
    }
  }
  const [one, ...others] = [former, there, back].map(warehouse => bench({ simulator, warehouse, clock, config }));
  const usual = await night(one!, simulator);
  expect(usual).toMatchObject({ exit_code: 0, changed: 0 });
  for (const runs of others) expect(await night(runs, simulator)).toEqual(usual);
  simulator.update("items", 1);
  expect(await night(others[0]!, simulator)).toMatchObject({ changed: 1 });
});

test.each(ways)("$title: what was stopped refuses runs until the next attempt has gone on with it", async way => {
  const place = await lived(way.from);
  const { clock, simulator, warehouse: former, config } = place;
  const stopAt = async (to: Warehouse) => {
    const stopping = new AbortController();
    const watch = ({ table }: Progress) => void (table === "rows_items" && stopping.abort(new Error("enough")));
    await expect(move(place, former, to, { signal: stopping.signal, watch })).rejects.toThrow("enough");
  };
  const [to, later, other] = [await passing(way.to()), await passing(way.to()), await passing(way.from())];
  await stopAt(to);
  await stopAt(later);
  const runs = bench({ simulator, warehouse: to, clock, config });
  await expect(runs.sync()).rejects.toThrow(/being filled from another one.*tributary move --to/);
  await expect(move(place, to, other)).rejects.toThrow("Expected a whole warehouse");
  await bench({ simulator, warehouse: other, clock, config }).sync();
  await expect(move(place, other, to)).rejects.toThrow("is being filled from");
  expect((await move(place, former, to)).found).toBeGreaterThan(0);
  expect(await night(runs, simulator)).toMatchObject({ exit_code: 0, changed: 0 });
  // What was copied has changed since, which the next attempt sees.
  simulator.update("purchase_orders", 1);
  await bench({ simulator, warehouse: former, clock, config }).sync();
  await move(place, former, later);
  expect(await compareWarehouses(former, later, moved)).toMatchObject({ different: 0, differences: [] });
});

test("only an empty warehouse is filled, and only from one that holds something", async () => {
  const { from, to } = ways[0]!;
  const place = await lived(from);
  const empty = await passing(to());
  await expect(move(place, empty, place.warehouse)).rejects.toThrow("nothing has been loaded yet");
  await expect(move(place, place.warehouse, place.warehouse)).rejects.toThrow("another destination");
  await move(place, place.warehouse, empty);
  await expect(move(place, place.warehouse, empty)).rejects.toThrow(/Expected an empty warehouse, but .* keeps acme/);
});

test("a column of somebody's own comes along, and a table of somebody's own is named", async () => {
  const place = await lived(postgres);
  const { warehouse: former } = place;
  await former.query("alter table procurement.items add column mine numeric(10,2) default 1.5");
  await former.query("create table procurement.notes (note text)");
  const to = await passing(ways[1]!.to());
  expect(await move(place, former, to)).toMatchObject({ left: ["notes"] });
  expect(await to.query("select distinct cast(mine as varchar) as mine from procurement.items")).toEqual([
    { mine: "1.50" },
  ]);
});
