import { inject, test } from "vitest";
import { passing, postgresWarehouse } from "../support/warehouse.ts";
import { stopInPublish } from "./stopped.ts";

test("a worker that is stopped in the middle of a publish is replaced in time, and publishes nothing when it wakes", async () => {
  const warehouse = await passing(postgresWarehouse(inject("postgresUrl")));
  await stopInPublish(warehouse, String(warehouse.destination["url"]), "procurement.purchase_orders");
});
