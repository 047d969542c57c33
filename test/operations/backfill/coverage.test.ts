import { expect, test } from "vitest";
import { createCoverage } from "../../../src/sync/extract/windows.ts";

const window = (from: string, to: string | null, done = false) => ({ from, to, cursor: null, pages: 0, done });
const micros = (day: string) => Date.parse(day) * 1000;
const now = Date.parse("2026-03-31");

test("rows left follow from the share of time that the rows so far cover, whichever way a page is sorted", () => {
  const windows = [
    window("2026-03-01", null),
    window("2026-02-01", "2026-03-01", true),
    window("2026-01-02", "2026-02-01"),
  ];
  const coverage = createCoverage(windows, now);
  expect(coverage.rowsLeft(0)).toBeUndefined();
  coverage.page(0, windows[0]!, [micros("2026-03-30"), micros("2026-03-16")]);
  expect(coverage.rowsLeft(100)).toBeUndefined();
  // Fifteen of thirty days, and thirty more to come.
  expect(coverage.rowsLeft(1_000)).toBe(3_000);
  coverage.page(2, windows[2]!, [micros("2026-01-05"), micros("2026-01-17")]);
  expect(coverage.rowsLeft(2_000)).toBe(2_000);
  coverage.page(0, { ...windows[0]!, done: true }, []);
  coverage.page(2, { ...windows[2]!, done: true }, [micros("2026-01-20")]);
  expect(coverage.rowsLeft(4_000)).toBe(0);
});

test("a page in no order of time says nothing of how far a window was read", () => {
  const windows = [window("2026-03-01", null), window("2026-01-30", "2026-03-01")];
  const coverage = createCoverage(windows, now);
  coverage.page(0, windows[0]!, [
    micros("2026-03-30"),
    micros("2026-03-01"),
    micros("2026-03-16"),
    micros("2026-03-02"),
  ]);
  expect(coverage.rowsLeft(1_000)).toBeUndefined();
  coverage.page(0, { ...windows[0]!, done: true }, []);
  expect(coverage.rowsLeft(3_000)).toBe(3_000);
});
