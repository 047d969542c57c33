import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { type Column, type Kind, tablesOf } from "../../src/catalog/columns.ts";
import type { Stream } from "../../src/catalog/stream.ts";
import { valueAt } from "../../src/rows/encode_value.ts";
import { Encoder, type EncoderSettings } from "../../src/rows/encoder.ts";
import { createHasher } from "../../src/rows/hash.ts";
import { isoUtc } from "../../src/rows/moment.ts";
import { LineRow } from "../../src/rows/page_reader.ts";
import { parseJson } from "../../src/source/body.ts";
import { streams } from "../../streams/index.ts";

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

const rarely = <T>(arbitrary: fc.Arbitrary<T>, otherwise: fc.Arbitrary<T>, percent: number) =>
  fc.oneof({ weight: 100 - percent, arbitrary: otherwise }, { weight: percent, arbitrary });
const quoted = (values: fc.Arbitrary<string>) => values.map(value => JSON.stringify(value));
const two = (most: number) => fc.nat(most).map(value => String(value).padStart(2, "0"));

const text = fc.oneof(
  fc.constantFrom(
    "x",
    "Hex bolt M8×40",
    'a "b" \\ / c',
    "line\nline\ttab",
    "",
    "😀 日本",
    "\u2028\u007f",
    "k".repeat(60),
  ),
  fc.string({ unit: "grapheme-ascii" }),
);
const day = fc.tuple(fc.integer({ min: 1000, max: 2999 }), two(12), two(31)).map(parts => parts.join("-"));
const usualDay = fc.tuple(
  fc.constantFrom("1999", "2024", "2000"),
  fc.constantFrom("02", "11"),
  fc.constantFrom("01", "29"),
);
const clock = fc.tuple(two(23), two(59), two(59)).map(parts => parts.join(":"));
const fraction = fc.stringMatching(/^(\.\d{1,6})?$/);
const zone = fc.constantFrom("Z", "+00:00", "+02:00", "-05:30");
const usualMoment = fc
  .tuple(usualDay, clock, fraction, zone)
  .map(([day, time, fraction, zone]) => `${day.join("-")}T${time}${fraction}${zone}`);
const oddMoment = fc
  .tuple(
    day,
    fc.constantFrom("T", " "),
    fc.stringMatching(/^[0-2]\d:[0-6]\d:[0-6]\d$/),
    fc.stringMatching(/^[.,]?\d{0,8}$/),
    zone,
  )
  .map(parts => parts.join(""));
const midnight = usualDay.map(day => `${day.join("-")}T00:00:00.000+02:00`);
const numeral = fc.stringMatching(/^-?(0|[1-9]\d{0,7})(\.\d{1,6}0{0,3})?$/);
const whole = fc.stringMatching(/^-?[1-9]\d{0,9}$/);
const oddNumeral = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9]\d{0,16})(\.\d{1,10}0{0,3})?$/),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom(
    "-0",
    "-0.0",
    "0.000",
    "1E5",
    "1e400",
    "123456789012345678",
    "0.1234567890123456",
    "999999999999.999999",
  ),
);
const name = fc.constantFrom("b", "a", "id", "Id", "z9", "basis", "a b");
const json = fc.oneof(
  fc.dictionary(name, fc.oneof(fc.array(fc.oneof(text, fc.integer())), text, fc.boolean(), fc.dictionary(name, text))),
  fc.array(text),
  fc.constantFrom([], {}, 1.5, true),
);

const oddJson = fc.oneof(
  fc.json(),
  fc
    .dictionary(fc.constantFrom("b", "é", "\uffff", "😀", "api_key", "Token", "passphrase"), fc.json())
    .map(values => JSON.stringify(values)),
);

