import { styleText } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cutText, formatTable, textWidth } from "../../../src/cli/terminal/table.ts";

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
