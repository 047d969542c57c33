import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/rows/json.ts";
import { fields, row } from "./reading.ts";
import { encode } from "./store.ts";

const deep = (levels: number): string => `${"[".repeat(levels)}1${"]".repeat(levels)}`;

/** The main rows' fields; `_extra` and `_problems` stand last. */
async function lines(rows: readonly unknown[]): Promise<string[][]> {
  const { batch } = await encode(rows);
  return batch.main.bytes.toString("utf8").trimEnd().split("\n").map(fields);
}

/** An object that can be written at some of its readings alone. */
function moody(readings: readonly number[]): object {
  let readers = 0;
  return {
    get x() {
      if (!readings.includes(++readers)) throw new RangeError("Invalid string length");
      return 1;
    },
  };
}

describe("at the edge of what JSON may be nested", () => {
  test.each([497, 498, 499, 500, 501, 502])("%i levels are stored, or a problem of their own row", async levels => {
    const nested = deep(levels);
    const [first, second] = await lines([
      row(`{"id":"k","text":${nested},"more":${nested},"other":[2]}`),
      row('{"id":"l"}'),
    ]);
    const problems = JSON.parse(first!.at(-1)!);
    const extra = JSON.parse(first!.at(-2)!);
    expect(extra).toEqual({ other: [2], ...(levels < 500 ? { more: JSON.parse(nested) } : {}) });
    expect(Object.keys(problems)).toEqual([...(levels < 500 ? [] : ["_extra"]), "text"]);
    const kept = levels < 499 ? { value: JSON.parse(nested) } : {};
    expect(problems.text).toEqual({ ...kept, reason: "expected text, got a value of type array" });
    expect(second!.slice(-2)).toEqual(["NULL", "NULL"]);
    for (const json of [first!.at(-1)!, first!.at(-2)!]) expect(() => canonicalJson(JSON.parse(json))).not.toThrow();
  });

  test("where the problems' values can't be written together the reasons are", async () => {
    const [line] = await lines([{ id: "k", text: moody([1, 2, 4]), count: "x" }]);
    expect(JSON.parse(line!.at(-1)!)).toEqual({
      count: { reason: "expected a whole number, got other text" },
      text: { reason: "expected text, got a value of type object" },
    });
  });

  test("unknown fields that can't be written in the end are no problem of the next row", async () => {
    const [first, second] = await lines([{ id: "k", more: moody([2, 3]) }, { id: "l" }]);
    expect(first!.at(-2)).toBe("NULL");
    expect(JSON.parse(first!.at(-1)!)).toEqual({ _extra: { value: null, reason: "Invalid string length" } });
    expect(second!.slice(-2)).toEqual(["NULL", "NULL"]);
  });
});
