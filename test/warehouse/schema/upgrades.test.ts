import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { anyJson, count, id, money, notGiven, table, text } from "../../../schemas/fields.ts";
import type { Stream } from "../../../src/catalog/stream.ts";
import { lineOf } from "../../support/run.ts";
import { contents } from "../../support/tables.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { ordersWith } from "../../sync/orders.ts";
import { scenario } from "../../sync/scenario.ts";

const lineShape = { line_no: id().nullable(), amount: money(notGiven).nullable() };
const orderShape = { vendor_name: text().nullable(), comm_count: count().nullable() };
const detailShape = { status: text().nullable() };

/** As a version of tributary knows orders and their details: with so many more columns. */
function version(more: Partial<Record<"order" | "detail" | "line", z.ZodRawShape>>): readonly Stream[] {
  return ordersWith({
    order: { ...orderShape, ...more.order },
    detail: {
      ...detailShape,
      ...more.detail,
      line_items: table("purchase_order_line_items", "Lines.", { ...lineShape, ...more.line }),
    },
  });
}

const old = version({});
const config = { streams: { defaults: { details: { audit: 0 } } } };

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a new version with a column more fills it, fetches no detail again, and no row counts as changed", async () => {
    const place = await scenario(make, { orders: 40 }, { config });
    const { simulator, warehouse, sync, clock } = place;
    await sync({ catalogue: old });
    const before = await contents(warehouse, old);
    clock.advance(3_600_000);
    simulator.requests.clear();
    const young = version({
      order: { vendor_id: id().nullable(), total_amount: money(notGiven).nullable() },
      detail: { buyer_name: text().nullable() },
      line: { description: text().nullable(), schedule: anyJson() },
    });
    const report = await sync({ catalogue: young });
    for (const line of report.streams)
      expect(line).toMatchObject({ status: "succeeded", inserted: 0, updated: 0, deleted: 0 });
    expect(simulator.requests.count("/po/{po_number}")).toBe(0);
    const after = await contents(warehouse, young);
    expect(after.size).toBe(before.size);
    for (const [key, row] of after) {
      const kept = JSON.parse(before.get(key)!);
      const now = JSON.parse(row);
      expect(now._changed_at).toBe(kept._changed_at);
      for (const name of ["vendor_name", "status", "line_no"]) expect(now[name]).toEqual(kept[name]);
    }
    for (const row of simulator.truth.rows("purchase_orders"))
      expect(JSON.parse(after.get(`purchase_orders|${row["po_number"]}`)!).vendor_id).toBe(row["vendor_id"]);
    // From now on hashes are compared again, and a change is one.
    simulator.update("purchase_orders", 3);
    clock.advance(3_600_000);
    const third = await sync({ catalogue: young });
    expect(lineOf(third, "purchase_orders")).toMatchObject({ inserted: 0, updated: 3 });
    expect(lineOf(third, "purchase_order_details").requests).toBe(3);
  });

  test("in the run that takes a new version over, what really changed is an update, in main and child rows", async () => {
    const place = await scenario(make, { orders: 40 }, { config });
    const { simulator, warehouse, sync, clock } = place;
    await sync({ catalogue: old });
    const before = await contents(warehouse, old);
    clock.advance(3_600_000);
    simulator.requests.clear();
    const updated = simulator.update("purchase_orders", 4);
    const young = version({ order: { vendor_id: id().nullable() }, line: { description: text().nullable() } });
    const report = await sync({ catalogue: young });
    expect(lineOf(report, "purchase_orders")).toMatchObject({ inserted: 0, updated: 4, unchanged: 36 });
    expect(simulator.requests.count("/po/{po_number}")).toBe(4);
    const after = await contents(warehouse, young);
    const moved = [...after].filter(
      ([key, row]) => JSON.parse(row)._changed_at !== JSON.parse(before.get(key)!)._changed_at,
    );
    expect(
      new Set(moved.filter(([key]) => key.startsWith("purchase_orders|")).map(([key]) => key.split("|")[1])),
    ).toEqual(new Set(updated));
    for (const [key] of moved) expect(updated).toContain(key.split("|")[1]);
  });
});
