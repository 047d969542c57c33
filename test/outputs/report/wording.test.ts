import { expect, test } from "vitest";
import { cut, isolated, widthOf } from "../../../src/outputs/html/picture.ts";
import {
  canonicalNumber,
  cleaned,
  exactNumber,
  inCurrency,
  shownNumber,
  wholeNumber,
} from "../../../src/outputs/report/format.ts";
import { freshnessOf } from "../../../src/outputs/report/freshness.ts";
import { periodUpTo } from "../../../src/outputs/report/period.ts";
import { text } from "./made.ts";

test("numbers are shown for people, and no digit is lost where all are told", () => {
  expect(shownNumber("money", "1234567.885")).toBe("1,234,567.89");
  expect(shownNumber("money", "-0.5")).toBe("-0.50");
  expect(shownNumber("price", "0.12345")).toBe("0.1235");
  expect(shownNumber("count", "12345")).toBe("12,345");
  expect(shownNumber("percent", "-12.3456")).toBe("-12.3%");
  expect(shownNumber("share", "0.2593")).toBe("25.9%");
  expect(exactNumber("12345678901234567890123456789.123456789")).toBe(
    "12,345,678,901,234,567,890,123,456,789.123456789",
  );
  expect(shownNumber("money", "12345678901234567890123456789.125")).toBe("12,345,678,901,234,567,890,123,456,789.13");
  expect(wholeNumber("99999.5")).toBe("100,000");
  expect(["10.500", "10.000", "100", "0.000", "-3.10"].map(canonicalNumber)).toEqual([
    "10.5",
    "10",
    "100",
    "0",
    "-3.1",
  ]);
  expect([shownNumber("money", "NaN"), exactNumber("Infinity")]).toEqual(["NaN", "Infinity"]);
  expect(inCurrency("5.00", null)).toBe("5.00 (currency unknown)");
});

test("a period is whole months, whatever the year", () => {
  expect(periodUpTo("2026-01-31", 3)).toEqual({
    today: "2026-01-31",
    from: "2025-10-01",
    until: "2026-01-01",
    before: "2025-07-01",
    month: "2025-12-01",
    monthBefore: "2025-11-01",
    months: ["2025-10", "2025-11", "2025-12"],
  });
  const long = periodUpTo("2026-12-01", 36);
  expect([long.from, long.before, long.months.length]).toEqual(["2023-12-01", "2020-12-01", 36]);
});

test("a long name is cut between signs as people see them, and a turned one turns nothing else", () => {
  expect(cut("short", 20)).toBe("short");
  const family = "👨‍👩‍👧‍👦";
  const cutNames = cut(family.repeat(9), 5);
  expect(cutNames).toMatch(/^(👨‍👩‍👧‍👦){1,4}…$/);
  expect(widthOf(cut("W".repeat(99), 12))).toBeLessThanOrEqual(13);
  expect(isolated("شركة")).toBe("\u2068شركة\u2069");
  expect(isolated("Łódź")).toBe("Łódź");
  expect(cleaned("  a\u202eb\n\tc\u0007 ")).toBe("ab c");
});

const source = (stream: string, completeTo: string | undefined, on = true) => ({
  stream,
  completeTo,
  lastSuccessAt: completeTo,
  lastStatus: "succeeded",
  on,
});
const now = Date.parse("2026-03-15T12:00:00Z");
const said = (...sources: ReturnType<typeof source>[]) => text(String(freshnessOf(sources, 36 * 3_600_000, now)));

test("what is late, switched off or was never complete is named; the rest is as fresh as its oldest", () => {
  const [fresh, older] = [source("a", "2026-03-15T05:10:00.000Z"), source("b", "2026-03-14T22:00:00.000Z")];
  expect(said(fresh, older)).toBe(
    "All 2 sources were fresh when this was made: complete to 2026-03-14 22:00 UTC or later.",
  );
  const late = source("c", "2026-03-12T22:00:00.000Z");
  expect(said(fresh, late, source("d", undefined), source("e", "2026-03-15T00:00:00.000Z", false))).toBe(
    "3 of 4 sources are not fresh: c (late), d (never complete), e (switched off).",
  );
  const many = Array.from({ length: 12 }, (_, index) => source(`s${index}`, undefined));
  expect(said(...many)).toMatch(
    /^12 of 12 sources are not fresh: s0 \(never complete\), .*s7 \(never complete\), and others\.$/,
  );
});
