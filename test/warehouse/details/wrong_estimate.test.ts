import { expect, test } from "vitest";
import { inAWeek } from "../../../src/operations/estimate/plan.ts";
import { divide, longestWait } from "../../../src/warehouse/details/planner.ts";
import { bounded, estimateWrong, foundADay, type SampleRow } from "../../../src/warehouse/details/wrong_estimate.ts";

const night = (day: number, more: Partial<SampleRow>): SampleRow => ({
  planned_at: new Date(Date.UTC(2026, 2, day, 2)),
  ...{ looks: 0, found: 0, sampled: 0, wrong: 0, live: 10_000, fetched: 200 },
  ...{ active_live: 0, active_fetched: 0, active_sampled: 0, late: 0 },
  ...more,
});

// The exact interval of 90 % for a Poisson count.
test.each([
  [0, 0, 2.996],
  [1, 0.0513, 4.744],
  [2, 0.355, 6.296],
  [3, 0.818, 7.754],
  [5, 1.97, 10.513],
  [10, 5.425, 16.962],
  [20, 13.255, 29.062],
  [100, 84.14, 118.08],
])("%d finds have the bounds of a Poisson count, %d to %d", (found, low, high) => {
  const interval = bounded(found, 1_000, 0.5);
  expect(interval.share).toBe(found / 2_000);
  expect(Math.abs(interval.high / (high / 2_000) - 1)).toBeLessThan(0.01);
  // Below three finds the approximation gives less, which only widens the interval.
  expect(interval.low).toBeLessThanOrEqual((low / 2_000) * 1.01);
  if (found >= 3) expect(interval.low).toBeGreaterThan((low / 2_000) * 0.98);
});

test("nights are pooled, and what the last one fetched is right", () => {
  const rows = [
    night(10, { sampled: 100, wrong: 10, live: 8_000, fetched: 400 }),
    night(9, { sampled: 60, wrong: 3, fetched: 9_000 }),
  ];
  const { wrong, sampled } = estimateWrong(rows)!;
  expect(sampled).toBe(160);
  expect(wrong.share).toBeCloseTo((0.95 * 13) / 160, 12);
  expect(wrong.low).toBeLessThan(wrong.share);
  expect(wrong.high).toBeGreaterThan(wrong.share);
});

test("how many active ones are as fresh as promised is told by looks at these alone", () => {
  const rows = [
    night(9, { sampled: 90, active_live: 500, active_fetched: 300, active_sampled: 40, late: 1.5 }),
    night(10, { sampled: 90, active_live: 500, active_fetched: 100, active_sampled: 20, late: 3 }),
  ];
  const { fresh } = estimateWrong(rows)!;
  expect(fresh!.share).toBeCloseTo(1 - (0.8 * 4.5) / 60, 12);
  expect(fresh!.low).toBeLessThan(fresh!.share);
  expect(fresh!.high).toBeGreaterThan(fresh!.share);
  expect(estimateWrong(rows.map(row => ({ ...row, active_sampled: 0, late: 0 })))!.fresh).toBeNull();
});

test("without a look there is no estimate; without a find its upper bound is three looks' worth", () => {
  expect(estimateWrong([])).toBeUndefined();
  expect(estimateWrong([night(1, { looks: 100 })])).toBeUndefined();
  const { wrong } = estimateWrong([night(1, { sampled: 98 })])!;
  expect(wrong).toMatchObject({ share: 0, low: 0 });
  expect(wrong.high).toBeCloseTo((0.98 / 98) * 3, 2);
});

test.each([
  ["a night alone", [night(1, { found: 40 })], 40],
  ["a week", [1, 2, 3, 4, 5, 6, 7].map(day => night(day, { found: 10 * day })), 40],
  ["every other night", [1, 3, 5].map(day => night(day, { found: 20 })), 12],
])("changes a day that looks found: %s", (_, nights, expected) => {
  expect(foundADay(nights)).toBe(expected);
});

test.each([
  ["as many looks keep it", 0.02, 40, 400, 0.02, 0.02],
  ["no look lets it grow", 0.02, 40, 0, 0.048, 0.048],
  ["twice as many bring it towards the half", 0.02, 40, 800, 0.01, 0.012],
  ["half as many towards the double", 0.02, 40, 200, 0.03, 0.033],
  ["where nothing changes nothing will be wrong", 0, 0, 400, 0, 0],
])("a week on, with 400 looks a night before: %s", (_, wrong, found, looks, least, most) => {
  const nights = [1, 2].map(day => night(day, { looks: 400, found }));
  const share = inAWeek(wrong, nights, looks);
  expect(share).toBeGreaterThanOrEqual(least - 1e-9);
  expect(share).toBeLessThanOrEqual(most + 1e-9);
});

test.each([
  [1_000, 0, { caused: 0, oldest: 300, sample: 100, index: 600 }],
  [1_000, 250, { caused: 250, oldest: 225, sample: 75, index: 450 }],
  [1_000, 5_000, { caused: 600, oldest: 120, sample: 40, index: 240 }],
  // A small warehouse's causes are served beyond the budget, and take no more of it than a large one's.
  [10, 80, { caused: 80, oldest: 2, sample: 1, index: 1 }],
  [10, 300, { caused: 100, oldest: 2, sample: 1, index: 1 }],
  // Nobody starves even where there is no look left for the sample.
  [1, 0, { caused: 0, oldest: 1, sample: 0, index: 0 }],
  [0, 0, { caused: 0, oldest: 0, sample: 0, index: 0 }],
])("a budget of %d with %d causes is divided", (budget, causes, expected) => {
  expect(divide(budget, causes)).toEqual(expected);
});

test("the longest wait follows from the share: 167 nights at 2 % without causes, 417 where they take all they may", () => {
  expect(longestWait(0.02, 0)).toBe(167);
  expect(longestWait(0.02)).toBe(417);
  expect(longestWait(0.1, 0)).toBe(34);
  for (const [parents, budget, causes] of [
    [50_000, 1_000, 0],
    [700, 14, 0],
    [50_000, 1_000, 5_000],
  ] as const) {
    const nights = Math.ceil(parents / divide(budget, causes).oldest);
    expect(nights).toBeLessThanOrEqual(longestWait(budget / parents, causes === 0 ? 0 : undefined));
  }
});
