import { expect, test } from "vitest";
import { Numeral } from "../src/numeral.ts";

test("a numeral is written back as it was read", () => {
  expect(JSON.stringify({ a: new Numeral("12345678901234567.123456789") })).toBe('{"a":12345678901234567.123456789}');
});
