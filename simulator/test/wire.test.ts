import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonBytes } from "../wire.ts";

test("an answer's bytes are those of JSON.stringify, whatever stands in it", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.anything({ maxDepth: 4 })), body => {
      fc.pre(JSON.stringify(body) !== undefined);
      expect(jsonBytes(body).toString()).toBe(Buffer.from(JSON.stringify(body)).toString());
    }),
  );
});

test("raw numerals keep their digits at every depth, and an absent member is left out", () => {
  const raw = JSON.rawJSON("12345678901234567.123456789");
  const body = {
    a: raw,
    b: { c: raw, d: undefined, rows: [raw, { e: raw, f: "漢字 🔩" }] },
    g: [],
    h: {},
    i: undefined,
  };
  expect(jsonBytes(body).toString()).toBe(JSON.stringify(body));
});
