import { expect, inject, onTestFinished, test } from "vitest";
import { startSimulator } from "../../simulator/simulator.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { openReading } from "../../src/warehouse/connect/reading.ts";
import { streams } from "../../streams/index.ts";
import { whereIs } from "../outputs/export/exporting.ts";
import { expectedTables } from "../outputs/report/expected.ts";
import { contentsOf, pageOf, tablesOf } from "../outputs/report/made.ts";
import { stillClock } from "../support/clock.ts";
import { models } from "../support/models.ts";
import { unreconciled, unreconciledCube } from "../support/reconciliation.ts";
import { bench } from "../support/run.ts";
import { compareWithTruth } from "../support/truth.ts";
import { passing, postgresWarehouse, type Warehouse } from "../support/warehouse.ts";
import { answersOf, modelRows, untrueDeclarations } from "../warehouse/views/answers.ts";

const sizes = { orders: 6, invoices: 8, items: 4, findings: 6, ingested: 20 };
const config = { streams: { preset: "all" }, views: true };
const read = streams.filter(stream => stream.preset !== "lookup" && stream.name !== "vendor_orders_as_of");

test("what the documents leave open may all be otherwise: every stream is loaded value by value", async () => {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes, vocabulary: "other", now: clock.date });
  onTestFinished(() => simulator.close());
  const warehouse = await passing(postgresWarehouse(inject("postgresUrl")));
  const { sync } = bench({ simulator, warehouse, clock, config });
  const report = await sync();
  expect(report.streams.filter(isFaulty)).toEqual([]);
  const loaded = await compareWithTruth(simulator, warehouse, read, "2026-03-15");
  expect(loaded).toMatchObject({ different: 0, differences: [] });
  expect(await unreconciled(warehouse)).toEqual([]);
  expect(await unreconciledCube(warehouse)).toEqual([]);
  const rows = await modelRows(warehouse, models.models);
  expect(await untrueDeclarations(warehouse, models.models, rows)).toEqual([]);
  const answered = await answersOf(warehouse, models.models, rows);
  expect(answered.get("spend_by_vendor_month")).not.toEqual([]);
  expect(await differingFigures(warehouse)).toEqual([]);
  for (const stream of simulator.streams) {
    if (simulator.truth.count(stream) > 2) simulator.update(stream, 2);
    simulator.insert(stream, 1);
  }
  clock.advance(60_000);
  const changed = await sync();
  expect(changed.streams.filter(isFaulty)).toEqual([]);
  const comparable = read.filter(
    ({ mode }) =>
      !("absence" in mode && mode.absence === "kept") && !(mode.kind === "detail" && mode.everyDays !== undefined),
  );
  const compared = await compareWithTruth(simulator, warehouse, comparable, "2026-03-15", streams);
  expect(compared).toMatchObject({ different: 0, differences: [] });
});

/** A warning tells that date columns took the day of moments; whether every other value fits is compared. */
const isFaulty = ({ status, rejected }: RunReport["streams"][number]): boolean =>
  (status !== "succeeded" && status !== "warning") || rejected > 0;

/** What the report's tables have that count no days, and the views don't say. */
async function differingFigures(warehouse: Warehouse): Promise<readonly string[]> {
  const timeless = ["Exceptions by kind", "Three-way match", "Savings by category"];
  const views = new Map<string, readonly Record<string, unknown>[]>();
  for (const name of ["invoice_exceptions", "three_way_match", "findings_value"])
    views.set(name, await warehouse.query(`select * from procurement_analytics.${name}`));
  const reading = await openReading(whereIs(warehouse));
  try {
    const tables = tablesOf(pageOf(await contentsOf(reading!, ["acme"])));
    const lines = (rows: readonly (readonly string[])[]) => rows.map(row => JSON.stringify(row)).sort();
    return timeless.filter(title => {
      const shown = lines(tables.find(table => table.title === title)?.rows ?? []);
      const worked = lines(expectedTables[title]!({ of: name => [...views.get(name)!] }));
      return worked.length === 0 || JSON.stringify(shown) !== JSON.stringify(worked);
    });
  } finally {
    await reading?.close();
  }
}
