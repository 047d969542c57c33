import { test } from "vitest";
import { warehouses } from "../support/warehouse.ts";
import { sameInParts } from "../sync/parted.ts";

const { make } = warehouses.find(({ name }) => name === "ducklake")!;

test("what parts fetch and publish side by side into a lake is what one session would", async () => {
  const config = {
    streams: { defaults: { details: { audit: 0 } } },
    destination: { publish_every: "3s" },
    deletes: { max_share: 1, min_rows: 1_000 },
  };
  await sameInParts(make, config, { rounds: 2, mails: 24 });
});
