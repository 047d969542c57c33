import { execFileSync } from "node:child_process";
import { styleText } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inShell, lookOf } from "../../../src/cli/terminal/look.ts";
import {
  cutText,
  fitTable,
  formatTable,
  type RowColumn,
  rowTable,
  textWidth,
  wrapText,
} from "../../../src/cli/terminal/table.ts";

test.each([
  ["abc", 3],
  ["", 0],
  ["Söhne", 5],
  ["So\u0308hne", 5],
  ["株式会社", 8],
  ["한국", 4],
  ["👩‍👩‍👧", 2],
  ["🇩🇪", 2],
  ["✓ ok", 4],
  [styleText("red", "red"), 3],
  ["a\u200bb", 2],
])("%j takes %i cells", (text, width) => {
  expect(textWidth(text)).toBe(width);
});

test("columns line up whatever stands in them", () => {
  const table = formatTable(
    [{ title: "vendor" }, { title: "rows", align: "right" }, { title: "note" }],
    [
      ["株式会社", "12", "a\nb"],
      ["Acme", "1,234"],
    ],
  );
  expect(table).toBe("vendor     rows  note\n株式会社     12  a b\nAcme      1,234");
});

test("without titles there is no heading", () => {
  expect(
    formatTable(
      [{ title: "" }, { title: "" }],
      [
        ["ok", "api"],
        ["failed", "disk"],
      ],
    ),
  ).toBe("ok      api\nfailed  disk");
});

test("a cut text fits, and one that fits is not cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20 }), (text, width) => {
      const cut = cutText(text, width);
      expect(textWidth(cut)).toBeLessThanOrEqual(width);
      if (textWidth(text) <= width) expect(cut).toBe(text);
    }),
  );
});

const columns: readonly RowColumn<{ name: string; rows: number; lost: number; why: string }>[] = [
  ["stream", row => row.name],
  ["rows", row => row.rows],
  ["lost", row => row.lost],
  ["why", row => row.why],
];
const rows = [
  { name: "purchase_orders", rows: 12, lost: 0, why: "the service sent no more than the half of its answer" },
  { name: "items", rows: 1234, lost: 0, why: "" },
];

test("a table fits: texts are cut, then columns without values go, then the others, and the name is cut last", () => {
  const at = (width: number, first: readonly string[] = []) => fitTable(rows, columns, width, { first });
  expect(at(200).lines[1]).toContain("no more than the half of its answer");
  expect(at(60)).toMatchObject({ left: [] });
  expect(at(60).lines).toEqual([
    "stream            rows  lost  why",
    "purchase_orders     12     0  the service sent no more than…",
    "items            1,234     0",
  ]);
  expect(at(50).lines[0]).toBe("stream            rows  why");
  expect(at(30)).toEqual({
    lines: ["stream            rows", "purchase_orders     12", "items            1,234"],
    left: ["why"],
  });
  expect(at(45, ["why"])).toMatchObject({ left: ["rows"] });
  expect(at(12).lines).toEqual(["stream", "purchase_or…", "items"]);
});

test("no line of a table is wider than it may be, and what tells nothing is not named as left out", () => {
  const cell = fc.oneof(fc.string({ unit: "grapheme", maxLength: 40 }), fc.integer(), fc.constant(null));
  const any = fc.array(fc.array(cell, { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(any, fc.integer({ min: 1, max: 100 }), (cells, width) => {
      const titled = ["a", "b", "c", "d"].map((title, at): RowColumn<(typeof cells)[0]> => [title, row => row[at]!]);
      const { lines, left } = fitTable(cells, titled, width);
      expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(width);
      for (const title of left)
        expect(cells.some(row => !["", "0", null, 0].includes(row["abcd".indexOf(title)] ?? null))).toBe(true);
    }),
  );
});

test("what had no room is said in a line", () => {
  const look = { width: 30, paint: (_colour: string, text: string) => text };
  expect(rowTable(rows, columns, look).split("\n").at(-1)).toBe("--verbose, or a wider termina…");
});

test("prose is wrapped below its label, between words, and never within what is to be copied", () => {
  expect(wrapText("Lake:      12 files and more\nshort", 24)).toBe("Lake:      12 files and\n           more\nshort");
  expect(wrapText("run `tributary sync items` now", 12)).toBe("run\n`tributary sync items`\nnow");
  expect(wrapText(styleText("red", "one two"), 7)).toBe(styleText("red", "one two"));
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1 }),
      fc.integer({ min: 9, max: 40 }),
      (words, width) => {
        const lines = wrapText(words.join(" "), width).split("\n");
        expect(lines.join(" ")).toBe(words.join(" "));
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
      },
    ),
  );
});

test.each([
  [{ isTTY: true, columns: 90 }, { TERM: "xterm" }, 90, true],
  [{ isTTY: true, columns: 90 }, { TERM: "xterm", NO_COLOR: "1" }, 90, false],
  [{ isTTY: true, columns: 0 }, { TERM: "dumb" }, 80, false],
  [{ isTTY: true, columns: 7 }, { TERM: "dumb" }, 20, false],
  [{}, { TERM: "xterm" }, undefined, false],
  [{}, { COLUMNS: "100", FORCE_COLOR: "1" }, 100, true],
  [{}, { COLUMNS: "wide" }, undefined, false],
])("a stream %j in %j has %s columns, colours: %s", (stream, env, width, hasColours) => {
  const look = lookOf(stream as NodeJS.WriteStream, env, false);
  expect([look.width, look.paint("red", "x") !== "x"]).toEqual([width, hasColours]);
  expect(lookOf(stream as NodeJS.WriteStream, env, true).width).toBe(undefined);
});

test.each([["warehouse.duckdb"], ["my data/it's [1].duckdb"], ['$HOME `x` "y" *'], ["-x"], [""]])(
  "a word is one word for a shell: %s",
  word => {
    expect(execFileSync("sh", ["-c", `printf '<%s>' ${inShell(word)}`], { encoding: "utf8" })).toBe(`<${word}>`);
  },
);
