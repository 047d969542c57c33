import { readdir } from "node:fs/promises";

import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { stillClock } from "../support/clock.ts";
import { bench } from "../support/run.ts";
import { duckdbWarehouse, passing } from "../support/warehouse.ts";

test("readers find the lists of a first load while its details are fetched; later runs show themselves at their end", async () => {
  const clock = stillClock();
  const simulator = await startSimulator({
    sizes: { orders: 30, invoices: 0, items: 30, findings: 0, ingested: 0 },
    now: clock.date,
  });
  onTestFinished(() => simulator.close());
  const warehouse = await passing(duckdbWarehouse("snapshot"));
  const destination = { ...warehouse.destination, keep_versions: 1000 };
  const { sync } = bench({ simulator, warehouse: { destination }, clock });
  const versions = async () => {
    const path = String(warehouse.destination["path"]);
    return (await readdir(path.replace(/\.duckdb$/, ".versions"))).filter(name => /^\d/.test(name)).length;
  };
  // Time passes with every look at it: each list has taken long.
  const now = () => {
    clock.advance(500);
    return clock.now();
  };
  const hasty = { ...clock, now };
  await bench({ simulator, warehouse: { destination }, clock: hasty }).sync({ names: ["purchase_order*", "items"] });
  const early = await versions();
  expect(early).toBeGreaterThan(1);
  simulator.update("items", 3);
  await sync({ names: ["items"] });
  expect(await versions()).toBe(early + 1);
});
