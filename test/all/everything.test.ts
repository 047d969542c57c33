import { expect, inject, onTestFinished, test } from "vitest";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { streams } from "../../streams/index.ts";
import { stillClock } from "../support/clock.ts";
import { bench } from "../support/run.ts";
import { compareWarehouses, compareWithTruth } from "../support/truth.ts";
import { duckdbWarehouse, passing, postgresWarehouse } from "../support/warehouse.ts";

const sizes = { orders: 24, invoices: 24, items: 16, findings: 12, ingested: 40 };
const config = { streams: { preset: "all" } };
const read = streams.filter(stream => stream.preset !== "lookup" && stream.name !== "vendor_orders_as_of");

test("every stream of every preset fills its tables with what the service says, in both databases; a second run changes nothing", async () => {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes, now: clock.date });
  onTestFinished(() => simulator.close());
  const duckdb = await passing(duckdbWarehouse("snapshot"));
  const postgres = await passing(postgresWarehouse(inject("postgresUrl")));
  for (const warehouse of [duckdb, postgres]) {
    const { sync } = bench({ simulator, warehouse, clock, config });
    const report = await sync();
    const failed = report.streams.filter(line => line.status !== "succeeded" || line.rejected > 0 || line.problems > 0);
    expect(
      failed.map(({ stream, status, error, rejected, problems }) => [stream, status, error, rejected, problems]),
    ).toEqual([]);
    expect(report.streams.map(line => line.stream).sort()).toEqual(read.map(({ name }) => name).sort());
    const compared = await compareWithTruth(simulator, warehouse, read, "2026-03-15");
    expect(compared).toMatchObject({ different: 0, differences: [] });
    clock.advance(60_000);
    const again = await sync();
    const touched = again.streams.filter(line => line.inserted + line.updated + line.deleted > 0);
    expect(touched.map(({ stream, inserted, updated, deleted }) => [stream, inserted, updated, deleted])).toEqual([]);
    clock.advance(-60_000);
  }
  expect(await compareWarehouses(duckdb, postgres, read)).toMatchObject({ different: 0, differences: [] });
});
