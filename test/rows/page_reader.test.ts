import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { type Kind, tablesOf } from "../../src/catalog/columns.ts";
import type { Stream } from "../../src/catalog/stream.ts";
import { valueAt } from "../../src/rows/encode_value.ts";
import { Encoder, type EncoderSettings } from "../../src/rows/encoder.ts";
import { createHasher } from "../../src/rows/hash.ts";
import { isoUtc } from "../../src/rows/moment.ts";
import { LineRow } from "../../src/rows/page_reader.ts";
import { parseJson } from "../../src/source/body.ts";
import { streams } from "../../streams/index.ts";
import { oddValues, pageOf } from "./page_json.ts";

const hasher = await createHasher();

/** Streams whose pages can be read into lines, and where in a page's data their rows stand. */
const readStreams = streams.flatMap(stream => {
  const { mode } = stream;
  if ((mode.kind !== "scan" && mode.kind !== "feed") || typeof mode.rows !== "string") return [];
  const isRead = new Encoder(settingsOf(stream)).pageReader(mode.rows) !== undefined;
  return isRead ? [{ name: stream.name, stream, place: mode.rows }] : [];
});

function settingsOf({ tables, mode }: Stream, from?: number): EncoderSettings {
  const highWaterColumn = mode.kind === "feed" ? mode.highWaterColumn : undefined;
  return { tables, formats: isoUtc, hasher, ignored: [], highWaterColumn, from };
}

/** All that an encoder tells of a page, or what is thrown; and how many of its rows were lines. */
function encoded(settings: EncoderSettings, place: string, body: Buffer, isRead: boolean) {
  const encoder = new Encoder(settings);
  let page: unknown;
  try {
    page = isRead ? encoder.pageReader(place)!(body, parseJson) : parseJson(body);
  } catch (error) {
    return { told: String(error), lines: 0 };
  }
  const path = ["data", ...place.split(".").filter(field => field !== "")];
  const rows = page === null || typeof page !== "object" ? undefined : valueAt(path, page as Record<string, unknown>);
  if (!Array.isArray(rows)) return { told: JSON.stringify(page), lines: 0 };
  const { data } = page as { readonly data: unknown };
  const beside = Array.isArray(data) ? {} : (data as Record<string, unknown>);
  const isTaken = rows.map(row => encoder.add(row, beside, {}));
  const { batch, ...told } = encoder.take();
  const [main, keys] = [batch.main, batch.keys].map(table => ({ ...table, bytes: table.bytes.toString("latin1") }));
  const others = { ...beside, [path.at(-1)!]: [] };
  const envelope = JSON.stringify({ ...(page as object), data: Array.isArray(data) ? [] : others });
  const lines = rows.filter(row => row instanceof LineRow).length;
  return { told: { main, keys, ...told, isTaken, envelope, sequence: encoder.sequence }, lines };
}

/** Both ways must tell the same. */
function held(settings: EncoderSettings, place: string, json: string | Buffer): number {
  const body = Buffer.from(json);
  const { told, lines } = encoded(settings, place, body, true);
  expect(told).toEqual(encoded(settings, place, body, false).told);
  return lines;
}

const field = (kind: Kind, more = {}) => z.unknown().meta({ kind, ...more });
const everything = tablesOf({
  name: "things",
  row: z.object({
    ...{
      text: field("text"),
      money: field("money"),
      count: field("count"),
      score: field("score"),
      flag: field("flag"),
    },
    ...{
      day: field("date"),
      changed: field("moment"),
      json: field("json"),
      id: field("id"),
      seen: field("moment", { volatile: true }),
    },
    ...{ list: field("json", { holds: "array" }), things: field("json", { holds: "object" }) },
    ...{ "a b": field("percent"), constructor_: field("quantity"), other: field("json", { volatile: true }) },
  }),
  key: ["id", "text"],
  added: [],
  volatile: [],
});

