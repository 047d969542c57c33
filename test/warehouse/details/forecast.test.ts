import { expect, test } from "vitest";
import {
  forecastAfter,
  presentForecast,
  shareKeeping,
  type UnseenDetail,
} from "../../../src/warehouse/details/forecast.ts";

const many = (count: number, rate: number, days: number, isActive = true): UnseenDetail[] =>
  Array.from({ length: count }, () => ({ rate, days, isActive }));

test("what is wrong now follows from rates and from how long details are unseen; what is late from the active ones alone", () => {
  const details = [...many(1, 0.1, 10), ...many(1, 0.1, 0), ...many(2, 0.001, 100, false)];
  const { wrong, late } = presentForecast(details, 2);
  expect(wrong).toBeCloseTo((1 - Math.exp(-1) + 2 * (1 - Math.exp(-0.1))) / 4, 12);
  expect(late).toBeCloseTo((1 - Math.exp(-0.8)) / 2, 12);
  expect(presentForecast([], 2)).toEqual({ wrong: 0, late: 0 });
});

test("with all of them looked at each night nothing is wrong; without a look time alone passes", () => {
  const details = many(50, 0.05, 20);
  const how = { nights: 30, caused: 0, withinDays: 2 };
  expect(forecastAfter(details, { ...how, share: 1 })).toEqual({ wrong: 0, late: 0 });
  expect(forecastAfter(details, { ...how, share: 0 }).wrong).toBeCloseTo(1 - Math.exp(-0.05 * 50), 12);
});

test("looks go where they are worth most, the longest unseen and some by chance have theirs too; causes leave fewer", () => {
  const details = [...many(100, 0.2, 30), ...many(900, 0.0001, 30, false)];
  const how = { nights: 30, withinDays: 2, share: 0.05 };
  const planned = forecastAfter(details, { ...how, caused: 0 });
  // A round robin would leave each unseen for ten days on average, and six of seven of the lively ones wrong.
  expect(planned.wrong).toBeLessThan(0.05);
  expect(forecastAfter(details, { ...how, caused: 0.6 }).wrong).toBeGreaterThan(planned.wrong);
});

test("the smallest share of looks that keeps a promise is found, and that none does", () => {
  const how = { nights: 30, caused: 0, withinDays: 2, promised: 0.9 };
  const details = many(200, 0.1, 5);
  const share = shareKeeping(details, how)!;
  expect(1 - forecastAfter(details, { ...how, share }).late).toBeGreaterThanOrEqual(0.9);
  expect(1 - forecastAfter(details, { ...how, share: 0.7 * share }).late).toBeLessThan(0.9);
  expect(shareKeeping(many(200, 1e-9, 5), how)).toBeLessThan(0.01);
  expect(shareKeeping(details, { ...how, withinDays: 0, caused: 1 })).toBeUndefined();
});
