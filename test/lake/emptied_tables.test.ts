import { expect, test } from "vitest";
import { meddle } from "../operations/verify/planting.ts";
import { warehouses } from "../support/warehouse.ts";
import { orderCatalogue as catalogue } from "../sync/orders.ts";
import { scenario } from "../sync/scenario.ts";

const { make } = warehouses.find(({ name }) => name === "ducklake")!;

test("--full and --details load the lines and versions of emptied tables of a lake again", async () => {
  const place = await scenario(make, { orders: 6 }, { config: { streams: { defaults: { history: true } } } });
  await place.sync({ catalogue });
  const [lines, versions] = ["purchase_order_line_items", "purchase_order_line_items_versions"];
  const stored = await place.count(lines);
  expect(stored).toBeGreaterThan(6);
  for (const order of [{ full: true }, { allDetails: true }]) {
    await meddle(
      place.warehouse,
      [lines, versions].map(table => `delete from procurement.${table}`),
    );
    place.clock.advance(3_600_000);
    expect(await place.sync({ catalogue, ...order })).toMatchObject({ exit_code: 0 });
    expect(await place.count(lines, "_deleted_at is null")).toBe(stored);
    expect(await place.count(versions, "_is_current")).toBe(stored);
  }
});
