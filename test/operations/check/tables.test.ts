import { expect, test } from "vitest";
import { checkDestination } from "../../../src/operations/check/destination.ts";
import { configOf } from "../../support/run.ts";
import { eitherWarehouse, warehouses } from "../../support/warehouse.ts";
import { orderCatalogue as catalogue } from "../../sync/orders.ts";
import { scenario } from "../../sync/scenario.ts";
import { meddle } from "../verify/planting.ts";

async function loaded(make: (typeof warehouses)[number]["make"]) {
  const place = await scenario(make, { orders: 6 }, { config: { views: true } });
  await place.sync({ catalogue });
  const [fact] = await place.warehouse.query<{ value: unknown }>(
    "select value from _tributary.warehouse where key = 'company:acme'",
  );
  const { base_url: baseUrl } = (typeof fact!.value === "string" ? JSON.parse(fact!.value) : fact!.value) as {
    base_url: string;
  };
  const { destination } = await configOf(place.simulator, place.warehouse, {});
  const fitness = {
    ...{ catalogue, streams: catalogue, companies: [{ name: "acme", baseUrl, companyId: undefined }] },
    ...{ versioned: new Set<string>(), views: true, workers: false, version: "999.0.0" },
  };
  /** The warnings about tables and views, after somebody's statements. */
  const warned = async (...statements: string[]) => {
    await meddle(place.warehouse, statements);
    const lines = await Array.fromAsync(checkDestination(destination, fitness, place.clock));
    return lines.flatMap(({ name, level, code, fields }) =>
      level !== "ok" && ["destination", "tables", "views"].includes(name) ? [[level, code, fields]] : [],
    );
  };
  return { ...place, warned };
}

test.each(eitherWarehouse)(
  "names tables that have lost all rows of a company until a run loads them: $name",
  async ({ make }) => {
    const { warned, sync } = await loaded(make);
    expect(await warned()).toEqual([]);
    const tables = ["purchase_order_line_items"];
    const lost = await warned("delete from procurement.purchase_order_line_items");
    expect(lost).toEqual([["warn", "check.tables_emptied", { company: "acme", tables }]]);
    await sync({ catalogue });
    expect(await warned()).toEqual([]);
  },
);

test("names views that read a renamed table until a run makes them anew", async () => {
  const { warned, sync, clock } = await loaded(warehouses.find(({ name }) => name === "postgres")!.make);
  expect(await warned()).toEqual([]);
  const fields = { schema: "procurement_analytics", views: expect.arrayContaining(["purchase_orders"]) };
  const moved = await warned("alter table procurement.purchase_orders rename to purchase_orders_before");
  expect(moved).toEqual([["warn", "check.views_read_others", fields]]);
  clock.advance(3_600_000);
  await sync({ catalogue });
  expect(await warned()).toEqual([]);
});
