import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { count, id, quantity, table, text } from "../../../schemas/fields.ts";
import { checkDestination } from "../../../src/operations/check/destination.ts";
import { meddle } from "../../operations/verify/planting.ts";
import { configOf, lineOf } from "../../support/run.ts";
import { warehouses } from "../../support/warehouse.ts";
import { ordersWith } from "../../sync/orders.ts";
import { scenario } from "../../sync/scenario.ts";

const lines = { line_no: id().nullable(), quantity: quantity().nullable(), description: text().nullable() };

/** As a version of tributary knows orders. */
const version = (order: z.ZodRawShape = {}) =>
  ordersWith({
    order: { comm_count: count().nullable(), ...order },
    detail: { line_items: table("purchase_order_line_items", "Lines.", lines) },
  });

describe.each(warehouses)("$name", ({ make, name }) => {
  test("columns that somebody added to a table of versions keep their values when versions end and begin", async () => {
    const config = { streams: { defaults: { history: true } } };
    const place = await scenario(make, { orders: 12 }, { config });
    const { sync, simulator, clock, count } = place;
    const night = async () => {
      clock.advance(86_400_000);
      expect(await sync({ catalogue: version(), confirmDeletes: true })).toMatchObject({ exit_code: 0 });
    };
    await night();
    const versions = "purchase_orders_versions";
    await meddle(place.warehouse, [
      `alter table procurement.${versions} add column remark varchar`,
      `update procurement.${versions} set remark = po_number`,
    ]);
    simulator.update("purchase_orders", 5);
    simulator.delete("purchase_orders", 1);
    for (const nth of [1, 2]) {
      await night();
      const ended = nth === 1 ? 6 : 9;
      expect([await count(versions, "remark = po_number"), await count(versions, "not _is_current")]).toEqual([
        12,
        ended,
      ]);
      simulator.update("purchase_orders", 3);
    }
    expect(await count("procurement.purchase_orders_as_of(current_timestamp)")).toBe(11);
  });

  test("columns that somebody added keep their values when rows and lines change, leave and return", async () => {
    const place = await scenario(make, { orders: 12 });
    const { sync, simulator, clock } = place;
    await sync({ catalogue: version({ vendor_name: text().nullable() }) });
    const all = await place.count("purchase_order_line_items");
    const line = "po_number || '/' || _index";
    const table = (name: string, column: string) => `alter table procurement.${name} add column ${column}`;
    await meddle(place.warehouse, [
      table("purchase_orders", "remark varchar"),
      "update procurement.purchase_orders set remark = po_number",
      table("purchase_order_line_items", "remark varchar"),
      `update procurement.purchase_order_line_items set remark = ${line}`,
    ]);
    if (name === "postgres")
      await meddle(place.warehouse, [
        table("purchase_orders", "twice bigint generated always as (2 * comm_count) stored"),
      ]);
    const fitness = {
      streams: version(),
      companies: [],
      versioned: new Set<string>(),
      views: false,
      workers: false,
      catalogue: [],
    };
    const checked = checkDestination(
      (await configOf(simulator, place.warehouse, {})).destination,
      { ...fitness, version: "999.0.0" },
      clock,
    );
    const columns =
      name === "postgres" ? ["purchase_orders.remark", "purchase_orders.twice"] : ["purchase_orders.remark"];
    expect((await Array.fromAsync(checked)).find(({ name }) => name === "columns")).toMatchObject({
      code: "check.columns_of_others",
      fields: { columns: [...columns, "purchase_order_line_items.remark"] },
    });
    const left = simulator.delete("purchase_orders", 1);
    const night = async () => {
      clock.advance(86_400_000);
      const report = await sync({ catalogue: version(), confirmDeletes: true });
      expect(report).toMatchObject({ exit_code: 0 });
      expect(await place.count("purchase_orders", "remark = po_number")).toBe(12);
      expect(await place.count("purchase_order_line_items", `remark = ${line}`)).toBe(all);
      return report;
    };
    await night();
    const changed = simulator.update("purchase_orders", 5);
    simulator.restore("purchase_orders", left);
    const report = await night();
    expect(lineOf(report, "purchase_orders")).toMatchObject({ inserted: 0, updated: 6 });
    expect(
      await place.count(
        "purchase_order_line_items",
        "_changed_at > (select min(_changed_at) from procurement.purchase_order_line_items) and _deleted_at is null",
      ),
    ).toBeGreaterThan(0);
    // Tributary made the column and no longer writes it: its former values would be wrong.
    const those = [...changed, ...left].map(key => `'${key}'`).join();
    expect(
      await place.count("purchase_orders", `po_number in (${those}) and vendor_name is null and _deleted_at is null`),
    ).toBe(6);
  });
});
