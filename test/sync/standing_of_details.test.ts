import { describe, expect, test } from "vitest";
import { warehouses } from "../support/warehouse.ts";
import { scenario } from "./scenario.ts";

describe.each(warehouses)("$name", ({ make }) => {
  test("what there is of details, and to fetch, is told also after a run of their list alone", async () => {
    const place = await scenario(make, { orders: 30 }, { config: { streams: { defaults: { audit: 0 } } } });
    await place.sync();
    const standing = async () => {
      const [row] = await place.warehouse.query(
        "select live_rows, details_pending from _tributary.streams where table_name = 'purchase_order_details'",
      );
      const live = await place.count("purchase_order_details", "_deleted_at is null");
      return { told: { live: Number(row!["live_rows"]), pending: Number(row!["details_pending"]) }, live };
    };
    expect(await standing()).toEqual({ told: { live: 30, pending: 0 }, live: 30 });

    place.simulator.delete("purchase_orders", 2);
    place.simulator.update("purchase_orders", 4);
    for (let i = 0; i < 2; i++) {
      place.clock.advance(3_600_000);
      await place.sync({ names: ["purchase_orders"], full: i === 1 });
    }
    expect(await standing()).toEqual({ told: { live: 28, pending: 4 }, live: 28 });
  });
});
