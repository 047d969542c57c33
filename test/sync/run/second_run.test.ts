import { describe, expect, onTestFinished, test } from "vitest";
import { type SimulatorOptions, startSimulator } from "../../../simulator/simulator.ts";
import { stillClock } from "../../support/clock.ts";
import { core as streams } from "../../support/core.ts";
import { bench, lineOf } from "../../support/run.ts";
import { contents, difference } from "../../support/tables.ts";
import { compareWithTruth } from "../../support/truth.ts";
import { eitherWarehouse, type Warehouse } from "../../support/warehouse.ts";

const sizes = { orders: 130, invoices: 51, items: 101, findings: 30, ingested: 60 };
const onlyOrders = { sizes: { orders: 130, invoices: 0, items: 0, findings: 0, ingested: 0 } };

async function begun(make: () => Promise<Warehouse>, options: SimulatorOptions = {}) {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes, now: clock.date, ...options });
  onTestFinished(() => simulator.close());
  const warehouse = await make();
  const { sync, said } = bench({ simulator, warehouse, clock });
  expect(await sync()).toMatchObject({ status: "succeeded" });
  const before = await contents(warehouse, streams);
  simulator.requests.clear();
  clock.advance(3_600_000);
  return { clock, simulator, warehouse, sync, said, before };
}

