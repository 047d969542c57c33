import { describe, expect, test } from "vitest";
import { id, table, text } from "../../../schemas/fields.ts";
import type { Simulator } from "../../../simulator/simulator.ts";
import type { Passing } from "../../support/interposed.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse, type warehouses } from "../../support/warehouse.ts";
import { ordersWith } from "../orders.ts";
import { scenario } from "../scenario.ts";

const config = { streams: { defaults: { details: { audit: 0 } } } };
/** No detail is fetched: the warning comes before that. */
const bounded = { streams: { ...config.streams, settings: { purchase_order_details: { max_details: 0 } } } };
const isDetail = ({ path }: Passing) => /^\/po\/[^/]+$/.test(path);
const isMassChange = (text: string) => text.includes("changed since the last run");

function keysOf(simulator: Simulator, from: number, to: number): string[] {
  const rows = [...simulator.truth.rows("purchase_orders")];
  return rows.slice(from, to).map(row => String(row["po_number"]));
}

function patchAll(simulator: Simulator, keys: readonly string[], fields: Record<string, unknown>): void {
  for (const key of keys) simulator.patch("purchase_orders", key, fields);
}

/** So many orders, loaded once, an hour ago. */
async function loaded(
  make: (typeof warehouses)[number]["make"],
  orders: number,
  settings: Readonly<Record<string, unknown>> = config,
) {
  const place = await scenario(make, { orders }, { config: settings });
  patchAll(place.simulator, keysOf(place.simulator, 0, orders), { next_expected_source: "secret-guess" });
  patchAll(place.simulator, keysOf(place.simulator, 0, 10), { next_expected_source: null });
  expect((await place.sync()).status).toBe("succeeded");
  place.clock.advance(3_600_000);
  place.simulator.requests.clear();
  place.said.length = 0;
  return place;
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("when most known rows changed, the columns that did it are named before a detail is fetched", async () => {
    const place = await loaded(make, 130);
    const { simulator, sync, said } = place;
    // To a value, from one to another, and away from one: NULL is a value like others.
    patchAll(simulator, keysOf(simulator, 0, 40), { next_expected_source: "secret-supplier" });
    patchAll(simulator, keysOf(simulator, 40, 60), { next_expected_source: null });
    patchAll(simulator, keysOf(simulator, 0, 7), { vendor_name: "secret-vendor" });
    // Volatile columns, and rows that are new or back, are no reason.
    patchAll(simulator, keysOf(simulator, 60, 130), { unread_count: 77 });
    simulator.insert("purchase_orders", 5);
    const heard: number[] = [];
    place.look = passing => {
      if (isDetail(passing)) heard.push(said.filter(isMassChange).length);
      return undefined;
    };
    const report = await sync();
    const warning =
      "purchase_orders: 60 of 130 known rows (46 %) changed since the last run, by next_expected_source (60), vendor_name (7): " +
      "their details are fetched again, about 60 requests. If such a field changes by itself, name it under " +
      "streams.settings.purchase_orders.volatile: from then on nothing is fetched for it. " +
      "--max-requests, --max-time or max_details bound a run.";
    const columns = [
      { name: "next_expected_source", rows: 60 },
      { name: "vendor_name", rows: 7 },
    ];
    const stream = "purchase_orders";
    const fields = { stream, changed: 60, live: 130, columns, count: 2, estimated: false, requests: 60 };
    const told = { code: "rows.mass_change", message: warning, fields: { ...fields, streams: [stream] } };
    expect(report.warnings).toEqual([told]);
    expect(lineOf(report, "purchase_orders")).toMatchObject({ status: "warning", inserted: 5, updated: 60 });
    expect(said.filter(isMassChange)).toEqual([warning]);
    expect(heard).toHaveLength(65);
    expect(heard.every(storms => storms === 1)).toBe(true);
    const [run] = await place.warehouse.query<{ warnings: unknown }>(
      `select warnings from _tributary.runs where run_id = '${report.run_id}'`,
    );
    const stored = run!.warnings;
    expect(typeof stored === "string" ? JSON.parse(stored) : stored).toEqual([told]);
    expect(JSON.stringify([said, report.warnings])).not.toContain("secret-");
    // Nothing is left to tell the next day.
    place.clock.advance(86_400_000);
    expect((await sync()).warnings).toEqual([]);
  });

  test("a share of 30 %, or few rows, are a day like others", async () => {
    const large = await loaded(make, 200, bounded);
    large.simulator.update("purchase_orders", 60);
    expect(await large.sync()).toMatchObject({ status: "succeeded", warnings: [] });
    const small = await loaded(make, 60, bounded);
    small.simulator.update("purchase_orders", 49);
    expect(await small.sync()).toMatchObject({ status: "succeeded", warnings: [] });
    small.simulator.update("purchase_orders", 50);
    small.clock.advance(3_600_000);
    expect((await small.sync()).warnings).toMatchObject([
      { code: "rows.mass_change", message: expect.stringContaining("50 of 60 known rows (83 %)") },
    ]);
  });

  test("more than five columns are named by the five that changed most", async () => {
    const { simulator, sync } = await loaded(make, 60, bounded);
    const names = ["vendor_name", "vendor_id", "vendor_website", "match_status", "delivery_site_name"];
    const all = keysOf(simulator, 0, 60);
    patchAll(simulator, all, { next_expected_source: "x" });
    for (const [i, name] of names.entries()) patchAll(simulator, all.slice(0, 55 - i), { [name]: `x${i}` });
    expect((await sync()).warnings[0]?.message).toContain(
      "by next_expected_source (60), vendor_name (55), vendor_id (54), vendor_website (53), match_status (52) and 1 more: their",
    );
  });

  test("rows that come back, columns that became volatile, and details that nobody fetches are no storm", async () => {
    const place = await loaded(make, 80);
    const { simulator, sync, clock, configure } = place;
    const gone = simulator.delete("purchase_orders", 60);
    expect((await sync({ confirmDeletes: true })).exit_code).toBe(0);
    clock.advance(3_600_000);
    simulator.restore("purchase_orders", gone);
    const back = await sync();
    expect(lineOf(back, "purchase_orders").updated).toBe(60);
    expect(back.warnings.filter(({ code }) => code === "rows.mass_change")).toEqual([]);

    clock.advance(3_600_000);
    simulator.requests.clear();
    const volatile = { settings: { purchase_orders: { volatile: ["next_expected_source"] } } };
    configure({ streams: { ...config.streams, ...volatile } });
    expect(await sync()).toMatchObject({ status: "succeeded", warnings: [] });
    expect(simulator.requests.count("/po/{po_number}")).toBe(0);

    clock.advance(3_600_000);
    configure({ streams: { ...config.streams, ...volatile, exclude: ["purchase_order_details"] } });
    simulator.update("purchase_orders", 80);
    expect((await sync({ names: ["purchase_orders"] })).warnings).toEqual([]);
    // Off by the configuration, but this run reads them.
    simulator.update("purchase_orders", 80);
    clock.advance(3_600_000);
    const named = await sync({ names: ["purchase_orders", "purchase_order_details"] });
    expect(named.warnings).toMatchObject([{ code: "rows.mass_change", fields: { changed: 80, live: 80 } }]);
  });

  test("max_details bounds the requests that are announced", async () => {
    const settings = { purchase_order_details: { max_details: 20 } };
    const { simulator, sync } = await loaded(make, 80, { streams: { ...config.streams, settings } });
    simulator.update("purchase_orders", 80);
    expect((await sync()).warnings[0]).toMatchObject({ fields: { changed: 80, live: 80, requests: 20 } });
    expect((await sync()).warnings).toEqual([]);
    simulator.update("purchase_orders", 80);
    expect((await sync()).warnings[0]).toMatchObject({ fields: { requests: 20 } });
    expect(simulator.requests.count("/po/{po_number}")).toBe(60);
  });

  test("of very many rows a part is compared, and what it shows is told as an estimate", async () => {
    const { simulator, sync, clock } = await scenario(make, { orders: 12_000 }, { config: bounded });
    const catalogue = ordersWith({ order: { vendor_name: text(), vendor_id: text() } });
    const all = keysOf(simulator, 0, 12_000);
    patchAll(simulator, all, { vendor_name: "a", vendor_id: "a" });
    await sync({ catalogue });
    clock.advance(3_600_000);
    patchAll(simulator, all, { vendor_name: "b" });
    // Those that come first are not all: a quarter of them, and they stand together.
    patchAll(simulator, all.slice(0, 3_000), { vendor_id: "b" });
    const [warning] = (await sync({ catalogue })).warnings;
    const named =
      /12,000 of 12,000 known rows \(100 %\).*, by vendor_name \(about 12,000\), vendor_id \(about ([\d,]+)\): /;
    const estimate = Number(named.exec(warning?.message ?? "")?.[1]?.replace(",", ""));
    expect(estimate).toBeGreaterThan(2_700);
    expect(estimate).toBeLessThan(3_300);
  });

  test("child tables of a list are named too: columns that differ, and rows that came or went", async () => {
    const place = await scenario(make, { orders: 60 }, { config: bounded });
    const { simulator, sync, clock } = place;
    const parts = table("order_parts", "Parts.", { part: id(), colour: text().nullable() });
    const catalogue = ordersWith({ order: { vendor_name: text().nullable(), parts } });
    const all = keysOf(simulator, 0, 60);
    const two = [
      { part: "a", colour: "red" },
      { part: "b", colour: null },
    ];
    patchAll(simulator, all, { parts: two });
    await sync({ catalogue });
    clock.advance(3_600_000);
    // Both of a row's children differ: it counts once. Some rows lose one, some get one.
    patchAll(simulator, all, { parts: two.map(part => ({ ...part, colour: "blue" })) });
    patchAll(simulator, all.slice(0, 20), { parts: [{ part: "a", colour: "blue" }] });
    patchAll(simulator, all.slice(20, 31), { parts: [...two, { part: "c", colour: "blue" }] });
    patchAll(simulator, all.slice(31, 34), { parts: two.map(({ part }) => ({ part: `${part}'`, colour: "blue" })) });
    const { warnings } = await sync({ catalogue });
    expect(warnings[0]?.message).toContain(
      "by order_parts.colour (49), rows of order_parts (31), order_parts.part (3): their details",
    );
  });
});
