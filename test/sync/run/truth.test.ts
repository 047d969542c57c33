import { expect, inject, onTestFinished, test } from "vitest";
import { type SimulatorOptions, startSimulator } from "../../../simulator/simulator.ts";
import { stillClock } from "../../support/clock.ts";
import { core as streams } from "../../support/core.ts";
import { bench } from "../../support/run.ts";
import { compareWarehouses, compareWithTruth } from "../../support/truth.ts";
import { duckdbWarehouse, passing, postgresWarehouse } from "../../support/warehouse.ts";

const sizes = { orders: 110, invoices: 60, items: 210, findings: 110, ingested: 120 };

async function simulated(options: SimulatorOptions) {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes, now: clock.date, ...options });
  onTestFinished(() => simulator.close());
  return { clock, simulator };
}

test.each([
  { name: "offset paging and compressed answers", options: { seed: 7, paging: "offset", compression: true } as const },
  { name: "keyset paging, and a company without currency and totals", options: { seed: 4, paging: "keyset" } as const },
])("both databases hold what the service says, value by value: $name", async ({ options }) => {
  const { clock, simulator } = await simulated(options);
  const duckdb = await passing(duckdbWarehouse("snapshot"));
  const postgres = await passing(postgresWarehouse(inject("postgresUrl")));
  for (const warehouse of [duckdb, postgres]) {
    const report = await bench({ simulator, warehouse, clock }).sync();
    expect(report).toMatchObject({ status: "succeeded", exit_code: 0, warnings: [] });
    const compared = await compareWithTruth(simulator, warehouse, streams, "2026-03-15");
    expect(compared).toMatchObject({ different: 0, differences: [] });
    expect(compared.rows).toBeGreaterThan(1_200);
  }
  expect(await compareWarehouses(duckdb, postgres, streams)).toMatchObject({ different: 0, differences: [] });
});

test("what doesn't fit is NULL and a problem, what nobody knows is in _extra, in both databases alike", async () => {
  const { clock, simulator } = await simulated({ faults: { unknownFields: 0.3, wrongTypes: 0.04, nullKeys: 0.02 } });
  const duckdb = await passing(duckdbWarehouse("snapshot"));
  const postgres = await passing(postgresWarehouse(inject("postgresUrl")));
  for (const warehouse of [duckdb, postgres]) {
    const report = await bench({ simulator, warehouse, clock }).sync();
    expect(report).toMatchObject({ status: "warning", exit_code: 0 });
    const codes = ["schema.unknown_fields", "rejects.not_stored", "problems.not_read"];
    expect(report.warnings.map(({ code }) => code)).toEqual(expect.arrayContaining(codes));
    const compared = await compareWithTruth(simulator, warehouse, streams, "2026-03-15");
    expect(compared).toMatchObject({ different: 0, differences: [] });
  }
  expect(await compareWarehouses(duckdb, postgres, streams)).toMatchObject({ different: 0, differences: [] });
});

test("a single wrong value, a missing row and one too many would be noticed", async () => {
  const { clock, simulator } = await simulated({
    sizes: { orders: 20, invoices: 0, items: 0, findings: 0, ingested: 0 },
  });
  const warehouse = await passing(postgresWarehouse(inject("postgresUrl")));
  await bench({ simulator, warehouse, clock }).sync();
  const compare = () => compareWithTruth(simulator, warehouse, streams, "2026-03-15");
  expect((await compare()).different).toBe(0);
  await warehouse.query(
    "update procurement.purchase_orders set total_amount = coalesce(total_amount, 0) + 0.000000001 where po_number in (select min(po_number) from procurement.purchase_orders)",
  );
  expect((await compare()).different).toBe(1);
  await warehouse.query(
    "delete from procurement.purchase_order_line_items where ctid in (select ctid from procurement.purchase_order_line_items limit 1)",
  );
  expect((await compare()).different).toBe(3);
  await warehouse.query("insert into procurement.items (_company, item_id) values ('acme', 'ITM-too-many')");
  expect((await compare()).different).toBe(4);
});
