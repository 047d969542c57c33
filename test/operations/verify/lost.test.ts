import { expect, test } from "vitest";
import { id, record } from "../../../schemas/fields.ts";
import { defineStream, lookup } from "../../../src/catalog/stream.ts";
import type { VerifyReport } from "../../../src/operations/verify/report.ts";
import { streams } from "../../../streams/index.ts";
import { forget } from "../../support/forgetting.ts";
import { refused } from "../../support/interposed.ts";
import { eitherWarehouse, warehouses } from "../../support/warehouse.ts";
import { told } from "../../sync/answers.ts";
import { scenario } from "../../sync/scenario.ts";
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

test.each(eitherWarehouse)(
  "$name: tables of a stream that is on and was dropped are differences; of one that is off nothing is told",
  async ({ make }) => {
    const place = await scenario(make, { items: 5, orders: 3 });
    expect((await place.sync()).exit_code).toBe(0);
    await forget(place, streams, ["purchase_orders"], { drop: true });
    const report = await place.verify({ names: ["items", "purchase_order*", "contracts"] });
    expect(report).toMatchObject({ status: "different", exit_code: 1, errors: [] });
    expect(report.differences).toContainEqual(expect.objectContaining(gone("purchase_orders")));
    expect(report.differences).toContainEqual(expect.objectContaining(gone("purchase_order_line_items")));
    expect(lineOf(report, "items")).toMatchObject({ status: "equal", rows_checked: 5 });
    expect(lineOf(report, "contracts")).toMatchObject({ status: "skipped", differences: 0 });
  },
);

test.each(eitherWarehouse)(
  "$name: details whose list's table is gone cannot be chosen: they are told as incomplete",
  async ({ make }) => {
    const place = await scenario(make, { orders: 12 });
    expect((await place.sync()).exit_code).toBe(0);
    await meddle(place.warehouse, ["drop table procurement.purchase_orders cascade"]);
    const report = await place.verify();
    expect(report).toMatchObject({ status: "different", exit_code: 1, differences: [gone("purchase_orders")] });
    expect(lineOf(report, "purchase_order_details")).toMatchObject({
      status: "incomplete",
      ...{ error: expect.stringContaining("purchase_orders, and"), code: "verify.parents_gone" },
    });
  },
);

test("a loaded stream that may no longer be read is not called equal", async () => {
  const place = await scenario(warehouses[0]!.make, { items: 30, orders: 12 });
  expect((await place.sync()).exit_code).toBe(0);
  place.look = ({ path }) => (path === "/items" ? refused(403, "FORBIDDEN") : undefined);
  const report = await place.verify();
  expect(report).toMatchObject({
    status: "incomplete",
    exit_code: 1,
    errors: [{ message: expect.stringContaining("/items") }],
  });
  expect(lineOf(report, "items")).toMatchObject({ status: "incomplete", rows_checked: 0 });
  expect(lineOf(report, "purchase_orders")).toMatchObject({ status: "equal" });
});

test("a lookup of which a question is not answered is not called equal", async () => {
  const mode = lookup({ rows: "orders" });
  const row = record("Orders.", { po: id().describe("Which.") });
  const asOf = defineStream({ name: "as_of", path: "/{vendor}", mode, row, key: ["vendor", "po"], preset: "lookup" });
  const settings = { as_of: { parameters: { vendor: ["A", "B"] } } };
  const says = { "/A": () => ({ orders: [{ po: "1" }] }), "/B": (): unknown => ({ orders: [{ po: "2" }] }) };
  const place = await told(warehouses[0]!.make, [asOf], says, { streams: { settings } });
  expect((await place.run()).exit_code).toBe(0);
  const catalogue = [asOf];
  expect(await place.verify({ catalogue })).toMatchObject({ status: "equal", streams: [{ rows_equal: 2 }] });
  says["/B"] = () => refused(400, "BAD");
  const report = await place.verify({ catalogue });
  const code = "verify.questions_unanswered";
  expect(report).toMatchObject({ status: "incomplete", exit_code: 1, streams: [{ rows_equal: 1, code }] });
  const counts = { stream: "as_of", unanswered: 1, questions: 2, reason: expect.stringContaining("B") };
  expect(report.errors).toMatchObject([{ code, fields: counts }]);
});
