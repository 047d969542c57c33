import { readdir } from "node:fs/promises";

import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { stillClock } from "../../support/clock.ts";
import { bench } from "../../support/run.ts";
import { duckdbWarehouse, passing } from "../../support/warehouse.ts";

async function place() {
  const clock = stillClock();
  const simulator = await startSimulator({
    sizes: { orders: 30, invoices: 0, items: 30, findings: 0, ingested: 0 },
    now: clock.date,
  });
  onTestFinished(() => simulator.close());
  const warehouse = await passing(duckdbWarehouse("snapshot"));
  const destination = { ...warehouse.destination, keep_versions: 1000 };
  // Time passes with every look at it: each list has taken long.
  const now = () => {
    clock.advance(1_000);
    return clock.now();
  };
  const over = (timed: typeof clock) => bench({ simulator, warehouse: { destination }, clock: timed });
  return {
    simulator,
    warehouse,
    sync: over(clock).sync,
    slowly: over({ ...clock, now }).sync,
    versions: async () => {
      const path = String(warehouse.destination["path"]);
      return (await readdir(path.replace(/\.duckdb$/, ".versions"))).filter(name => /^\d/.test(name)).length;
    },
  };
}

test("readers find the lists of a first load while its details are fetched; later runs show themselves at their end", async () => {
  const { simulator, sync, slowly, versions } = await place();
  await slowly({ names: ["purchase_order*", "items"] });
  const early = await versions();
  expect(early).toBeGreaterThan(1);
  simulator.update("items", 3);
  await sync({ names: ["items"] });
  expect(await versions()).toBe(early + 1);
});

test("the list that is read last is shown at the run's end, with what the end says", async () => {
  const { slowly, versions, warehouse } = await place();
  await slowly({ names: ["items"] });
  expect(await versions()).toBe(1);
  expect(await warehouse.query("select status from _tributary.runs")).toEqual([{ status: "succeeded" }]);
});
