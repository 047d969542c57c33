import { sql } from "kysely";
import { expect, inject, test } from "vitest";
import type { Simulator } from "../../../simulator/simulator.ts";
import { systemClock } from "../../../src/clock.ts";
import { canonical } from "../../../src/operations/verify/compare_value.ts";
import { openDestination } from "../../../src/warehouse/connect/open.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";
import { copyWarehouse, type Progress } from "../../../src/warehouse/transfer/transfer.ts";
import { whereIs } from "../../outputs/export/exporting.ts";
import { core } from "../../support/core.ts";
import { type Bench, bench } from "../../support/run.ts";
import { compareWarehouses } from "../../support/truth.ts";
import {
  duckdbWarehouse,
  ducklakeWarehouse,
  passing,
  postgresWarehouse,
  type Warehouse,
} from "../../support/warehouse.ts";
import { lived, move } from "./moving.ts";

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

/** What a night after it asks for and changes. */
async function night(runs: Bench, simulator: Simulator) {
  const before = simulator.requests.total;
  const { exit_code, streams: lines } = await runs.sync();
  const changed = lines.reduce((sum, { inserted, updated, deleted }) => sum + inserted + updated + deleted, 0);
  return { exit_code, changed, requests: simulator.requests.total - before };
}

/** The streams that such a warehouse has rows of. */
const moved = core.filter(({ name }) => ["items", "purchase_orders"].includes(name));

const opener = () => ({
  runId: "by hand",
  holder: { pid: process.pid, host: "here", command: "test", startedAt: "2026-03-15T00:00:00Z" },
  clock: systemClock,
});

async function changing(warehouse: Warehouse, statement: ReturnType<typeof sql>): Promise<void> {
  await using destination = await openDestination(whereIs(warehouse), opener(), 0);
  await statement.execute(destination.db);
}

const rowsOf = ({ query }: Warehouse, table: string) =>
  query(`select cast(count(*) as varchar) as n, cast(sum(hash) as varchar) as sum from _tributary.${table}`);

test.each(ways)("$title: equal row by row, without a request, and the next night is as it had been", async way => {
  const place = await lived(way.from, { ...all, views: way.views });
  const { clock, simulator, warehouse: former, config } = place;
  const [there, back] = [await passing(way.to()), await passing(way.from())];
  const before = simulator.requests.total;
  const report = await move(place, former, there);
  expect(report).toMatchObject({ companies: ["acme"], left: [] });
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

test.each(ways)("$title: stopped, the new one is still empty, and the same command begins anew", async way => {
  const place = await lived(way.from);
  const { clock, simulator, warehouse: former, config } = place;
  const stopping = new AbortController();
  const watch = ({ table }: Progress) => void (table === "rows_items" && stopping.abort(new Error("enough")));
  const to = await passing(way.to());
  await expect(move(place, former, to, { signal: stopping.signal, watch })).rejects.toThrow("enough");
  for (const table of ["procurement.items", "_tributary.runs", "_tributary.streams"])
    expect(await to.query(`select 1 as n from ${table}`)).toEqual([]);
  await move(place, former, to);
  expect(await compareWarehouses(former, to, moved)).toMatchObject({ different: 0, differences: [] });
  expect(await night(bench({ simulator, warehouse: to, clock, config }), simulator)).toMatchObject({ changed: 0 });
});

test("only an empty warehouse is filled, and only from one that holds something", async () => {
  const { from, to } = ways[0]!;
  const place = await lived(from);
  const empty = await passing(to());
  await expect(move(place, empty, place.warehouse)).rejects.toThrow("nothing has been loaded yet");
  await expect(move(place, place.warehouse, place.warehouse)).rejects.toThrow("another destination");
  await move(place, place.warehouse, empty);
  await expect(move(place, place.warehouse, empty)).rejects.toMatchObject({ code: "move.target_not_empty" });
});

test("a column and a table of the user's own stay where they are, and are named", async () => {
  const place = await lived(postgres);
  const { warehouse: former } = place;
  await former.query("alter table procurement.items add column mine numeric(10,2) default 1.5");
  await former.query("create table procurement.notes (note text)");
  // One that the new one has under the same name is nobody else's.
  const beside = await passing(postgres());
  await beside.query("create schema procurement; create table procurement.notes as select 'of the new one' as note");
  expect(await move(place, former, beside)).toMatchObject({ left: ["notes", "items.mine"] });
  expect(await beside.query("select note from procurement.notes")).toEqual([{ note: "of the new one" }]);
});

test("a warehouse whose tables an older version made is refused", async () => {
  const place = await lived(duckdbWarehouse);
  await changing(place.warehouse, sql`alter table procurement.items drop column category`);
  const to = await passing(postgres());
  await expect(move(place, place.warehouse, to)).rejects.toThrow(/lacks items\.category.*tributary sync/);
});

test.each(ways)("$title: values of every type arrive as they were", async ({ from, to }) => {
  const place = await lived(from);
  const { warehouse: former } = place;
  const json = '{"b": [1.50, 1e3, null], "a": "Ünï \\" \\n ☃ 🦊", "nested": {"x": {}}}';
  await changing(
    former,
    sql`update procurement.items set _extra = ${sql.lit(json)},
    _problems = '[0.1, 123456789012345678901234567890]', _deleted_at = timestamptz '1999-12-31 23:59:59.123456+00'`,
  );
  await changing(
    former,
    sql`update _tributary.rows_items set hash = -9223372036854775807,
    missing_since = timestamptz '0999-01-01 00:00:00+00'`,
  );
  const there = await passing(to());
  await move(place, former, there);
  const back = await passing(from());
  await move(place, there, back);
  const values = ({ query }: Warehouse) =>
    query(`select i._extra, i._deleted_at, cast(r.hash as varchar) as hash, r.missing_since from procurement.items i
      join _tributary.rows_items r on r.item_id = i.item_id order by i.item_id`);
  for (const one of [there, back]) {
    expect(await values(one)).toEqual(await values(former));
    expect(await compareWarehouses(former, one, moved)).toMatchObject({ different: 0, differences: [] });
  }
});

test("rows that do not arrive as they were sent are noticed, and nothing of them is stored", async () => {
  const { warehouse } = await lived(duckdbWarehouse);
  await using from = await openDestination(whereIs(warehouse), opener(), 0);
  await using to = await openDestination(whereIs(await passing(postgres())), opener(), 0);
  await ensureState(to.db, to.dialect, to.stateSchema);
  async function* spoilt(rows: AsyncIterable<Buffer>) {
    for await (const piece of rows) yield Buffer.from(String(piece).replace('"succeeded"', '"successful"'));
  }
  const copyIn = (statement: string, rows: AsyncIterable<Buffer>) => to.copyIn!(statement, spoilt(rows));
  const none = new Set<string>();
  const sides = {
    from,
    to: { ...to, copyIn },
    names: none,
    stays: none,
    canonical,
    watch: () => undefined,
    lacking: () => new Error(),
  };
  const copying = copyWarehouse({ ...sides, signal: new AbortController().signal });
  await expect(copying).rejects.toThrow(/Expected .* to be equal row by row .* Nothing of it was stored/);
  expect(await to.db.selectFrom("runs").selectAll().execute()).toEqual([]);
});
