import { expect, test } from "vitest";
import type { Kind } from "../../../src/catalog/columns.ts";
import { isSame } from "../../../src/operations/verify/compare_value.ts";

test.each<[Kind, string | null, string | null, boolean]>([
  ["money", "12.5", "12.500000000", true],
  ["money", "12.5", "12.500000001", false],
  ["quantity", "-0.000000001", "-0.000000001", true],
  ["percent", "99999999999999999999999999999.999999999", "99999999999999999999999999999.999999998", false],
  ["count", "7", "8", false],
  ["score", "0.1", "0.10000000000000001", true],
  ["score", "1e21", "1e+21", true],
  ["score", "0.1", "0.1000000000000001", false],
  ["moment", "2026-03-15 12:00:00+00", "2026-03-15 12:00:00.000000", true],
  ["moment", "2026-03-15 12:00:00.25+00", "2026-03-15 12:00:00.250000", true],
  ["moment", "2026-03-15 12:00:00.25+00", "2026-03-15 12:00:00.250001", false],
  ["date", "2026-03-15", "2026-03-16", false],
  ["json", '{"a":1,"b":[1e+21]}', '{"b": [1000000000000000000000], "a": 1.0}', true],
  ["json", '{"a":9007199254740993}', '{"a":9007199254740992}', false],
  ["json", '{"a":null}', "{}", false],
  ["json", "null", null, false],
  ["text", "", null, false],
  ["text", "a", "a ", false],
  ["id", "1", "1.0", false],
  ["flag", "true", "false", false],
])("%s: %j and %j are the same: %j", (kind, a, b, same) => {
  expect(isSame(kind, a, b)).toBe(same);
  expect(isSame(kind, b, a)).toBe(same);
});
