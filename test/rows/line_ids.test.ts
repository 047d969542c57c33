import { describe, expect, test } from "vitest";
import { anyJson, id, lineId, quantity, record, table, text, volatile } from "../../schemas/fields.ts";
import { tablesOf } from "../../src/catalog/columns.ts";
import { stageColumns } from "../../src/rows/batch.ts";
import { readCsv } from "../../src/rows/csv_reading.ts";
import { Encoder } from "../../src/rows/encoder.ts";
import { createHasher } from "../../src/rows/hash.ts";
import { isoUtc } from "../../src/rows/moment.ts";
import { row } from "./reading.ts";

const content = {
  word: text().nullable().describe("What it says."),
  amount: quantity().nullable().describe("How many."),
  days: volatile(quantity()).nullable().describe("How old it is."),
  more: anyJson().nullable().describe("Whatever there is."),
};
const tables = tablesOf({
  name: "orders",
  row: record("Orders.", {
    number: id().describe("Which."),
    lines: table("order_lines", "Lines.", { line_no: lineId(id()).nullable().describe("Which line."), ...content }),
    notes: table("order_notes", "Notes.", content),
  }),
  key: ["number"],
  added: [],
  volatile: [],
});

type Line = Record<string, unknown> | string | null;

/** The ids of the lines of one order, as JSON wrote them, of the table with a number and of the one without. */
async function idsOf(json: string): Promise<readonly [numbered: readonly string[], others: readonly string[]]> {
  const encoder = new Encoder({
    tables,
    formats: isoUtc,
    hasher: await createHasher(),
    ignored: [],
    highWaterColumn: undefined,
  });
  encoder.add(row(`{"number":"0","lines":[{"line_no":"of another order"}],"notes":[]}`), {}, {});
  encoder.add(row(`{"number":"1","lines":${json},"notes":${json}}`), {}, {});
  const { batch } = encoder.take();
  const [numbered = [], others = []] = tables.children.map((child, i) => {
    const place = stageColumns(child).findIndex(({ name }) => name === "_line_id");
    const rows = [...readCsv(batch.children[i]!.bytes)].filter(([sequence]) => sequence === "2");
    return rows.map(([_sequence, _index, ...values]) => values[place]!);
  });
  return [numbered, others];
}

const ids = (lines: readonly Line[]) => idsOf(JSON.stringify(lines));

const HASH = /^~[0-9a-v]{1,13}$/;

describe("a line with a number of its own", () => {
  test.each([
    ["a text", '"10"', "10"],
    ["a number", "10", "10"],
    ["a number with a fraction of nothing", "10.0", "10"],
    ["one that no double holds", "12345678901234567890", "12345678901234567890"],
    ["a text that says more than its number", '"010"', "010"],
  ])("is called by it: %s", async (_, written, called) => {
    expect((await idsOf(`[{"line_no":${written},"word":"a"},{"line_no":"20","word":"a"}]`))[0]).toEqual([called, "20"]);
  });

  test("keeps it wherever it stands, whatever changes in it and whatever comes before it", async () => {
    const lines = [
      { line_no: "10", word: "a" },
      { line_no: "20", word: "b" },
    ];
    const [first, second] = lines;
    expect((await ids([second!, first!]))[0]).toEqual(["20", "10"]);
    expect((await ids([{ line_no: "5", word: "new" }, ...lines]))[0]).toEqual(["5", "10", "20"]);
    expect((await ids([{ ...first, word: "z", days: 4, unheard_of: true }]))[0]).toEqual(["10"]);
  });

  test.each([
    ["null", { line_no: null }],
    ["missing", {}],
    ["empty", { line_no: "" }],
    ["no number but a list", { line_no: [1] }],
    ["what no database stores", { line_no: "1\u0000" }],
  ])("whose number is %s goes by what it says", async (_, number) => {
    const [found] = await ids([
      { word: "a", ...number },
      { line_no: "20", word: "a" },
    ]);
    expect(found).toEqual([expect.stringMatching(HASH), "20"]);
  });

  test("goes by what it says where another line has the same number; the others keep theirs", async () => {
    const [twice, other, again] = [
      { line_no: 10, word: "a" },
      { line_no: 20, word: "b" },
      { line_no: "10", word: "c" },
    ];
    const [found] = await ids([twice, other, again]);
    expect(found).toEqual([expect.stringMatching(HASH), "20", expect.stringMatching(HASH)]);
    expect(found[0]).not.toBe(found[2]);
    expect((await ids([again, other, twice]))[0]).toEqual(found.toReversed());
  });
});

describe("a line without a number", () => {
  const [a, b, c] = [
    { word: "a", amount: 1 },
    { word: "b", amount: "2.50", more: { x: 1, y: [2] } },
    { word: "b", amount: 2 },
  ] as const;

  test("goes by what it says, wherever it stands", async () => {
    const [, found] = await ids([a, b, c]);
    expect(new Set(found).size).toBe(3);
    for (const each of found) expect(each).toMatch(HASH);
    expect((await ids([c, a, b]))[1]).toEqual([found[2], found[0], found[1]]);
    expect((await ids([{ word: "new" }, a, b, c]))[1].slice(1)).toEqual(found);
  });

  test("is the same however the service writes the same values", async () => {
    const [, [found]] = await ids([b]);
    expect((await ids([{ more: { y: [2], x: 1 }, amount: 2.5, word: "b" }]))[1]).toEqual([found]);
    expect((await ids([{ ...b, amount: 2.51 }]))[1]).not.toEqual([found]);
  });

  test("is the same though what changes by itself has changed, and what nobody documented", async () => {
    const [, found] = await ids([{ ...a, days: 1 }]);
    expect((await ids([{ ...a, days: 2, unheard_of: "x" }]))[1]).toEqual(found);
  });

  test("that is equal to others is counted: the second one's id ends in #2", async () => {
    const [, [first]] = await ids([a]);
    expect((await ids([a, b, a, a]))[1]).toEqual([first, expect.stringMatching(HASH), `${first}#2`, `${first}#3`]);
    expect((await ids([b, a, a]))[1].slice(1)).toEqual([first, `${first}#2`]);
  });

  test("that is no object has an id too", async () => {
    const [numbered, others] = await ids(["x", null, a]);
    for (const found of [numbered, others]) expect(new Set(found).size).toBe(3);
    expect(others.slice(0, 2)).toEqual([expect.stringMatching(HASH), `${others[0]}#2`]);
  });
});

test("no two lines have one id, also where a number looks like another line's hash", async () => {
  const lines = [{ word: "a" }, { word: "a" }, { word: "a" }];
  const [found] = await ids(lines);
  const [own] = found as [string];
  expect(found).toEqual([own, `${own}#2`, `${own}#3`]);
  const [mixed] = await ids([{ line_no: own }, ...lines, { line_no: `${own}#3` }]);
  expect(mixed).toEqual([own, `${own}#2`, `${own}#4`, `${own}#5`, `${own}#3`]);
});

test("ten thousand equal lines take no longer than ten thousand others", async () => {
  const equal = Array.from({ length: 10_000 }, () => ({ word: "a" }));
  const [, found] = await ids(equal);
  expect(new Set(found).size).toBe(10_000);
});
