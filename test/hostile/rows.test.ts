import { describe, expect, test } from "vitest";
import { lineOf } from "../support/run.ts";
import { eitherWarehouse, warehouses } from "../support/warehouse.ts";
import { outside } from "./outside.ts";
import { hostile, pageOf } from "./service.ts";
import { listOf, things } from "./things.ts";

const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const deepObject = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
/** A numeral that sends its page to the exact parser. */
const long = "9007199254740993";

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("what is no row with a key is rejected with what came, and the rows beside it are loaded", async () => {
    const bad = [
      "null",
      "[]",
      "[1,2]",
      "7",
      long,
      '"text"',
      "true",
      "{}",
      '{"id":null}',
      '{"id":[]}',
      '{"id":{"id":1}}',
      '{"id":true}',
      '{"id":"a\\u0000"}',
      '{"id":"\\ud800"}',
      '{"id":1e999999999}',
      `{"id":"${"k".repeat(501)}"}`,
      `{"id":"${"9".repeat(10_000)}"}`,
      '{"ID":"case"}',
      '{"__proto__":{"id":"inherited"}}',
      deep(10_000),
    ];
    const good = [
      '{"id":""}',
      '{"id":"a"}',
      '{"id":"A"}',
      '{"id":"a "}',
      '{"id":"\\\\N"}',
      '{"id":"NULL"}',
      '{"id":"\\\\."}',
    ];
    const place = await hostile(make, [things], { "/things": () => pageOf([...bad, ...good]) });
    const report = await place.run();
    expect(report.errors).toEqual([]);
    expect(lineOf(report, "things")).toMatchObject({ inserted: good.length, rejected: bad.length, status: "warning" });
    const keys = await outside(place.warehouse, "select id from procurement.things");
    expect(keys.map(row => row["id"]).sort()).toEqual(good.map(row => JSON.parse(row).id).sort());
    const rejects = await outside(
      place.warehouse,
      "select cast(raw as varchar) as raw, reason from _tributary.rejects",
    );
    expect(rejects).toHaveLength(bad.length);
    const raw = rejects.map(reject => String(reject["raw"]).replaceAll(" ", "").length);
    expect(raw.filter(length => length > 9_000)).toHaveLength(1);
    const next = await place.run();
    expect(lineOf(next, "things")).toMatchObject({ unchanged: good.length, rejected: bad.length });
  });

  test("one key a hundred times on a page is one row, the last; of a field that comes twice it is the last as well", async () => {
    const rows = Array.from({ length: 100 }, (_, i) => `{"id":"k","text":"first","count":${i},"text":"last"}`);
    const place = await hostile(make, [things], { "/things": () => pageOf(rows) });
    expect(lineOf(await place.run(), "things")).toMatchObject({ rows_read: 100, inserted: 1, repeated: 99 });
    const found = await outside(place.warehouse, "select cast(count as varchar) as n, text from procurement.things");
    expect(found).toEqual([{ n: "99", text: "last" }]);
  });

  test("bytes that are no UTF-8 are a problem of their value, a reject in a key, and are to be read from both", async () => {
    const page = Buffer.from(
      '{"data":{"things":[{"id":"1","text":"M\u00fcller"},{"id":"a\u00e4"},{"id":"a\u00f6"}]},"pagination":{"next_cursor":null,"has_more":false,"limit":100}}',
      "latin1",
    );
    const place = await hostile(make, [things], { "/things": () => page });
    const report = await place.run();
    expect(lineOf(report, "things")).toMatchObject({ rows_read: 3, inserted: 1, rejected: 2 });
    const [row] = await outside(
      place.warehouse,
      "select text, cast(_problems as varchar) as p from procurement.things",
    );
    expect(row?.["text"]).toBeNull();
    expect(row?.["p"]).toContain("dcfc");
    const rejects = await outside(
      place.warehouse,
      "select cast(raw as varchar) as raw from _tributary.rejects order by 1",
    );
    expect(rejects.map(({ raw }) => /dc(e4|f6)/.exec(String(raw))?.[1])).toEqual(["e4", "f6"]);
  });

  test("nesting of any depth is stored, or is a problem of its own row", async () => {
    const rows = [
      `{"id":"kept","json":${deep(400)},"more":${deepObject(400)}}`,
      `{"id":"json","json":${deep(10_000)}}`,
      `{"id":"unknown","more":${deepObject(10_000)},"other":[1]}`,
      '{"id":"unstorable","more\\u0000":"\\ud800","json":{"a\\u0000":"\\ud800"}}',
      `{"id":"text","text":${deep(10_000)}}`,
      `{"id":"list","lines":${deep(10_000)}}`,
      `{"id":"line","lines":[{"line_no":1,"note":${deepObject(10_000)}}]}`,
    ];
    const place = await hostile(make, [things], {
      "/things": ({ query }) =>
        query.has("cursor") ? pageOf(rows) : pageOf([`{"id":"exact","count":${long},"json":${deep(10_000)}}`], "2"),
    });
    const report = await place.run();
    expect(report.errors).toEqual([]);
    expect(lineOf(report, "things")).toMatchObject({ inserted: 8, rejected: 0, requests: 2 });
    const found = await outside(
      place.warehouse,
      "select id, json is null as j, _extra is null as e, cast(_problems as varchar) as p from procurement.things order by id",
    );
    const told = found.map(row => [
      row["id"],
      row["j"],
      row["e"],
      row["p"] === null ? [] : Object.keys(JSON.parse(String(row["p"]))).sort(),
    ]);
    expect(told).toEqual([
      ["exact", true, true, ["json"]],
      ["json", true, true, ["json"]],
      ["kept", false, false, []],
      ["line", true, true, []],
      ["list", true, true, []],
      ["text", true, true, ["text"]],
      ["unknown", true, false, ["_extra"]],
      ["unstorable", false, false, ["_extra", "json"]],
    ]);
  });
});

test("bodies that are nothing but nesting end as a clear error, each its own stream's", async () => {
  const bodies = { one: deep(10_000), two: deepObject(10_000), three: `{"data":${deep(10_000)}}` };
  const says = Object.fromEntries(Object.entries(bodies).map(([name, body]) => [`/${name}`, () => body]));
  const place = await hostile(warehouses[0]!.make, Object.keys(bodies).map(listOf), says);
  const report = await place.run();
  for (const name of Object.keys(bodies)) {
    expect(lineOf(report, name).status).toBe("incomplete");
    expect(lineOf(report, name).error).toMatch(/"data"|expected rows at data\.rows/);
  }
});
