import { expect, test } from "vitest";
import { detailsOfRows } from "../../../src/operations/refresh.ts";
import { streams } from "../../../streams/index.ts";
import { configOf } from "../../daemon/schedule/desk.ts";

const { config } = await configOf({ streams: { preset: "core", include: ["communication_facts"] } });
const named = (list: string, ...keys: string[]) => detailsOfRows(streams, config, { list, keys });

test("a list stands for those of its details that are on", async () => {
  expect(named("purchase_orders", "PO-17")).toEqual(["purchase_order_details"]);
  expect(named("communications", "m 1/ä")).toEqual(["communication_facts"]);
  const all = (await configOf({ streams: { preset: "all" } })).config;
  expect(detailsOfRows(streams, all, { list: "purchase_orders", keys: ["1"] })).toEqual([
    "purchase_order_details",
    "purchase_order_change_orders",
    "purchase_order_blanket_releases",
    "purchase_order_landed_cost",
    "purchase_order_promises",
  ]);
});

test.each([
  ["purchase_order", /there is no stream "purchase_order"\. Did you mean purchase_orders\?/],
  ["purchase_*", /expected the name of one list, got "purchase_\*"\. Name one at a time/],
  ["purchase_order_details", /got purchase_order_details, the details of purchase_orders\. Name purchase_orders/],
  [
    "vendor_completeness",
    /asked for by the values of purchase_orders\.vendor_id .* `tributary sync vendor_completeness`/,
  ],
  ["findings", /expected a list whose rows have details, got findings: .*Those with details are purchase_orders, /],
  ["rfqs", /expected a list with details that are on, got rfqs, of which none is\. Put one of rfq_details into/],
])("%s is refused with what to do", (name, sentence) => {
  expect(() => named(name, "1")).toThrow(sentence);
});

test.each(["", "a\u0000b", "a\nb", "\ud800"])("%j is no key", key => {
  expect(() => named("purchase_orders", "PO-1", key)).toThrow(/expected keys of one or more characters/);
});
