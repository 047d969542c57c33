import { describe, expect, test } from "vitest";
import { id, record, text } from "../../../schemas/fields.ts";
import { defineStream, detail, list, lookup, scan } from "../../../src/catalog/stream.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { instead, page, told } from "../answers.ts";
import { live, noAudit } from "../vendors.ts";

const row = record("A thing.", { id: id().describe("Its id."), note: text().nullable().describe("A note.") });
const facts = { path: "/things", row, key: ["id"], preset: "core" } as const;
const things = defineStream({ ...facts, name: "things", mode: list({ rows: "things" }) });
const working = defineStream({ ...facts, name: "working", mode: list({ rows: "things", absence: "left" }) });
const paged = defineStream({ ...facts, name: "paged", mode: scan({ rows: "things" }) });
const counted = defineStream({ ...facts, name: "counted", mode: list({ rows: "things", total: "total" }) });
const parts = defineStream({
  ...{ name: "parts", path: "/things/{id}/parts", key: ["id", "_index"], preset: "core" },
  mode: detail({ of: "things", rows: "parts" }),
  row: record("A part.", { part: text().describe("Its name.") }),
});
const found = defineStream({
  ...{ name: "found", path: "/found", key: ["id"], preset: "core", row },
  mode: lookup({ ask: ["near"], rows: "found" }),
});

const thingsOf = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `T${i}`, note: "n" }));

