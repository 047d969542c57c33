import { expect, test } from "vitest";
import { commentsIn, retiredLines } from "../language/comments.ts";
import { complaint, limits, lowered, sentenceAssertions, sizes } from "./size.ts";
import { importsOf } from "./sources.ts";

test.each(sizes)("the project holds its limit of $name", async ({ name, count }) => {
  expect(complaint(name, await count(), limits[name]!.limit)).toBeUndefined();
});

test("every limit belongs to a size", () => {
  expect(Object.keys(limits)).toEqual(sizes.map(({ name }) => name));
});

const raise = "Take some away, or raise the limit in test/repository/limits.json with a reason";
const lower = "Lower the limit: npm run size -- --lower";

test.each([
  [66_401, 66_400, `lines: 66,401, limit 66,400. ${raise}`],
  [66_400, 66_400, undefined],
  [65_736, 66_400, undefined],
  [65_735, 66_400, `lines: 65,735, limit 66,400. ${lower}`],
  [77, 77, undefined],
  [76, 77, `lines: 76, limit 77. ${lower}`],
])("of %i against a limit of %i the ratchet says %s", (count, limit, expected) => {
  expect(complaint("lines", count, limit)).toBe(expected);
});

test("limits are lowered to half a percent above the counts, never raised, and keep their reasons", () => {
  const present = { a: { limit: 10 }, b: { limit: 10, raised: "a feature" }, c: { limit: 10 }, d: { limit: 3000 } };
  const counts = new Map([
    ["a", 11],
    ["b", 9],
    ["c", 10],
    ["d", 2000],
  ]);
  expect(lowered(present, counts)).toEqual({ ...present, b: { limit: 9, raised: "a feature" }, d: { limit: 2010 } });
});

test.each([
  ["f(); // one", ["// one"]],
  ["/* a\n b */ x; /** c */", ["/* a\n b */", "/** c */"]],
  [`f("// a", '/* b', "\\"// c"); // d`, ["// d"]],
  [`\`// a \${ f({ b: \`// c\` }) /* d */ } // e\`; // f`, ["/* d */", "// f"]],
  ["x.replace(/[/*]\"/, '') / 2 // a", ["// a"]],
  ["a / b; // it's\n/https?:\\/\\//.test(c); // d", ["// it's", "// d"]],
])("comments of %j", (source, expected) => {
  expect(commentsIn(source).map(({ text }) => text)).toEqual(expected);
});

test.each([
  ["// What a run takes.", [1]],
  ["/** A run. Of each stream\n *  it reads all. That is it. */", [1, 2]],
  ["/**\n * Rows\n *\n * Whoever reads\n */", [4]],
  ["f(); // It was held\n     // back, and Told so.", [1, 2]],
  ["// This is what the service sends. It multitasked: That was all.", []],
  [`f("What"); // fine\ntold("asked");`, []],
])("retired words in comments of %j", (source, expected) => {
  expect(retiredLines(source)).toEqual(expected);
});

test.each([
  ["toThrow", '"no run holds it"', 1],
  ["stringMatching", "/no run [/] it/i", 1],
  ["toBe", "\n  `one of\n four words`,\n", 1],
  ["toThrow", '"three words only"', 0],
  ["toEqual", "value, 'with four more words'", 0],
  ["toHaveLength", '"no run holds it"', 0],
])("%s(%j) pins %i sentences", (matcher, literal, expected) => {
  expect(sentenceAssertions(`expect(x).${matcher}(${literal});`)).toBe(expected);
});

test.each([
  ['import { a, type B, c as d } from "../x.ts";', ["a", "B", "c"]],
  ['export type { A } from "../x.ts";', ["A"]],
  ['import * as all from "../x.ts";', ["*"]],
  ['const f = () => {\n  const { a, b: c } = await import("../x.ts");', ["a", "b"]],
  ['import "../x.ts";', []],
])("names that %j imports", (source, names) => {
  expect(importsOf("src/y/z.ts", source)).toMatchObject([{ to: "src/x.ts", names }]);
});
