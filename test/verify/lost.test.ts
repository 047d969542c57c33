import { expect, test } from "vitest";
import type { VerifyReport } from "../../src/verify/report.ts";
import { refused } from "../support/interposed.ts";
import { warehouses } from "../support/warehouse.ts";
import { scenario } from "../sync/scenario.ts";
import { meddle } from "./planting.ts";

const lineOf = ({ streams }: VerifyReport, name: string) => streams.find(({ stream }) => stream === name);
const gone = (table: string) => ({ table_name: table, key: "every row", column_name: null, kind: "missing_here" });

test.each(warehouses)(
  "$name: a table that was loaded and is gone is a difference, and the rest is compared",
  async ({ make }) => {
    const place = await scenario(make, { items: 30, orders: 12 });
    expect((await place.sync()).exit_code).toBe(0);
    await meddle(place.warehouse, ["drop table procurement.items", "drop table procurement.purchase_order_line_items"]);
    const report = await place.verify();
    expect(report).toMatchObject({ status: "different", exit_code: 1, errors: [] });
    expect(report.differences).toMatchObject([gone("items"), gone("purchase_order_line_items")]);
    expect(lineOf(report, "items")).toMatchObject({
      status: "different",
      rows_checked: 0,
      differences: 1,
      requests: 0,
    });
    expect(lineOf(report, "purchase_order_details")).toMatchObject({ status: "different", differences: 1 });
    expect(lineOf(report, "purchase_orders")).toMatchObject({ status: "equal", rows_checked: 12 });
  },
);

test.each(warehouses)(
  "$name: details whose list's table is gone cannot be chosen: they are told as incomplete",
  async ({ make }) => {
    const place = await scenario(make, { orders: 12 });
    expect((await place.sync()).exit_code).toBe(0);
    await meddle(place.warehouse, ["drop table procurement.purchase_orders cascade"]);
    const report = await place.verify();
    expect(report).toMatchObject({ status: "different", exit_code: 1, differences: [gone("purchase_orders")] });
    expect(lineOf(report, "purchase_order_details")).toMatchObject({
      status: "incomplete",
      error: expect.stringContaining("purchase_orders, and that table is gone"),
    });
  },
);

test("a loaded stream that may no longer be read is not called equal", async () => {
  const place = await scenario(warehouses[0]!.make, { items: 30, orders: 12 });
  expect((await place.sync()).exit_code).toBe(0);
  place.look = ({ path }) => (path === "/items" ? refused(403, "FORBIDDEN") : undefined);
  const report = await place.verify();
  expect(report).toMatchObject({ status: "incomplete", exit_code: 1, errors: [expect.stringContaining("/items")] });
  expect(lineOf(report, "items")).toMatchObject({ status: "incomplete", rows_checked: 0 });
  expect(lineOf(report, "purchase_orders")).toMatchObject({ status: "equal" });
});