const orders = streams.filter(stream => stream.name.startsWith("purchase_order"));

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("an unchanged service is read page by page, audited in part, and nothing is written", async () => {
    const { simulator, warehouse, sync, before } = await begun(make);
    const rowState = "select cast(r as varchar) as r from _tributary.rows_purchase_orders r order by po_number";
    const rowStateBefore = await warehouse.query(rowState);
    const report = await sync();
    for (const line of report.streams)
      expect(line).toMatchObject({ status: "succeeded", inserted: 0, updated: 0, deleted: 0, missing: 0, error: null });
    expect(simulator.requests.counts()).toEqual({
      "/auth/company-settings": 1,
      "/po": 2,
      "/reconciliation": 1,
      "/items": 2,
      "/findings": 2,
      "/ingested": 1,
      "/po/{po_number}": Math.ceil(130 * 0.02),
      "/reconciliation/{doc_id}/line-items": Math.ceil(51 * 0.02),
    });
    expect(report.streams.reduce((sum, line) => sum + line.requests, 1)).toBe(simulator.requests.total);
    expect(difference(before, await contents(warehouse, streams))).toEqual([]);
    expect(await warehouse.query(rowState)).toEqual(rowStateBefore);
  });

  test("the audit looks at the details that were fetched longest ago, at each once before one twice", async () => {
    const { clock, simulator, sync } = await begun(make, onlyOrders);
    const asked: string[] = [];
    for (let run = 0; run < 4; run++) {
      simulator.requests.clear();
      await sync({ names: ["purchase_order_details"] });
      clock.advance(86_400_000);
      const details = simulator.requests.entries.filter(entry => entry.template === "/po/{po_number}");
      expect(details).toHaveLength(3);
      asked.push(...details.map(entry => entry.path));
    }
    expect(new Set(asked).size).toBe(12);
  });

  test("100 changed, 5 new and 10 deleted orders are exactly those rows, 105 details beside the audit, and a question for each that is gone", async () => {
    const { clock, simulator, warehouse, sync, before } = await begun(make);
    const gone = simulator.delete("purchase_orders", 10);
    const updated = simulator.update("purchase_orders", 100);
    const inserted = simulator.insert("purchase_orders", 5);
    const report = await sync();
    const now = clock.date();
    expect(lineOf(report, "purchase_orders")).toMatchObject({ inserted: 5, updated: 100, deleted: 10, unchanged: 20 });
    expect(simulator.requests.count("/po/{po_number}")).toBe(105 + Math.ceil(20 * 0.02) + 10 + 1);
    const touched = difference(before, await contents(warehouse, streams)).map(
      key => key.split("|") as [string, string],
    );
    expect(touched.filter(([table]) => !table.startsWith("purchase_order"))).toEqual([]);
    expect(new Set(touched.filter(([table]) => table === "purchase_orders").map(([, key]) => key))).toEqual(
      new Set([...gone, ...updated, ...inserted]),
    );
    expect(new Set(touched.map(([, key]) => key))).toEqual(new Set([...gone, ...updated, ...inserted]));
    for (const table of orders.flatMap(stream => [stream.tables.main, ...stream.tables.children])) {
      const rows = await warehouse.query<Record<string, Date | string | null>>(
        `select po_number, _deleted_at, _changed_at from procurement.${table.name} where _deleted_at is not null`,
      );
      for (const row of rows) {
        expect(gone).toContain(row["po_number"]);
        expect([row["_deleted_at"], row["_changed_at"]]).toEqual([now, now]);
      }
      const [left] = await warehouse.query<{ n: number }>(
        `select count(*) as n from procurement.${table.name} where _deleted_at is null and po_number in (${gone.map(key => `'${key}'`).join()})`,
      );
      expect(Number(left!.n)).toBe(0);
    }
    const seen = await warehouse.query<{ po_number: string; _first_seen_at: Date }>(
      "select po_number, _first_seen_at from procurement.purchase_orders",
    );
    for (const { po_number, _first_seen_at } of seen)
      expect(_first_seen_at.getTime() === now.getTime()).toBe(inserted.includes(po_number));
    expect(await compareWithTruth(simulator, warehouse, orders, "")).toMatchObject({ differences: [] });
  });

  test("a row that comes back is live again with its details, and keeps the day it was first seen", async () => {
    const { clock, simulator, warehouse, sync, before } = await begun(make, onlyOrders);
    const gone = simulator.delete("purchase_orders", 3);
    await sync();
    clock.advance(3_600_000);
    simulator.restore("purchase_orders", gone);
    simulator.requests.clear();
    const report = await sync();
    expect(lineOf(report, "purchase_orders")).toMatchObject({ inserted: 0, updated: 3, deleted: 0 });
    const refetched = simulator.requests.entries.map(entry => entry.path).filter(path => gone.includes(path.slice(4)));
    expect(refetched).toHaveLength(3);
    const now = clock.date().toISOString();
    const after = await contents(warehouse, orders);
    const touched = difference(before, after).filter(key => key.startsWith("purchase_order"));
    expect(new Set(touched.map(key => key.split("|")[1]))).toEqual(new Set(gone));
    for (const key of touched) {
      const back = JSON.parse(after.get(key)!);
      expect(back).toEqual({ ...JSON.parse(before.get(key)!), _changed_at: now });
    }
    expect(await compareWithTruth(simulator, warehouse, orders, "")).toMatchObject({ differences: [] });
  });

  test("a change of a volatile field alone is written, but changes nothing else and fetches nothing", async () => {
    const { simulator, warehouse, sync, before } = await begun(make, onlyOrders);
    const key = String([...simulator.truth.rows("purchase_orders")][7]!["po_number"]);
    simulator.patch("purchase_orders", key, { delivery_days_late: 4711, unread_count: 99, x_new: 1 });
    const report = await sync();
    expect(lineOf(report, "purchase_orders")).toMatchObject({ inserted: 0, updated: 0, unchanged: 130 });
    expect(simulator.requests.count("/po/{po_number}")).toBe(3);
    const after = await contents(warehouse, streams);
    expect(difference(before, after)).toEqual([`purchase_orders|${key}`]);
    expect(JSON.parse(after.get(`purchase_orders|${key}`)!)).toEqual({
      ...JSON.parse(before.get(`purchase_orders|${key}`)!),
      delivery_days_late: "4711.000000000",
      unread_count: 99,
      _extra: { x_new: 1 },
    });
  });
});