describe.each(eitherWarehouse)("$name: a field beside the rows that says there are more", ({ make }) => {
  test.each([
    [things, { total: 40 }],
    [working, { stats: { total: "40" } }],
    [things, { paging: { page: 1, pages: 2 } }],
    [things, { truncated: true }],
  ] as const)("%#: rows of a list load, nothing is deleted, and the run says so once", async (stream, beside) => {
    const whole = { things: thingsOf(40) };
    const place = await told(make, [stream], { "/things": () => whole });
    expect(await place.run()).toMatchObject({ status: "succeeded", notes: [] });
    place.says["/things"] = () => ({ things: [...thingsOf(25), { id: "new", note: null }], ...beside });
    for (const _night of [1, 2]) {
      const report = await place.run();
      expect(report.exit_code).toBe(0);
      expect(report.notes.map(({ code }) => code)).toEqual(["extract.more_rows"]);
      expect(lineOf(report, stream.name)).toMatchObject({ deleted: 0, missing: 15 });
      expect(await place.count(stream.name, live)).toBe(41);
    }
    place.says["/things"] = () => ({ things: [...thingsOf(38), { id: "new", note: null }], total: 39 });
    expect(lineOf(await place.run(), stream.name)).toMatchObject({ deleted: 2 });
  });

  test("that stands around the data counts alike", async () => {
    const place = await told(make, [things], { "/things": () => ({ things: thingsOf(4) }) });
    await place.run();
    place.says["/things"] = () => instead(200, { data: { things: thingsOf(3) }, meta: { total: 4 } });
    const report = await place.run();
    expect(report.notes).toMatchObject([{ code: "extract.more_rows", fields: { field: "meta.total", said: 4 } }]);
    expect(lineOf(report, "things")).toMatchObject({ deleted: 0, missing: 1 });
  });

  test("null in place of one page, or of a lookup's rows, is no proof that rows are gone", async () => {
    const pages = (second: unknown) => (passing: { readonly query: URLSearchParams }) =>
      passing.query.get("cursor") === "P2" ? page({ things: second }, null) : page({ things: thingsOf(4) }, "P2");
    const rest = thingsOf(6).slice(4);
    const settings = { found: { parameters: { near: ["a"] } } };
    const place = await told(
      make,
      [paged, found],
      { "/things": pages(rest), "/found": () => ({ found: thingsOf(3) }) },
      { streams: { ...noAudit().streams, include: ["found"], settings } },
    );
    expect(await place.run()).toMatchObject({ exit_code: 0, notes: [] });
    Object.assign(place.says, { "/things": pages(null), "/found": () => ({ found: null }) });
    for (const _night of [1, 2, 3]) {
      place.clock.advance(86_400_000);
      const report = await place.run();
      expect(report).toMatchObject({ exit_code: 0, notes: Array(2).fill({ code: "extract.null_rows" }) });
    }
    expect([await place.count("paged", live), await place.count("found", live)]).toEqual([6, 3]);
  });

  test("that the stream names as its count makes the list incomplete, with exit code 1", async () => {
    const place = await told(make, [counted], { "/things": () => ({ things: thingsOf(40), total: 40 }) });
    expect(await place.run()).toMatchObject({ exit_code: 0 });
    place.says["/things"] = () => ({ things: [...thingsOf(25), { id: "new", note: null }], total: 40 });
    const report = await place.run();
    expect(report).toMatchObject({ exit_code: 1, notes: [], errors: [{ code: "stream.rows_lacking" }] });
    expect(lineOf(report, "counted")).toMatchObject({ status: "incomplete", inserted: 1, deleted: 0 });
    expect(await place.count("counted", live)).toBe(41);
  });

  test.each([
    ["", '""'],
    [-1, "-1"],
    ["0x28", '"0x28"'],
    [[40], "a list"],
  ])("that is its count but is %j is no count, and a note shows it", async (total, got) => {
    const place = await told(make, [counted], { "/things": () => ({ things: thingsOf(2), total }) });
    const report = await place.run();
    expect(report).toMatchObject({ exit_code: 0, warnings: [] });
    const fields = { path: "/things", field: "total", got };
    expect(report.notes).toMatchObject([{ code: "extract.odd_total", fields }]);
    place.says["/things"] = () => ({ things: thingsOf(2), total: null });
    expect(await place.run()).toMatchObject({ exit_code: 0, notes: [] });
  });

  test("that names a next page is followed in details of many rows and in lookups", async () => {
    const isSecond = (query: URLSearchParams) => query.get("cursor") === "P2";
    const pageOf = (rows: object, query: URLSearchParams) => ({
      ...rows,
      ...(isSecond(query) ? { has_more: false, next_cursor: null } : { has_more: true, next_cursor: "P2" }),
    });
    const namesOf = (from: number) => [0, 1].map(i => ({ part: `P${from + i}` }));
    const place = await told(
      make,
      [things, parts, found],
      {
        "/things": () => ({ things: thingsOf(1) }),
        "/things/T0/parts": ({ query }) => pageOf({ parts: namesOf(isSecond(query) ? 2 : 0) }, query),
        "/found": ({ query }) => pageOf({ found: thingsOf(4).slice(...(isSecond(query) ? [2] : [0, 2])) }, query),
      },
      { streams: { ...noAudit().streams, include: ["found"], settings: { found: { parameters: { near: ["a"] } } } } },
    );
    expect(await place.run()).toMatchObject({ exit_code: 0, warnings: [] });
    expect([await place.count("parts", live), await place.count("found", live)]).toEqual([4, 4]);
  });

  test("of details and lookups keeps their rows, too, with one note each", async () => {
    const partsOf = (count: number) => ({ parts: Array.from({ length: count }, (_, i) => ({ part: `P${i}` })) });
    const places = { "/things/T0/parts": () => partsOf(4), "/things/T1/parts": () => partsOf(4) };
    const place = await told(
      make,
      [things, parts, found],
      { ...places, "/things": () => ({ things: thingsOf(2) }), "/found": () => ({ found: thingsOf(3) }) },
      { streams: { ...noAudit().streams, include: ["found"], settings: { found: { parameters: { near: ["a"] } } } } },
    );
    expect(await place.run()).toMatchObject({ exit_code: 0, notes: [] });
    for (const path of Object.keys(places)) place.says[path] = () => ({ ...partsOf(2), total: 4 });
    place.says["/found"] = () => ({ found: thingsOf(1), total: 3 });
    const report = await place.run({ allDetails: true });
    expect(report.exit_code).toBe(0);
    expect(report.notes.map(({ code, fields }) => [code, fields["path"]])).toEqual([
      ["extract.more_rows", "/things/{id}/parts"],
      ["extract.more_rows", "/found"],
    ]);
    expect([await place.count("parts", live), await place.count("found", live)]).toEqual([8, 3]);
  });
});
