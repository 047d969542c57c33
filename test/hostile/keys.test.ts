import { describe, expect, test } from "vitest";
import { id, text } from "../../schemas/fields.ts";
import { detail } from "../../src/catalog/stream.ts";
import { streamOf } from "../catalog/streams.ts";
import { lineOf } from "../support/run.ts";
import { eitherWarehouse } from "../support/warehouse.ts";
import { outside } from "./outside.ts";
import { hostile } from "./service.ts";
import { listOf } from "./things.ts";

const pairs = streamOf(
  "pairs",
  {
    one: id(),
    two: id(),
    three: id(),
    note: text().nullable(),
  },
  { key: ["one", "two", "three"] },
);
const orders = streamOf("orders", { id: id(), vendor: text().nullable() });
const details = streamOf(
  "order_details",
  { id: id(), total: text().nullable() },
  { path: "/orders/{id}", mode: detail({ of: "orders" }) },
);
const vendors = streamOf(
  "vendors",
  { name: text().nullable() },
  { path: "/vendors/{vendor}", mode: detail({ of: "orders", by: "vendor" }), key: ["vendor"] },
);

/** Characters that no compression makes shorter. */
function ideographs(length: number): string {
  let seed = length;
  const next = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return 0x4e00 + (seed % 20_000);
  };
  return String.fromCharCode(...Array.from({ length }, next));
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a key of several long texts, more than an index takes, is a reject of its own and ends no run", async () => {
    const rows = [
      { one: "a", two: "b", three: "c" },
      { one: ideographs(480), two: ideographs(490), three: ideographs(500) },
      { one: "x".repeat(500), two: "y".repeat(500), three: "z".repeat(500) },
      { one: ideographs(250), two: ideographs(260), three: "c" },
    ];
    const place = await hostile(make, [pairs], { "/pairs": () => JSON.stringify({ data: { pairs: rows } }) });
    const report = await place.run();
    expect(report.errors).toEqual([]);
    const { inserted, rejected } = lineOf(report, "pairs");
    expect([inserted, rejected]).toEqual([3, 1]);
  });

  test("ids and values that no path or index takes cost their own detail, and nothing else", async () => {
    const odd = ["../x", ".", "..", "a/b", "a\\b", "%2e%2e", "?x=1", "#", "a b", "\n", "é", "\u202e", "{id}"];
    const ids = [...odd, ideographs(490)];
    const values = [...odd, ideographs(3_000), "v".repeat(1_000_000), ""];
    const all = [
      ...ids.map(each => ({ id: each, vendor: null })),
      ...values.map((vendor, i) => ({ id: `o${i}`, vendor })),
    ];
    const place = await hostile(make, [orders, details, vendors, listOf("calm")], {
      "/orders": () => JSON.stringify({ data: { orders: all } }),
      "/calm": () => '{"data":{"rows":[{"id":1}]}}',
    });
    place.otherwise = path => {
      const [, kind, segment, more] = path.split("/");
      if (segment === undefined || more !== undefined) return undefined;
      const value = decodeURIComponent(segment);
      return JSON.stringify({ data: kind === "orders" ? { id: value, total: "1" } : { name: value } });
    };
    const report = await place.run();
    expect(report.exit_code).toBe(1);
    expect(lineOf(report, "calm")).toMatchObject({ status: "succeeded", inserted: 1 });
    expect(lineOf(report, "orders")).toMatchObject({ inserted: all.length });
    // What a URL parser would take for a step up, and what is too long for an address.
    const unaskable = [".", ".."];
    const found = await outside(place.warehouse, "select id from procurement.order_details where id not like 'o%'");
    const sold = await outside(place.warehouse, "select vendor from procurement.vendors");
    const names = (rows: readonly Record<string, unknown>[]) => rows.flatMap(row => Object.values(row)).sort();
    expect(names(found)).toEqual(ids.filter(each => !unaskable.includes(each)).sort());
    expect(names(sold)).toEqual(odd.filter(each => !unaskable.includes(each)).sort());
  });
});