describe("a page's reader", () => {
  test("and the encoder say the same of every row, whatever it holds", () => {
    let lines = 0;
    const settings = { tables: everything, formats: isoUtc, hasher, ignored: [], highWaterColumn: "changed" };
    fc.assert(
      fc.property(pageOf(everything.main.columns, "rows"), fc.boolean(), (page, isBounded) => {
        lines += held({ ...settings, from: isBounded ? Date.UTC(2050) * 1000 : undefined }, "rows", page);
      }),
      { numRuns: 2_000 },
    );
    expect(lines).toBeGreaterThan(500);
  });

  test("and the encoder say the same of each odd value that stands alone in a row", () => {
    const settings = { tables: everything, formats: isoUtc, hasher, ignored: [], highWaterColumn: "changed" };
    const fields = everything.main.columns.map(({ path }) => path[0]!);
    const usual = Object.fromEntries(fields.map(field => [field, field === "id" || field === "text" ? '"k"' : "null"]));
    for (const field of fields)
      for (const value of oddValues) {
        const row = Object.entries({ ...usual, [field]: value }).map(([name, own]) => `${JSON.stringify(name)}:${own}`);
        held(settings, "rows", `{"data":{"rows":[{${row.join(",")}}]}}`);
      }
  });

  test.each(readStreams)("and the encoder say the same of $name", ({ stream, place }) => {
    fc.assert(
      fc.property(pageOf(stream.tables.main.columns, place), page => void held(settingsOf(stream), place, page)),
      { numRuns: 30 },
    );
  });

  test("refuses what the parser refuses, and what is no page is parsed", () => {
    const settings = { tables: everything, formats: isoUtc, hasher, ignored: [], highWaterColumn: undefined };
    const cut = fc.tuple(
      pageOf(everything.main.columns, "rows"),
      fc.nat(),
      fc.nat(2),
      fc.constantFrom(...'"{}[],:\\ 0-ex\u0001\u00ff'),
    );
    fc.assert(
      fc.property(cut, ([page, nth, gone, put]) => {
        const body = Buffer.from(page);
        const at = nth % body.length;
        const bytes = [body.subarray(0, at), Buffer.from(put, "latin1"), body.subarray(at + gone)];
        held(settings, "rows", Buffer.concat(bytes));
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['{"data":{"rows":[ROW]},"data":{"rows":[]}}', 0],
    ['{"data":{"rows":[ROW],"rows":[ROW,ROW]}}', 0],
    ['{"data":{"rows":[]},"data":{"rows":[ROW]}}', 0],
    ['{"x":{"rows":[ROW]},"data":{"rows":[ROW]}}', 0],
    ['{"x":"\\"rows\\":[","data":{"rows":[ROW]}}', 1],
    ['{"meta":{"n":1},"data":{"n":"]","rows":[ROW]}}', 1],
    ['\ufeff{"data":{"rows":[ROW]}}', 1],
    ['{"data":{"rows":[ROW,null]}}', 0],
    ['{"data":{"rows":[ROW,[]]}}', 0],
    ['{"data":{"rows":[ROW,"x",ROW]}}', 0],
    ['{"data":{"rows":[ROW]}} {}', 0],
    ['{"data":{"rows":{"rows":[ROW]}}}', 0],
    ['{"data":[ROW]}', 0],
    ['{"data":null}', 0],
    ['{"data":{"rows":[{"id":"1","text":"2"},ROW, {"id" : "3" , "text":"4"}]}}', 3],
    [`{"data":{"rows":[${Array.from({ length: 5_001 }, () => "ROW").join(",")}]}}`, 0],
  ])("takes of %s as lines %i", (page, lines) => {
    const settings = { tables: everything, formats: isoUtc, hasher, ignored: [], highWaterColumn: undefined };
    expect(held(settings, "rows", page.replaceAll("ROW", '{"id":"a","text":"b"}'))).toBe(lines);
  });

  test("is turned off by TRIBUTARY_READER=js", () => {
    const encoder = new Encoder({
      tables: everything,
      formats: isoUtc,
      hasher,
      ignored: [],
      highWaterColumn: undefined,
    });
    vi.stubEnv("TRIBUTARY_READER", "js");
    expect(encoder.pageReader("rows")).toBeUndefined();
    vi.unstubAllEnvs();
    expect(encoder.pageReader("rows")).toBeDefined();
  });
});
