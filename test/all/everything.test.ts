import { expect, inject, onTestFinished, test } from "vitest";
import type { RunReport } from "../../src/run.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { streams } from "../../streams/index.ts";
import { stillClock } from "../support/clock.ts";
import { bench } from "../support/run.ts";
import { compareWarehouses, compareWithTruth } from "../support/truth.ts";
import { duckdbWarehouse, passing, postgresWarehouse, type Warehouse, warehouses } from "../support/warehouse.ts";

const sizes = { orders: 24, invoices: 24, items: 16, findings: 12, ingested: 40 };
const config = { streams: { preset: "all" } };
const read = streams.filter(stream => stream.preset !== "lookup" && stream.name !== "vendor_orders_as_of");

/** What the simulator's secrets begin with. */
const secrets = ["whsec_", "xoxb-", "tk_"];

test("every stream of every preset fills its tables with what the service says, in both databases; a second run changes nothing", async () => {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes, now: clock.date });
  onTestFinished(() => simulator.close());
  const duckdb = await passing(duckdbWarehouse("snapshot"));
  const postgres = await passing(postgresWarehouse(inject("postgresUrl")));
  for (const warehouse of [duckdb, postgres]) {
    const { sync } = bench({ simulator, warehouse, clock, config });
    const report = await sync();
    expect(report.streams.filter(isFaulty).map(inShort)).toEqual([]);
    expect(report.streams.map(line => line.stream).sort()).toEqual(read.map(({ name }) => name).sort());
    const compared = await compareWithTruth(simulator, warehouse, read, "2026-03-15");
    expect(compared).toMatchObject({ different: 0, differences: [] });
    expect(await tablesWith(warehouse, secrets)).toEqual([]);
    const again = await sync();
    expect(again.streams.filter(line => line.inserted + line.updated + line.deleted > 0).map(inShort)).toEqual([]);
  }
  expect(await compareWarehouses(duckdb, postgres, read)).toMatchObject({ different: 0, differences: [] });
});

test.each(warehouses)("what changes in any list is in the tables after the next run: $name", async ({ make }) => {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes, now: clock.date });
  onTestFinished(() => simulator.close());
  const warehouse = await make();
  const { sync } = bench({ simulator, warehouse, clock, config });
  await sync();
  for (const name of simulator.streams) {
    if (simulator.truth.count(name) > 3) simulator.update(name, 3);
    simulator.insert(name, 2);
  }
  clock.advance(60_000);
  const report = await sync();
  expect(report.streams.filter(isFaulty).map(inShort)).toEqual([]);
  expect(report.streams.filter(line => line.inserted > 0).length).toBeGreaterThan(40);
  // Rows that left a list that is never cleared stay in its table; details of values are asked for again by their age.
  const comparable = read.filter(
    ({ mode }) =>
      !("absence" in mode && mode.absence === "kept") && !(mode.kind === "detail" && mode.everyDays !== undefined),
  );
  const compared = await compareWithTruth(simulator, warehouse, comparable, "2026-03-15", streams);
  expect(compared).toMatchObject({ different: 0, differences: [] });
});

type Line = RunReport["streams"][number];

const isFaulty = ({ status, rejected, problems }: Line) => status !== "succeeded" || rejected > 0 || problems > 0;

const inShort = ({ stream, status, error, inserted, updated, deleted, rejected, problems }: Line) =>
  [stream, status, error, inserted, updated, deleted, rejected, problems].join(" ");

/** Tables of which a row holds one of the texts. */
async function tablesWith(warehouse: Warehouse, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const { tables } of read)
    for (const { name } of [tables.main, ...tables.children]) {
      const like = texts.map(text => `position('${text}' in cast(t as varchar)) > 0`).join(" or ");
      const [row] = await warehouse.query<{ n: number }>(
        `select count(*) as n from procurement.${name} t where ${like}`,
      );
      if (Number(row!.n) > 0) found.push(name);
    }
  return found;
}
