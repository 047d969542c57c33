import { expect, test } from "vitest";
import { complaints, type Findings, findingsInTexts, lowered } from "./lint.ts";
import { findingsIn } from "./rules.ts";

const sentence = (words: number) => `It ${"reads ".repeat(words - 2)}on.`;
const short = " It ends.".repeat(3);

test.each([
  ["a sentence begins with who does it", "The service sends a row.", []],
  ["a clause without a subject is found", "What the service sends is stored.", ["beginning"]],
  ["each sentence of a paragraph is read", "That\nit is. It ends. **Of these** one.", ["beginning", "beginning"]],
  ["an item of a list is read", "- (nobody reads it at night)", ["beginning"]],
  ["a label of a list is not", "- what else", []],
  ["What may begin a question, Somebody may not", "What is it? Somebody may ask?", ["beginning"]],
  ["code may end a sentence", "It calls `a`. What follows is text.", ["beginning"]],
  ["code may be any word", "`What` is here, What stands inside, Whatever follows. It knows `told`.", []],
  ["headings, cells and blocks of code are no sentences", "# What\n\n| that |\n|---|\n| Of it |\n\n```\nWhat\n```", []],
  ["30 words are not too long", sentence(30) + short, []],
  ["31 words are", sentence(31) + short, ["length"]],
  ["a piece of code is one word", sentence(30).replace("on.", "`on and on`.") + short, []],
  ["a heading has no length", `# ${sentence(31)}`, []],
  ["18 words on average are not too many", `${sentence(18)} ${sentence(17)}\n\n- ${sentence(19)}`, []],
  ["more than 18 are", `${sentence(18)} ${sentence(18)}\n\n- ${sentence(19)}`, ["average"]],
  ["each retired word is found", "It is told, and asked. It goes\non with it.", ["retired", "retired", "retired"]],
  ["headings and cells have words", "# Deletes held back\n\n| as is said |\n|---|", ["retired", "retired"]],
  ["a link's address and other words have none", "A [link](told.md) foretold it.", []],
  ["a passive hides who shows or says it", "Rows are shown, as was said.", ["passive", "passive"]],
  ["a retired word is one finding in a passive, too", "The page was asked.", ["retired"]],
  ["the spelling is American", "# Licence\n\nA behaviour of the organisation.", ["american", "american", "american"]],
  ["American words and the catalogue stay", "A license, a color, an organism, a catalogue.", []],
])("%s", async (_, text, rules) => {
  expect((await findingsIn(text)).map(({ rule }) => rule)).toEqual(rules);
});

test("American words take the place of British ones", async () => {
  const findings = await findingsIn("Favourite colours, licences, behaviour, centre, organising, recognised.");
  expect(findings.map(({ message }) => /Write "(\w+)"/.exec(message)?.[1])).toEqual([
    "Favorite",
    "colors",
    "licenses",
    "behavior",
    "center",
    "organizing",
    "recognized",
  ]);
});

test("a finding has the sentence's line and beginning, the problem and what to write", async () => {
  expect(await findingsIn("# Runs\n\n- It ends. It\n  ends.\n  Whoever `reads` it, knows.")).toEqual([
    {
      rule: "beginning",
      line: 5,
      message: `"Whoever \`reads\` it, knows." begins with "Whoever". Begin with who does it.`,
    },
  ]);
});

test("a finding in a help text has the option's name", async () => {
  const texts = new Map([
    ["the colour of it", "tributary report --dark"],
    ["rows that were asked for", "tributary sync --full"],
  ]);
  expect((await findingsInTexts(texts)).map(({ place }) => place)).toEqual([...texts.values()]);
});

const placed = { page: "a.md", rule: "length" };
const found: Findings = new Map([
  ["a.md length", [1, 2].map(line => ({ ...placed, place: `a.md:${line}`, message: `sentence ${line}` }))],
]);

test.each([
  ["as many findings as counted are no complaint", { "a.md length": 2 }, []],
  [
    "a page above its count is named, with its findings",
    { "a.md length": 1 },
    [
      "a.md:1: sentence 1",
      "a.md:2: sentence 2",
      expect.stringMatching(/^a\.md length: 2 findings, expected 1 .* Mend 1 of/),
    ],
  ],
  ["a new page may have no findings", {}, expect.arrayContaining(["a.md:1: sentence 1"])],
  [
    "fewer findings call for a lower count",
    { "a.md length": 3 },
    [expect.stringMatching(/^a\.md length: 2 findings, expected 3 .*--lower/)],
  ],
  [
    "a page that is gone leaves the counts",
    { "a.md length": 2, "c.md length": 1 },
    [expect.stringMatching(/^c\.md length: 0 findings, expected 1/)],
  ],
])("%s", (_, counts, expected) => {
  expect(complaints(found, counts)).toEqual(expected);
});

test("counts are lowered, never raised", () => {
  expect(lowered(found, { "a.md length": 1 })).toEqual({ "a.md length": 1 });
  expect(lowered(found, { "a.md length": 3, "b.md length": 1, "c.md length": 1 })).toEqual({ "a.md length": 2 });
});
