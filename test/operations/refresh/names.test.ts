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

test("a name that no stream has is refused with the nearest one", () => {
  expect(() => named("purchase_order", "1")).toThrow("Did you mean purchase_orders?");
});

test.each([
  ["purchase_*", "several_lists", { names: "purchase_*" }],
  ["purchase_order_details", "not_a_list", { of: "purchase_orders", by: undefined }],
  ["vendor_completeness", "not_a_list", { of: "purchase_orders", by: "vendor_id" }],
  ["findings", "no_details", { lists: expect.arrayContaining(["purchase_orders"]) }],
  ["rfqs", "details_off", { details: expect.arrayContaining(["rfq_details"]) }],
])("%s is refused: %s", (name, code, fields) => {
  const refusal = { code: `refresh.${code}`, fields: expect.objectContaining(fields) };
  expect(() => named(name, "1")).toThrow(expect.objectContaining(refusal));
});

test.each(["", "a\u0000b", "a\nb", "\ud800"])("%j is no key", key => {
  expect(() => named("purchase_orders", "PO-1", key)).toThrow(
    expect.objectContaining({ code: "refresh.unfit_key", fields: { key } }),
  );
});
