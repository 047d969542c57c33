import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { stillClock } from "../support/clock.ts";
import { type Bench, bench } from "../support/run.ts";
import { duckdbWarehouse, postgresWarehouse, type Warehouse } from "../support/warehouse.ts";

const sizes = { orders: 12, invoices: 8, items: 6, findings: 5, ingested: 5 };
const made = [
  { name: "duckdb", make: () => duckdbWarehouse() },
  { name: "postgres", make: () => postgresWarehouse(inject("postgresUrl")) },
];

describe.each(made)("$name", ({ make }) => {
  const clock = stillClock();
  let warehouse: Warehouse;
  let simulator: Simulator;
  let run: Bench;

  beforeAll(async () => {
    simulator = await startSimulator({ sizes, now: clock.date });
    warehouse = await make();
    run = bench({
      simulator,
      warehouse,
      clock,
      config: { streams: { include: ["finding_stats", "analytics_spend"] } },
    });
    expect(await run.sync()).toMatchObject({ status: "succeeded" });
  });
  afterAll(async () => {
    await simulator.close();
    await warehouse.drop();
  });

  const columnsOf = async (schema: string, table: string) =>
    (
      await warehouse.query<{ column_name: string }>(
        `select column_name from information_schema.columns where table_schema = '${schema}' and table_name = '${table}' order by ordinal_position`,
      )
    ).map(row => row.column_name);

  test("each table is once more a view without the engine's own columns", async () => {
    const hidden = ["_extra", "_problems", "_first_seen_at"];
    for (const table of ["purchase_orders", "purchase_order_line_items", "invoices"]) {
      const own = await columnsOf("procurement", table);
      expect(await columnsOf("procurement_analytics", table)).toEqual(own.filter(column => !hidden.includes(column)));
    }
  });

  test("a second run makes nothing", async () => {
    run.said.length = 0;
    clock.advance(3_600_000);
    await run.sync();
    expect(run.said.filter(line => /view|schema/.test(line))).toEqual([]);
  });
});
