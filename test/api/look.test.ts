import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { losesDigits, parseJson } from "../../src/api/body.ts";
import { longRunFrom, lookAt, MOST_LOOKED_AT } from "../../src/api/look.ts";
import { assembled } from "./assemble.ts";

test("body_wasm.ts is what body.wat makes", async () => {
  expect(await readFile(join(import.meta.dirname, "../../src/api/body_wasm.ts"), "utf8")).toBe(await assembled());
});

const units = [
  "a",
  "é",
  "ÿ",
  "Ā",
  "߿",
  "ࠀ",
  "–",
  "\ud7ff",
  "\ue000",
  "\uffff",
  "😀",
  "\u{10ffff}",
  "\u2028",
  "\\",
  '"',
  "\n",
];
const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.array(fc.constantFrom(...units)).map(all => all.join("")),
);
const json = fc.oneof(
  fc.json({ stringUnit: "grapheme" }),
  fc.array(text).map(all => JSON.stringify(all)),
  fc.dictionary(text, text).map(all => JSON.stringify(all)),
);
/** What a connection, or a service, may have broken: bytes left out, put in, or replaced. */
const broken = fc
  .tuple(json, fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(0x5c, 0x80, 0xbf, 0xc1, 0xe0, 0xed, 0xf4, 0xff))))
  .map(([whole, damages]) => {
    const bytes = [...Buffer.from(whole)];
    for (const [place, left, byte] of damages)
      bytes.splice(place % (bytes.length + 1), left, ...(left === 2 ? [] : [byte]));
    return Buffer.from(bytes);
  });

const parsed = (read: () => unknown): unknown => {
  try {
    return { value: read() };
  } catch {
    return "not JSON";
  }
};

describe("a look at a body", () => {
  test("gives a text that says what the bytes say, or none", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          json.map(whole => Buffer.from(whole)),
          broken,
        ),
        bytes => {
          const { text: narrow } = lookAt(bytes);
          if (narrow === undefined) return;
          expect(/^[\0-\xff]*$/.test(narrow)).toBe(true);
          expect(parsed(() => JSON.parse(narrow))).toEqual(parsed(() => JSON.parse(bytes.toString("utf8"))));
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test("gives one for all UTF-8 but that with a backslash before what is beyond ASCII", () => {
    fc.assert(
      fc.property(json, whole => {
        const isPlain = !/\\[^\0-\x7f]/.test(whole);
        expect(lookAt(Buffer.from(whole)).text !== undefined).toBe(isPlain);
      }),
      { numRuns: 5_000 },
    );
    // Cut off, too long for what they say, half of a pair, beyond the last character.
    for (const wrong of ["c3", "e280", "c080", "e09fbf", "f08fbfbf", "eda080", "f4908080", "f8888080", "80"])
      expect(lookAt(Buffer.from(`22${wrong}22`, "hex")).text).toBeUndefined();
  });

  const numerals = fc.array(fc.constantFrom(...'0019.eE+-/ ,x"', "1e400", "1234567890123456"), { maxLength: 60 });
  test("tells powers of ten of three digits, wherever they stand", () => {
    fc.assert(
      fc.property(numerals, all => {
        const bytes = Buffer.from(all.join(""));
        expect(lookAt(bytes).mayBeFar).toBe(/\d[eE][+-]?\d{3}/.test(bytes.toString()));
      }),
      { numRuns: 20_000 },
    );
  });

  test("tells long runs of digits, wherever they stand, and numerals that lose some", () => {
    fc.assert(
      fc.property(numerals, all => {
        const bytes = Buffer.from(all.join(""));
        lookAt(bytes);
        for (const { 0: run, index } of bytes.toString().matchAll(/[\d./]{16,}/g)) {
          const place = longRunFrom(index, bytes.length);
          expect(place).toBeGreaterThanOrEqual(index);
          expect(place).toBeLessThan(index + run.length);
        }
        expect(losesDigits(bytes, true)).toBe(losesDigits(bytes));
      }),
      { numRuns: 20_000 },
    );
  });

  test("is not given to bodies that it has no room for: they are read all the same", () => {
    // Of the second text is made more than there is room for, too.
    const texts = ["–".repeat(MOST_LOOKED_AT / 3 + 10), "Ā".repeat(MOST_LOOKED_AT / 2 - 100)];
    for (const text of [...texts, texts[0]!.slice(100)]) {
      const value = { text, more: "é😀" };
      const bytes = Buffer.from(JSON.stringify(value).replace("{", '{"far":[1e400,12345678901234567890],'));
      expect(JSON.parse(JSON.stringify(parseJson(bytes)))).toMatchObject(value);
      expect(parseJson(bytes)).toMatchObject({ far: [{ text: "1e400" }, { text: "12345678901234567890" }] });
    }
  });
});
