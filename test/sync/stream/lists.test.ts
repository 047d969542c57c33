import { describe, expect, test } from "vitest";
import { count, id, record, text, whole } from "../../../schemas/fields.ts";
import { defineStream, list, scan } from "../../../src/catalog/stream.ts";
import { totalIn } from "../../../src/sync/extract/listing.ts";
import { reasons } from "../../../src/sync/load/row_count_proof.ts";
import { streamOf } from "../../catalog/streams.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { instead, page, told } from "../answers.ts";

const thing = record("A thing.", { id: id().describe("Its id."), name: text().nullable().describe("Its name.") });
const things = (more: object = {}) =>
  defineStream({
    name: "things",
    path: "/things",
    mode: list({ rows: "things", ...more }),
    row: thing,
    key: ["id"],
    preset: "core",
  });
const some = (...ids: number[]) => ids.map(number => ({ id: number, name: `thing ${number}` }));

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a list is one request without a limit or a cursor, and rows that it lacks are gone", async () => {
    const place = await told(make, [things()], { "/things": () => ({ things: some(1, 2, 3) }) });
    expect(lineOf(await place.run(), "things")).toMatchObject({ status: "succeeded", inserted: 3, requests: 1 });
    expect(place.asked).toEqual(["/things"]);
    place.says["/things"] = () => ({ things: some(1, 3, 4) });
    expect(lineOf(await place.run(), "things")).toMatchObject({ inserted: 1, deleted: 1, missing: 0, unchanged: 2 });
    expect(lineOf(await place.run(), "things")).toMatchObject({ inserted: 0, updated: 0, deleted: 0, unchanged: 3 });
    expect(await place.count("things", "_deleted_at is null")).toBe(3);
  });

  test("as many rows as were asked for at most are not known to be all: none is missing", async () => {
    const place = await told(make, [things({ limit: 3 })], { "/things": () => ({ things: some(1, 2, 3) }) });
    await place.run();
    expect(place.asked).toEqual(["/things?limit=3"]);
    place.says["/things"] = () => ({ things: some(2, 3, 4) });
    for (let i = 0; i < 3; i++) expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 0 });
    expect(await place.count("things", "_deleted_at is null")).toBe(4);
    place.says["/things"] = () => ({ things: some(2, 4) });
    expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 2 });
  });

  test("how many rows the service has is not known when a list is as long as its limit", async () => {
    const place = await told(make, [things({ limit: 3, absence: "kept" })], {
      "/things": () => ({ things: some(1, 2, 3) }),
    });
    const unknown = { service_rows: null, difference: null, difference_reason: reasons.capped };
    expect(lineOf(await place.run(), "things")).toMatchObject({ ...unknown, table_rows: 3 });
    place.says["/things"] = () => ({ things: some(2, 3, 4) });
    expect(lineOf(await place.run(), "things")).toMatchObject({ ...unknown, table_rows: 4 });
    place.says["/things"] = () => ({ things: some(4) });
    const shown = { service_rows: 1, table_rows: 4, difference: 3, difference_reason: reasons.kept };
    expect(lineOf(await place.run(), "things")).toMatchObject(shown);
  });

  test("rows in a bare array, in pages and at once", async () => {
    const log = defineStream({ ...things(), name: "log", path: "/log", mode: scan({ rows: "" }) });
    const place = await told(make, [things({ rows: "" }), log], {
      "/things": () => some(1, 2),
      "/log": ({ query }) => (query.has("cursor") ? page(some(3), null) : page(some(1, 2), "c1")),
    });
    const report = await place.run();
    expect(lineOf(report, "things")).toMatchObject({ status: "succeeded", inserted: 2 });
    expect(lineOf(report, "log")).toMatchObject({ status: "succeeded", inserted: 3, requests: 2 });
    place.says["/things"] = () => ({ things: some(1) });
    expect(lineOf(await place.run(), "things").error).toContain("expected rows at data, got an object");
  });

  test("null for a list is an empty one, which the deletion guard holds back; a working list has no such guard", async () => {
    const left = defineStream({ ...things({ absence: "left" }), name: "open", path: "/open" });
    const says = { "/things": () => ({ things: some(1, 2) }), "/open": () => ({ things: some(1, 2) }) };
    const place = await told(make, [things(), left], says);
    await place.run();
    for (const path of ["/things", "/open"]) place.says[path] = () => ({ things: null });
    const report = await place.run();
    expect(lineOf(report, "things")).toMatchObject({ rows_read: 0, missing: 2, deleted: 0 });
    expect(lineOf(report, "open")).toMatchObject({ status: "incomplete" });
    expect(lineOf(report, "open").error).toContain("expected rows at data.things, got null");
    expect(await place.count("things", "_deleted_at is null")).toBe(2);
  });

  test("arrays side by side: each row gets the name of its array", async () => {
    const fields = streamOf(
      "fields",
      { key: id() },
      {
        mode: list({
          rows: { column: "scope", description: "Where it stands.", of: { header: "header.fields", line: "lines" } },
          pageColumns: [{ name: "found", kind: "count", field: "header.found", description: "How many." }],
        }),
        key: ["scope", "key"],
      },
    );
    const place = await told(make, [fields], {
      "/fields": () => ({ header: { fields: [{ key: "a" }, { key: "b" }], found: 2 }, lines: [{ key: "a" }] }),
    });
    expect(lineOf(await place.run(), "fields")).toMatchObject({ status: "succeeded", inserted: 3 });
    const rows = await place.warehouse.query("select scope, key, found from procurement.fields order by scope, key");
    expect(rows).toMatchObject([
      { scope: "header", key: "a", found: 2 },
      { scope: "header", key: "b", found: 2 },
      { scope: "line", key: "a", found: 2 },
    ]);
    place.says["/fields"] = () => ({ header: { fields: [], found: 0 } });
    expect(lineOf(await place.run(), "fields").error).toContain("data.header.fields and data.lines");
    // Null is believed where no other array has a row: then the guard of an empty list stands.
    const live = "_deleted_at is null";
    place.says["/fields"] = () => ({ header: { fields: null, found: 0 }, lines: null });
    expect(lineOf(await place.run(), "fields")).toMatchObject({ rows_read: 0, missing: 3, deleted: 0 });
    place.says["/fields"] = () => ({ header: { fields: [{ key: "a" }, { key: "b" }], found: 2 }, lines: null });
    const report = await place.run();
    expect(report.errors).toMatchObject([{ code: "extract.no_rows", fields: { got: "null" } }]);
    expect(await place.count("fields", live)).toBe(3);
  });

  test("bare values become rows, side by side with objects, told apart by their place", async () => {
    const vendors = streamOf(
      "vendors",
      {
        vendor_name: text().nullable(),
        data: whole(),
      },
      { mode: list({ rows: "vendors", scalar: "vendor_name" }), key: ["_index"] },
    );
    const place = await told(make, [vendors], {
      "/vendors": () => ({ vendors: ["Acme", { vendor_name: "Bolt", seats: 2 }, 7, ["odd"]] }),
    });
    // A warning: a number in a column of text.
    expect(lineOf(await place.run(), "vendors")).toMatchObject({ status: "warning", inserted: 4, rejected: 0 });
    const rows = await place.warehouse.query(
      "select _index, vendor_name, cast(data as varchar) as data, _extra from procurement.vendors order by _index",
    );
    const parsed = rows.map(row => [row["_index"], row["vendor_name"], JSON.parse(String(row["data"])), row["_extra"]]);
    expect(parsed).toEqual([
      [0, "Acme", "Acme", null],
      [1, "Bolt", { vendor_name: "Bolt", seats: 2 }, null],
      [2, "7", 7, null],
      [3, null, ["odd"], null],
    ]);
    expect(lineOf(await place.run(), "vendors")).toMatchObject({ updated: 0, unchanged: 4 });
  });

  describe("rows without an id of their own", () => {
    const open = streamOf(
      "open",
      { po: id(), open_lines: count() },
      { mode: scan({ rows: "open", absence: "left" }), key: ["po", "_index"] },
    );
    const pages = [
      [
        { po: "A", open_lines: 1 },
        { po: "B", open_lines: 2 },
      ],
      [
        { po: "A", open_lines: 3 },
        { po: "A", open_lines: 4 },
      ],
      [{ po: "B", open_lines: 5 }],
    ];
    const answer = ({ query }: { query: URLSearchParams }) => {
      const at = Number(query.get("cursor") ?? 0);
      return page({ open: pages[at] }, at + 1 < pages.length ? String(at + 1) : null);
    };
    const places = "select po, _index, open_lines from procurement.open order by po, _index";

    test("are told apart by their place among those of the same key, over all pages", async () => {
      const place = await told(make, [open], { "/open": answer });
      expect(lineOf(await place.run(), "open")).toMatchObject({ status: "succeeded", inserted: 5 });
      expect(await place.warehouse.query(places)).toMatchObject([
        { po: "A", _index: 0, open_lines: 1 },
        { po: "A", _index: 1, open_lines: 3 },
        { po: "A", _index: 2, open_lines: 4 },
        { po: "B", _index: 0, open_lines: 2 },
        { po: "B", _index: 1, open_lines: 5 },
      ]);
      expect(lineOf(await place.run(), "open")).toMatchObject({ updated: 0, inserted: 0, unchanged: 5 });
    });

    test("are read from the first page on when a scan was broken off", async () => {
      const place = await told(make, [open], { "/open": answer });
      expect(await place.run({ maxRequests: 3 })).toMatchObject({ exit_code: 5 });
      const report = await place.run();
      expect(lineOf(report, "open")).toMatchObject({ carried: 0, inserted: 5, requests: 3 });
      expect(report.notes).toMatchObject([{ code: "stream.read_again", fields: { stream: "open", pages: 2 } }]);
      expect(await place.warehouse.query(places)).toHaveLength(5);
    });

    test("are published up to where the third run in a row breaks off", async () => {
      const broken = instead(400, { error: { code: "BAD", message: "no", request_id: "r" } });
      const place = await told(make, [open], {
        "/open": passing => (passing.query.get("cursor") === "2" ? broken : answer(passing)),
      });
      for (let i = 0; i < 2; i++)
        expect(lineOf(await place.run(), "open")).toMatchObject({ status: "failed", inserted: 0 });
      expect(lineOf(await place.run(), "open")).toMatchObject({ status: "incomplete", inserted: 4 });
    });
  });
});

test.each([
  [2, 2],
  ["2", 2],
  ["", null],
  [-1, null],
  ["0x28", null],
  ["1e2", null],
  [" 2", null],
])("a total of %j is %j", (total, expected) => {
  expect(totalIn({ total }, { total: "total" })).toBe(expected);
});
