import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../simulator/simulator.ts";
import { stopInPublish } from "../fleet/stopped.ts";
import { sameByWorkers } from "../fleet/workers.ts";
import { warehouses } from "../support/warehouse.ts";

const { make } = warehouses.find(({ name }) => name === "ducklake")!;

test("three workers load into a lake what one process loads", async () => {
  const simulator = await startSimulator({
    sizes: { orders: 600, invoices: 60, items: 60, findings: 20, ingested: 60 },
  });
  onTestFinished(() => simulator.close());
  const lake = await make();
  await sameByWorkers(simulator, await make(), lake);
  expect(await lake.query("select count(*) as n from procurement.purchase_order_details")).toEqual([{ n: 600 }]);
});

test("a worker that is stopped in the middle of a lake's publish is replaced in time, and publishes nothing when it wakes", async () => {
  const lake = await make();
  await stopInPublish(lake, String(lake.destination["catalog"]), "ducklake.ducklake_snapshot");
});
