import { expect, test } from "vitest";
import { id, record, text } from "../../../schemas/fields.ts";
import { defineStream, detail, list, lookup } from "../../../src/catalog/stream.ts";
import { duckdbWarehouse, passing } from "../../support/warehouse.ts";
import { told } from "../../sync/answers.ts";
import { forbidden } from "../../sync/vendors.ts";

const orders = defineStream({
  name: "orders",
  path: "/orders",
  mode: list({ rows: "orders" }),
  row: record("An order.", { id: id().describe("Its id."), vendor: id().nullable().describe("Who sells.") }),
  key: ["id"],
  preset: "core",
});
const name = record("Its name.", { name: text().nullable().describe("Its name.") });
const orderNames = defineStream({
  name: "order_names",
  path: "/orders/{id}",
  mode: detail({ of: "orders" }),
  row: name,
  key: ["id"],
  preset: "core",
});
const vendors = defineStream({
  name: "vendors",
  path: "/vendors/{vendor}",
  mode: detail({ of: "orders", by: "vendor", everyDays: 7 }),
  row: name,
  key: ["vendor"],
  preset: "core",
});
const asOf = defineStream({
  name: "vendors_as_of",
  path: "/vendors/{vendor}/then",
  mode: lookup({ ask: ["at"], from: { vendor: ["orders.vendor"] } }),
  row: name,
  key: ["vendor", "at_"],
  preset: "lookup",
});
const things = defineStream({ ...asOf, name: "things", path: "/things/{id}", mode: lookup(), key: ["id"] });

test("a list is one request, values and lookups as many as there are values", async () => {
  const place = await told(
    () => passing(duckdbWarehouse()),
    [orders, orderNames, vendors, asOf, things],
    {
      "/orders": () => ({ orders: ["A", "B", "A", null].map((vendor, index) => ({ id: index, vendor })) }),
      "/vendors/A/then": () => ({ name: "a" }),
    },
    {
      streams: {
        settings: {
          vendors_as_of: { parameters: { at: ["2026-01-01", "2026-02-01"] } },
          things: { values: [{ id: 1 }, { id: 2 }, { id: 3 }] },
        },
      },
    },
  );
  const catalogue = [orders, orderNames, vendors, asOf, things];
  const guess = async () =>
    (await place.estimate({ catalogue })).streams.map(({ stream, requests, at_least }) => [stream, requests, at_least]);
  expect(await guess()).toEqual([
    ["orders", 1, false],
    ["order_names", 4, false],
    ["vendors", 2, false],
    ["vendors_as_of", 0, true],
    ["things", 3, false],
  ]);
  expect(place.asked).toEqual(["/orders"]);
  await place.run({ names: ["orders"] });
  expect((await guess()).slice(3)).toEqual([
    ["vendors_as_of", 4, true],
    ["things", 3, false],
  ]);
});

test("what the key may not read is a line of the estimate, as it is a warning of the run, and no end of it", async () => {
  const bills = defineStream({ ...orders, name: "bills", path: "/bills", mode: list({ rows: "bills" }) });
  const catalogue = [orders, orderNames, bills];
  const answers = { "/orders": () => forbidden, "/bills": () => ({ bills: [{ id: 1 }] }) };
  const place = await told(() => passing(duckdbWarehouse()), catalogue, answers);
  const estimate = await place.estimate({ catalogue });
  expect(estimate.streams).toMatchObject([
    { stream: "orders", requests: 1, at_least: false, why: expect.stringMatching(/key may not read it/) },
    { stream: "order_names", requests: 0, at_least: true },
    { stream: "bills", requests: 1, at_least: false },
  ]);
  expect(await place.run()).toMatchObject({ exit_code: 0, status: "warning" });
});
