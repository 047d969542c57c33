import { expect, test } from "vitest";
import { type Figure, isMet, median, ratioOf } from "../../bench/figure.ts";

const figure = (measured: number, more: Partial<Figure> = {}): Figure => ({
  part: "cpu",
  figure: "first load",
  unit: "ms",
  measured,
  ...more,
});
const against = (value: number) => ({ against: { what: "floor", value } });

test("a ratio is measured to what it is held against, and there is none without", () => {
  expect(ratioOf(figure(30, against(20)))).toBe(1.5);
  expect(ratioOf(figure(30))).toBeUndefined();
});

test("nothing beside nothing is alike, something beside nothing is no ratio that a target takes", () => {
  expect(ratioOf(figure(0, against(0)))).toBe(1);
  const most: Partial<Figure> = { target: { of: "ratio", most: 1_000_000 } };
  expect(isMet(figure(0, { ...against(0), ...most }))).toBe(true);
  expect(isMet(figure(1, { ...against(0), ...most }))).toBe(false);
});

test.each([
  ["ratio", 1.5, 30, 20, true],
  ["ratio", 1.5, 31, 20, false],
  // A target of the ratio doesn't look at the figure itself, nor the other way round.
  ["ratio", 2, 1_000, 900, true],
  ["measured", 30, 30, 1, true],
  ["measured", 30, 30.1, 1_000, false],
] as const)("a target of %s at most %d: %d beside %d is met: %s", (of, most, measured, value, met) => {
  expect(isMet(figure(measured, { ...against(value), target: { of, most } }))).toBe(met);
});

test("a figure without a target is neither met nor missed; a ratio beside nothing and no number are missed", () => {
  expect(isMet(figure(30, against(1)))).toBeUndefined();
  expect(isMet(figure(30, { target: { of: "ratio", most: 2 } }))).toBe(false);
  expect(isMet(figure(Number.NaN, { target: { of: "measured", most: 2 } }))).toBe(false);
});

test("the median is the middle one by size, or the mean of the two in the middle, and leaves the list as it was", () => {
  const odd = [100, 2, 30];
  expect(median(odd)).toBe(30);
  expect(odd).toEqual([100, 2, 30]);
  expect(median([9, 100, 2, 30])).toBe(19.5);
  expect(median([5])).toBe(5);
});
