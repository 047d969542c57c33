import { expect, test } from "vitest";
import { checkDestination } from "../../../src/operations/check/destination.ts";
import { configOf } from "../../support/run.ts";
import { eitherWarehouse, warehouses } from "../../support/warehouse.ts";
import { orderCatalogue as catalogue } from "../../sync/orders.ts";
import { scenario } from "../../sync/scenario.ts";
import { meddle } from "../verify/planting.ts";

async function loaded(make: (typeof warehouses)[number]["make"], history = false) {
  const streams = { defaults: { details: { audit: 0 }, history } };
  const place = await scenario(make, { orders: 6 }, { config: { views: !history, streams } });
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
    ...{ versioned: new Set(history ? catalogue.map(({ name }) => name) : []), views: !history },
    ...{ workers: false, version: "999.0.0" },
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

test.each(eitherWarehouse)(
  "names tables with other rows than were stored, and tables that are missing, until a run loads them: $name",
  async ({ make }) => {
    const { warned, sync, clock, count, warehouse } = await loaded(make, true);
    expect(await warned()).toEqual([]);
    const [lines, versions] = ["purchase_order_line_items", "purchase_orders_versions"];
    const all = await count(lines);
    const few = await warned(
      "delete from procurement.purchase_orders where po_number in (select min(po_number) from procurement.purchase_orders)",
      "delete from procurement.purchase_order_line_items where _index > 0",
    );
    const differing = [
      { table: "purchase_orders", rows: 5, known: 6 },
      { table: versions, rows: 6, known: 5 },
      { table: lines, rows: 6, known: all },
      { table: `${lines}_versions`, rows: all, known: 6 },
    ];
    expect(few).toEqual([["warn", "check.rows_differ", { company: "acme", tables: differing }]]);
    clock.advance(3_600_000);
    await sync({ catalogue, full: true });
    expect(await warned()).toEqual([]);
    const cascade = warehouse.name === "postgres" ? " cascade" : "";
    const gone = await warned(...[versions, lines].map(name => `drop table procurement.${name}${cascade}`));
    expect(gone).toEqual([["warn", "check.tables_missing", { tables: [versions, lines] }]]);
    clock.advance(3_600_000);
    await sync({ catalogue });
    expect([await warned(), await count(lines)]).toEqual([[], all]);
  },
);

test("names views that read a renamed table until a run makes them anew", async () => {
  const { warned, sync, clock } = await loaded(warehouses.find(({ name }) => name === "postgres")!.make);
  expect(await warned()).toEqual([]);
  const fields = { schema: "procurement_analytics", views: expect.arrayContaining(["purchase_orders"]) };
  const moved = await warned("alter table procurement.purchase_orders rename to purchase_orders_before");
  expect(moved).toEqual([
    ["warn", "check.tables_missing", { tables: ["purchase_orders"] }],
    ["warn", "check.views_read_others", fields],
  ]);
  clock.advance(3_600_000);
  await sync({ catalogue });
  expect(await warned()).toEqual([]);
});
