import { describe, expect, test } from "vitest";
import { lineOf } from "../support/run.ts";
import { eitherWarehouse } from "../support/warehouse.ts";
import { outside } from "./outside.ts";
import { hostile, pageOf } from "./service.ts";
import { things } from "./things.ts";

const MILLION = 1_000_000;
const ELEMENTS = 100_000;

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("texts of ten megabytes and lists of 100,000 elements are loaded whole; as a key they are rejected", async () => {
    const text = `begin,"é\n${"0123456789".repeat(MILLION)}end`;
    const digits = "7".repeat(MILLION);
    const dots = ".".repeat(MILLION);
    const zeros = `1${"0".repeat(MILLION)}1`;
    const numbers = `[${Array.from({ length: ELEMENTS }, (_, i) => i).join(",")}]`;
    const lines = `[${Array.from({ length: ELEMENTS }, (_, i) => `{"line_no":${i},"note":"n${i}"}`).join(",")}]`;
    const quoted = JSON.stringify(text);
    const rows = [
      `{"id":"text","text":${quoted}}`,
      `{"id":"json","json":{"long":${quoted}}}`,
      `{"id":"unknown","more":"${dots}"}`,
      `{"id":"problem","money":"${dots}","count":"${digits}"}`,
      `{"id":"digits","text":"${digits}","money":${digits},"score":${digits},"count":${zeros}}`,
      `{"id":"array","json":${numbers}}`,
      `{"id":"lines","lines":${lines}}`,
      '{"id":"small","text":"s"}',
    ];
    const rejected = [`{"id":${quoted}}`, `{"id":${digits}}`];
    const place = await hostile(make, [things], {
      "/things": ({ query }) =>
        query.has("cursor") ? pageOf(rows.slice(4)) : pageOf([...rejected, ...rows.slice(0, 4)], "2"),
    });
    const report = await place.run();
    expect(report.errors).toEqual([]);
    // The first page is larger than memory allows for one: it is asked for again, each time with fewer rows.
    expect(lineOf(report, "things")).toMatchObject({ inserted: rows.length, rejected: 2, requests: 5 });

    const told = await outside(
      place.warehouse,
      `select id, text, cast(json as varchar) as json, cast(_extra as varchar) as extra, cast(_problems as varchar) as problems
         from procurement.things order by id`,
    );
    const byId = new Map(told.map(row => [row["id"], row]));
    const parsed = (id: string, column: string) => JSON.parse(String(byId.get(id)?.[column]));
    // Compared by ===: a difference would be printed in full otherwise.
    expect(byId.get("text")?.["text"] === text).toBe(true);
    expect(parsed("json", "json").long === text).toBe(true);
    expect(parsed("unknown", "extra").more === dots).toBe(true);
    expect(parsed("problem", "problems").money.value === dots).toBe(true);
    expect(byId.get("digits")?.["text"] === digits).toBe(true);
    expect(Object.keys(parsed("digits", "problems")).sort()).toEqual(["count", "money", "score"]);
    expect(parsed("digits", "problems").count.value === zeros).toBe(true);
    expect(byId.get("array")?.["json"]?.toString().replaceAll(" ", "") === numbers).toBe(true);
    const children = await outside(
      place.warehouse,
      `select cast(count(*) as varchar) as n, cast(count(distinct _index) as varchar) as places, cast(sum(cast(line_no as bigint)) as varchar) as sum,
          cast(sum(case when note = 'n' || line_no and line_no = cast(_index as varchar) then 1 else 0 end) as varchar) as fit
         from procurement.thing_lines`,
    );
    const sum = String((ELEMENTS * (ELEMENTS - 1)) / 2);
    expect(children).toEqual([{ n: String(ELEMENTS), places: String(ELEMENTS), sum, fit: String(ELEMENTS) }]);
  });
});
