import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { count, id, table, text, volatile } from "../../../schemas/fields.ts";
import type { Stream } from "../../../src/catalog/stream.ts";
import { meddle } from "../../operations/verify/planting.ts";
import { lineOf } from "../../support/run.ts";
import { contents } from "../../support/tables.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { ordersWith } from "../../sync/orders.ts";
import { scenario } from "../../sync/scenario.ts";

/** As a version of tributary knows orders and their details; a later one knows more of either. */
function version(more: { order?: z.ZodRawShape; detail?: z.ZodRawShape } = {}): readonly Stream[] {
  const lines = { line_no: id().nullable(), description: text().nullable() };
  return ordersWith({
    order: { vendor_name: text().nullable(), comm_count: volatile(count()).nullable(), ...more.order },
    detail: {
      status: text().nullable(),
      ...more.detail,
      line_items: table("purchase_order_line_items", "Lines.", lines),
    },
  });
}

const catalogue = version();

const config = (history = false) => ({ streams: { defaults: { details: { audit: 0 }, history } } });

describe.each(eitherWarehouse)("$name", ({ make }) => {
  async function loaded(history = false) {
    const place = await scenario(make, { orders: 12 }, { config: config(history) });
    await place.sync({ catalogue });
    /** A run an hour later, by the requests for details that it sent and what it said of columns. */
    const night = async (version = catalogue) => {
      place.clock.advance(3_600_000);
      place.simulator.requests.clear();
      const report = await place.sync({ catalogue: version });
      expect(report.exit_code).toBe(0);
      return { report, details: place.simulator.requests.count("/po/{po_number}") };
    };
    /** What the tables say, whenever that came. */
    const values = async () =>
      [...(await contents(place.warehouse, catalogue))]
        .map(([key, row]) => [key, { ...JSON.parse(row), _changed_at: "" }] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1));
    return { ...place, night, values };
  }

  test("what a column of a list held that somebody dropped or renamed is there again after the next full scan", async () => {
    const place = await loaded();
    const before = await place.values();
    await meddle(place.warehouse, [
      "alter table procurement.purchase_orders drop column comm_count",
      "alter table procurement.purchase_orders rename column vendor_name to vendor",
    ]);
    const { report, details } = await place.night();
    expect(details).toBe(0);
    expect(lineOf(report, "purchase_orders")).toMatchObject({ inserted: 0, updated: 12, deleted: 0 });
    expect(report.warnings).toEqual([]);
    expect(place.said.join("\n")).toContain(
      "somebody had dropped, renamed or retyped purchase_orders.vendor_name, comm_count",
    );
    await meddle(place.warehouse, ["alter table procurement.purchase_orders drop column vendor"]);
    expect(await place.values()).toEqual(before);
    const next = await place.night();
    expect(lineOf(next.report, "purchase_orders")).toMatchObject({ updated: 0, unchanged: 12 });
  });

  test("details of which somebody dropped a column, or one of their child rows, are fetched again, once", async () => {
    const place = await loaded();
    const before = await place.values();
    for (const column of [
      "purchase_order_details drop column status",
      "purchase_order_line_items drop column description",
    ]) {
      await meddle(place.warehouse, [`alter table procurement.${column}`]);
      const { report, details } = await place.night();
      expect(details).toBe(12);
      expect(lineOf(report, "purchase_order_details")).toMatchObject({ inserted: 0, deleted: 0 });
      expect(await place.values()).toEqual(before);
      expect((await place.night()).details).toBe(0);
    }
  });

  test("a column that a version brings is no lost one: nothing is fetched for it, also where all of its rows are loaded anew", async () => {
    const place = await loaded();
    const young = version({
      order: { vendor_id: id().nullable() },
      detail: { buyer_name: text().nullable(), days_open: volatile(count()).nullable() },
    });
    const { report, details } = await place.night(young);
    expect(details).toBe(0);
    expect(lineOf(report, "purchase_orders")).toMatchObject({ updated: 0, unchanged: 12 });
    await meddle(place.warehouse, ["alter table procurement.purchase_order_details drop column days_open"]);
    expect((await place.night(young)).details).toBe(12);
  });

  test("versions of which somebody dropped a column say again what the present rows say", async () => {
    const place = await loaded(true);
    await meddle(place.warehouse, ["alter table procurement.purchase_orders_versions drop column vendor_name"]);
    const { report, details } = await place.night();
    expect(details).toBe(0);
    expect(lineOf(report, "purchase_orders")).toMatchObject({ updated: 0 });
    const differing = await place.warehouse.query(`select t.po_number from procurement.purchase_orders t
      left join procurement.purchase_orders_versions v on v._company = t._company and v.po_number = t.po_number and v._is_current
      where v.vendor_name is distinct from t.vendor_name`);
    expect(differing).toEqual([]);
  });
});
