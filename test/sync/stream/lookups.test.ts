import { describe, expect, inject, test } from "vitest";
import { count, id, text, whole } from "../../../schemas/fields.ts";
import { defineStream, detail, list, lookup, type Stream } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { forget } from "../../support/forgetting.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse, passing, postgresWarehouse } from "../../support/warehouse.ts";
import { instead, type Say, told } from "../answers.ts";

const orders = streamOf("orders", { id: id(), vendor: id().nullable() });
const asOf = streamOf(
  "orders_as_of",
  { left: count() },
  {
    path: "/vendors/{vendorId}/orders",
    mode: lookup({ ask: ["at"], from: { vendor_id: ["orders.vendor"] }, rows: "orders" }),
    key: ["vendor_id", "at_", "_index"],
    preset: "lookup",
  },
);
const entity = streamOf(
  "entity",
  { label: text().nullable() },
  { path: "/entities/{type}/{id}", mode: lookup(), key: ["type", "id"], preset: "lookup" },
);
const search = streamOf(
  "search",
  { data: whole() },
  { mode: lookup({ passes: true }), key: ["asked_with"], preset: "lookup" },
);
const DAY_MS = 86_400_000;
const settings = (own: object) => ({ streams: { settings: own } });
const catalogue: readonly Stream[] = [orders, asOf, entity, search];

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("every set of values is asked for once, and what none brings any more is gone", async () => {
    const says = {
      "/entities/vendor/V%201": () => ({ label: "one", type: "x" }),
      "/entities/vendor/V2": () => ({ label: "two" }),
      "/entities/site/9": () => ({ label: "nine" }),
    };
    const values = [
      { type: "vendor", id: "V 1" },
      { type: "vendor", id: "V2" },
      { type: "vendor", id: "V 1" },
      { type: "site", id: 9 },
    ];
    const place = await told(make, [entity], says, settings({ entity: { values } }));
    // A warning: one answer has a field that nobody documented, called like what was asked for.
    expect(lineOf(await place.run(), "entity")).toMatchObject({ status: "warning", inserted: 3, requests: 3 });
    expect(place.asked).toEqual(["/entities/vendor/V%201", "/entities/vendor/V2", "/entities/site/9"]);
    expect(await place.warehouse.query("select type, id, label from procurement.entity order by id")).toMatchObject([
      { type: "site", id: "9", label: "nine" },
      { type: "vendor", id: "V 1", label: "one" },
      { type: "vendor", id: "V2", label: "two" },
    ]);
    expect(lineOf(await place.run(), "entity")).toMatchObject({ inserted: 0, updated: 0, unchanged: 3, deleted: 0 });

    place.configure(settings({ entity: { values: values.slice(0, 2) } }));
    expect(lineOf(await place.run(), "entity")).toMatchObject({ missing: 1, deleted: 0 });
    place.clock.advance(3_600_000);
    expect(lineOf(await place.run(), "entity")).toMatchObject({ deleted: 1 });
  });

  test("what the service does not know is no error, and its rows are gone", async () => {
    const values = [1, 2, 3].map(number => ({ type: "v", id: number }));
    const says = Object.fromEntries(values.map(({ id }) => [`/entities/v/${id}`, () => ({ label: `${id}` })]));
    const place = await told(make, [entity], says, settings({ entity: { values } }));
    await place.run();
    place.says["/entities/v/2"] = () => undefined;
    expect(lineOf(await place.run(), "entity")).toMatchObject({ status: "succeeded", deleted: 1, unchanged: 2 });
    for (const { id } of values) place.says[`/entities/v/${id}`] = () => undefined;
    expect(lineOf(await place.run(), "entity")).toMatchObject({ status: "succeeded", deleted: 2 });
    place.says["/entities/v/1"] = () => ({ label: "1" });
    await place.run();
    expect(await place.count("entity", "_deleted_at is null")).toBe(1);
  });

  test("a question that cannot be answered fails the stream, the others are published and nothing is deleted", async () => {
    const values = [1, 2, 3].map(number => ({ type: "v", id: number }));
    const says = Object.fromEntries(values.map(({ id }) => [`/entities/v/${id}`, () => ({ label: `${id}` })]));
    const place = await told(make, [entity], says, settings({ entity: { values } }));
    await place.run();
    place.says["/entities/v/1"] = () => instead(422, { error: { code: "BAD", message: "no", request_id: "r" } });
    place.says["/entities/v/2"] = () => undefined;
    place.says["/entities/v/3"] = () => ({ label: "new" });
    const line = lineOf(await place.run(), "entity");
    expect(line).toMatchObject({ status: "failed", updated: 1, deleted: 0 });
    expect(line.error).toMatch(/1 of 3 questions.*\/entities\/v\/1/);
    place.says["/entities/v/1"] = () => ({ label: "1" });
    expect(lineOf(await place.run(), "entity")).toMatchObject({ status: "succeeded", deleted: 1 });
  });

  test("a question that this key may not read keeps no other from being read; only when none is answered the lookup is not available", async () => {
    const values = Array.from({ length: 30 }, (_, number) => ({ type: "v", id: number }));
    const refused = () => instead(403, { error: { code: "FORBIDDEN", message: "no", request_id: "r" } });
    const says: Record<string, Say> = Object.fromEntries(
      values.map(({ id }) => [`/entities/v/${id}`, () => ({ label: `${id}` })]),
    );
    for (const place of ["/entities/v/0", "/entities/v/17"]) says[place] = refused;
    const place = await told(make, [entity], says, settings({ entity: { values } }));
    const line = lineOf(await place.run(), "entity");
    expect(line).toMatchObject({ status: "failed", inserted: 28, requests: 30 });
    expect(line.error).toMatch(/2 of 30 questions/);
    for (const { id } of values) place.says[`/entities/v/${id}`] = refused;
    expect(await place.run()).toMatchObject({ status: "warning", exit_code: 0 });
    expect(await place.count("entity", "_deleted_at is null")).toBe(28);
  });

  test("values of a loaded column, with a list of dates under the service's own name", async () => {
    const own = { orders_as_of: { parameters: { at: ["2026-01-01", "2026-02-01"] }, rename: { at: "as_of" } } };
    const vendors = (...ids: (string | null)[]) => ids.map((vendor, index) => ({ id: index, vendor }));
    const place = await told(
      make,
      catalogue,
      {
        "/orders": () => ({ orders: vendors("V1", null, "V2", "V1", "..") }),
        "/vendors/V1/orders": ({ query }) => ({
          orders: [{ left: 1 }, { left: query.get("as_of") === "2026-01-01" ? 2 : 3 }],
        }),
        "/vendors/V2/orders": () => ({ orders: [] }),
      },
      settings(own),
    );
    await place.run({ names: ["orders"] });
    const line = lineOf(await place.run({ names: ["orders_as_of"] }), "orders_as_of");
    expect(line).toMatchObject({ status: "warning", inserted: 4, requests: 4 });
    expect(place.asked).toEqual(
      ["V1", "V2"].flatMap(id => ["2026-01-01", "2026-02-01"].map(at => `/vendors/${id}/orders?as_of=${at}`)),
    );
    expect(
      await place.warehouse.query("select vendor_id, at_, _index, left_ from procurement.orders_as_of order by 2, 3"),
    ).toMatchObject([
      { vendor_id: "V1", at_: "2026-01-01", _index: 0, left_: 1 },
      { vendor_id: "V1", at_: "2026-01-01", _index: 1, left_: 2 },
      { vendor_id: "V1", at_: "2026-02-01", _index: 0, left_: 1 },
      { vendor_id: "V1", at_: "2026-02-01", _index: 1, left_: 3 },
    ]);
  });

  test("without a value yet nothing is asked, and nothing taken for gone", async () => {
    const place = await told(
      make,
      catalogue,
      { "/orders": () => ({ orders: [] }) },
      settings({ orders_as_of: { parameters: { at: ["2026"] } } }),
    );
    expect(lineOf(await place.run({ names: ["orders_as_of"] }), "orders_as_of")).toMatchObject({
      status: "succeeded",
      requests: 0,
    });
  });

  test("a source that names nothing deletes nothing before it was read whole", async () => {
    const bills = defineStream({ ...orders, name: "bills", path: "/bills", mode: list({ rows: "bills" }) });
    const from = { from: { vendor_id: ["orders.vendor", "bills.vendor"] } };
    const streams = [orders, bills, asOf];
    const left = (n: number) => () => ({ orders: [{ left: n }] });
    const says: Record<string, Say> = {
      "/orders": () => ({ orders: [{ id: "1", vendor: "V1" }] }),
      "/bills": () => ({ bills: [{ id: "1", vendor: "V2" }] }),
      "/vendors/V1/orders": left(1),
      "/vendors/V2/orders": left(2),
    };
    const config = settings({ orders_as_of: { ...from, parameters: { at: ["2026-03-01"] } } });
    const place = await told(make, streams, says, config);
    const night = async () => {
      place.clock.advance(DAY_MS);
      return lineOf(await place.run({ names: ["orders", "bills", "orders_as_of"] }), "orders_as_of");
    };
    expect(await night()).toMatchObject({ inserted: 2 });
    await forget(place, streams, ["bills"], { drop: true });
    const readable = place.says["/bills"]!;
    place.says["/bills"] = () => instead(403, { error: { code: "FORBIDDEN", message: "not today", request_id: "r" } });
    for (let nth = 0; nth < 3; nth++)
      expect(await night()).toMatchObject({ status: "succeeded", requests: 1, deleted: 0 });
    Object.assign(place.says, { "/bills": readable, "/orders": () => ({ orders: [{ id: "1", vendor: "V2" }] }) });
    // The lookup tells no total: what it misses once is not gone yet.
    expect([await night(), await night()]).toMatchObject([{ deleted: 0 }, { deleted: 1 }]);
  });

  test.each(["reset", "dropped by hand"])(
    "a source that names nothing deletes nothing before the details that name it were all fetched (%s)",
    async how => {
      const facts = streamOf(
        "order_facts",
        { id: id(), site: id().nullable() },
        { path: "/orders/{id}", mode: detail({ of: "orders" }) },
      );
      const numbers = [1, 2, 3, 4];
      const says: Record<string, Say> = { "/orders": () => ({ orders: numbers.map(each => ({ id: `${each}` })) }) };
      for (const each of numbers) {
        says[`/orders/${each}`] = () => ({ id: `${each}`, site: `S${each}` });
        says[`/entities/site/S${each}`] = () => ({ label: `${each}` });
      }
      const own = (most: number) =>
        settings({
          order_facts: { max_details: most },
          entity: { parameters: { type: ["site"] }, from: { id: ["order_facts.site"] } },
        });
      const streams = [orders, facts, entity];
      const inPostgres = () => passing(postgresWarehouse(inject("postgresUrl")));
      const place = await told(how === "reset" ? make : inPostgres, streams, says, own(9));
      const night = async () => {
        place.clock.advance(DAY_MS);
        return lineOf(await place.run(), "entity");
      };
      expect(await night()).toMatchObject({ inserted: 4 });
      if (how === "reset") await forget(place, streams, ["order_facts"], { drop: true });
      else await place.warehouse.query("drop table procurement.order_facts cascade");
      place.configure(own(1));
      for (const requests of [1, 2, 3]) expect(await night()).toMatchObject({ requests, deleted: 0 });
      numbers.pop();
      for (let nth = 0; nth < 4; nth++) await night();
      expect(await place.count("entity", "_deleted_at is null")).toBe(3);
    },
  );

  test("a source that is off is told, with the key to set", async () => {
    const own = { preset: "core", exclude: ["orders"], settings: { orders_as_of: { parameters: { at: ["2026"] } } } };
    const place = await told(make, catalogue, {}, { streams: own });
    const report = await place.run();
    expect(lineOf(report, "orders_as_of")).toMatchObject({ status: "warning", requests: 0 });
    expect(report.warnings).toMatchObject([{ code: "lookup.sources_off", fields: { tables: ["orders"] } }]);
  });

  test("parameters that no document names are passed through, and name the row in order", async () => {
    const own = { search: { values: [{ q: "steel bars", limit: 5 }, { q: "x" }], parameters: { area: ["a", "b"] } } };
    const place = await told(make, [search], { "/search": ({ query }) => [...query.values()] }, settings(own));
    expect(lineOf(await place.run(), "search")).toMatchObject({ status: "succeeded", inserted: 4 });
    expect(place.asked[0]).toBe("/search?area=a&limit=5&q=steel+bars");
    const rows = await place.warehouse.query(
      "select asked_with, cast(data as varchar) as data from procurement.search order by 1",
    );
    expect(rows.map(row => [row["asked_with"], JSON.parse(String(row["data"]))])).toEqual([
      ["area=a&limit=5&q=steel bars", ["a", "5", "steel bars"]],
      ["area=a&q=x", ["a", "x"]],
      ["area=b&limit=5&q=steel bars", ["b", "5", "steel bars"]],
      ["area=b&q=x", ["b", "x"]],
    ]);
  });
});
