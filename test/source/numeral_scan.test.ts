import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { losesDigits, parseJson } from "../../src/source/body.ts";
import { lookAt, MOST_LOOKED_AT } from "../../src/source/numeral_scan.ts";
import { assembled } from "./assemble.ts";

test("body_wasm.ts is what body.wat makes", async () => {
  expect(await readFile(join(import.meta.dirname, "../../src/source/body_wasm.ts"), "utf8")).toBe(await assembled());
});

describe("a look at a body", () => {
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
        const look = lookAt(bytes);
        for (const { 0: run, index } of bytes.toString().matchAll(/[\d./]{16,}/g)) {
          const place = look.longRunFrom(index);
          expect(place).toBeGreaterThanOrEqual(index);
          expect(place).toBeLessThan(index + run.length);
        }
        expect(losesDigits(bytes, look)).toBe(losesDigits(bytes));
      }),
      { numRuns: 20_000 },
    );
  });

  test("is not given to bodies that it has no room for: they are read all the same", () => {
    for (const more of [-100, 10]) {
      const text = "a".repeat(MOST_LOOKED_AT + more);
      const value = { text, more: "é😀" };
      const bytes = Buffer.from(JSON.stringify(value).replace("{", '{"far":[1e400,12345678901234567890],'));
      expect(JSON.parse(JSON.stringify(parseJson(bytes)))).toMatchObject(value);
      expect(parseJson(bytes)).toMatchObject({ far: [{ text: "1e400" }, { text: "12345678901234567890" }] });
    }
  });
});