/** JSON of values as nearly all of their kind come, and of others. */
const forms: Readonly<Record<string, readonly [usual: fc.Arbitrary<string>, odd: fc.Arbitrary<string>]>> = {
  text: [quoted(text), quoted(fc.string({ unit: "binary" }))],
  number: [fc.oneof(numeral, quoted(numeral)), fc.oneof(oddNumeral, quoted(oddNumeral), quoted(text))],
  count: [fc.oneof(whole, quoted(whole)), fc.oneof(oddNumeral, quoted(oddNumeral))],
  flag: [fc.constantFrom("true", "false"), fc.constantFrom('"true"', "1")],
  date: [quoted(usualDay.map(parts => parts.join("-"))), quoted(fc.oneof(day, midnight, oddMoment))],
  moment: [quoted(usualMoment), quoted(fc.oneof(oddMoment, day))],
  json: [json.map(value => JSON.stringify(value)), oddJson],
};
const formOf: Readonly<Record<Kind, string>> = {
  ...{ id: "text", text: "text", money: "number", quantity: "number", percent: "number", score: "number" },
  ...{ count: "count", flag: "flag", date: "date", moment: "moment", json: "json" },
};
const formed = (kind: Kind): fc.Arbitrary<string> => {
  const [usual, odd] = forms[formOf[kind]]!;
  return rarely(odd, usual, 3);
};
/** What is unusual for most kinds. */
const odd = fc.oneof(
  ...Object.values(forms).flat(),
  fc.constantFrom(
    '"\\u0000"',
    '"\\ud83d"',
    '"\\ud83d\\ude00"',
    '"\\u00e9\\u0022"',
    '"\\/\\b\\f\\r"',
    "[ ]",
    '{"a":1,"a":2}',
  ),
);
const broken = fc.constantFrom(
  ...["01", ".5", "1.", "-", "1e", "nul", "tru", '"\t"', '"\\x"', '"\\u12"', "[1,]", "[,]", '{"a"}', "{,}"],
  ...['{"a":1,}', "", "[}", "'a'", '"', "{", "]"],
);
const space = fc.oneof(
  { weight: 80, arbitrary: fc.constantFrom("", "", "", " ", "\n", "\t ", "\r\n") },
  { weight: 1, arbitrary: fc.constant("\f") },
);
/** A row's JSON: its fields in some order, most of them as usual. */
function rowOf(columns: readonly Column[]): fc.Arbitrary<string> {
  const fields = columns.filter(({ source }) => source === "row");
  const names = fields.map(({ path }) => path[0]!);
  const usual = fields.map(({ path, kind }) =>
    rarely(fc.constant("null"), formed(kind), 6).map(value => `${JSON.stringify(path[0])}:${value}`),
  );
  const any = fc.constantFrom(...names, ...names, "more", "__proto__", "api_key", "");
  const value = rarely(broken, odd, 5);
  const other = fc
    .tuple(quoted(any), space, space, value, space)
    .map(([name, before, after, value, end]) => `${name}${before}:${after}${value}${end}`);
  const some = { minLength: fields.length - 1, maxLength: fields.length };
  const own = rarely(
    fc.shuffledSubarray(usual, some).chain(all => fc.tuple(...all)),
    fc.tuple(...usual),
    30,
  );
  const others = rarely(fc.array(other, { maxLength: 2 }), fc.constant<string[]>([]), 30);
  return fc
    .tuple(own, others, fc.nat())
    .map(([own, others, at]) => `{${own.toSpliced(at % (own.length + 1), 0, ...others).join(",")}}`);
}

/** A page's JSON: rows, and beside them what its columns take. */
function pageOf(columns: readonly Column[], place: string): fc.Arbitrary<string> {
  const beside = columns.filter(({ source }) => source === "page");
  const values = fc.tuple(...beside.map(({ kind }) => rarely(odd, formed(kind), 10)));
  const rows = fc.array(
    fc.tuple(space, rowOf(columns), space).map(parts => parts.join("")),
    { maxLength: 4 },
  );
  return fc.tuple(rows, values, space).map(([rows, values, between]) => {
    const array = `${between}[${rows.join(",")}${rows.length === 0 ? between : ""}]`;
    const others = beside.map(({ path }, at) => `,${JSON.stringify(path[0])}:${values[at]}`).join("");
    return `{"data":${place === "" ? array : `{"${place}":${array}${others}}`}${between},"pagination":null}`;
  });
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

  test("is none where Node is told to do without", () => {
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
