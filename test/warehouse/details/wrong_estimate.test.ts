import { expect, test } from "vitest";
import { divide, longestWait } from "../../../src/warehouse/details/planner.ts";
import { bounded, estimateWrong, type SampleRow } from "../../../src/warehouse/details/wrong_estimate.ts";

const at = (day: number) => new Date(Date.UTC(2026, 2, day, 2));
const night = (day: number, bucket: number, more: Partial<SampleRow>): SampleRow => ({
  planned_at: at(day),
  bucket,
  population: 0,
  sampled: 0,
  wrong: 0,
  behind: 0,
  live: 10_000,
  fetched: 200,
  active: 0,
  active_sampled: 0,
  late: 0,
  active_live: 0,
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
])("with equal weights %d finds have the bounds of a Poisson count, %d to %d", (found, low, high) => {
  const strata = [
    { found, weight: 1 },
    { found: 0, weight: 1 },
  ];
  const interval = bounded(strata, Number.POSITIVE_INFINITY);
  expect(interval.share).toBe(found);
  expect(Math.abs(interval.high / high - 1)).toBeLessThan(0.01);
  // Below three finds the approximation gives less, which only widens the interval.
  expect(interval.low).toBeLessThanOrEqual(low * 1.01);
  if (found >= 3) expect(interval.low).toBeGreaterThan(low * 0.98);
});

test("weights that differ widen the interval: two finds of a half and one of two", () => {
  const interval = bounded(
    [
      { found: 2, weight: 0.5 },
      { found: 1, weight: 2 },
    ],
    Number.POSITIVE_INFINITY,
  );
  // Mean 3, variance 4.5, heaviest 2: 4.5/6 of chi-square at 5 % with 4 degrees, 8.5/10 of that at 95 % with 5.88.
  expect(interval.share).toBe(3);
  expect(interval.low).toBeCloseTo((4.5 / 6) * 0.711, 1);
  expect(interval.high).toBeCloseTo((8.5 / 10) * 12.41, 1);
});

test("nights are pooled, weighed by what the last night's sample was drawn from, and what it fetched is right", () => {
  const rows = [
    night(1, 0, { population: 9_000, sampled: 900, wrong: 900 }),
    night(9, 0, { population: 6_000, sampled: 60, wrong: 3, behind: 1.5 }),
    night(9, 3, { population: 3_000, sampled: 40, wrong: 10 }),
    night(10, 0, { population: 8_000, sampled: 60, wrong: 3, behind: 1.5 }),
    night(10, 3, { population: 1_600, sampled: 40, wrong: 10 }),
  ];
  const estimate = estimateWrong(rows)!;
  // Of 9,600 five of six are wrong with 6 of 120, the others with 20 of 80; 2 % were fetched. The first night is too old.
  expect(estimate.sampled).toBe(200);
  expect(estimate.wrong.share).toBeCloseTo(0.98 * ((8_000 / 9_600) * (6 / 120) + (1_600 / 9_600) * (20 / 80)), 12);
  expect(estimate.behind.share).toBeCloseTo(0.98 * (8_000 / 9_600) * (3 / 120), 12);
  for (const { low, share, high } of [estimate.wrong, estimate.behind]) {
    expect(low).toBeLessThan(share);
    expect(high).toBeGreaterThan(share);
  }
});

test("how many active ones are as fresh as promised is told by looks at these alone", () => {
  const few = { population: 900, sampled: 90, active_live: 500 };
  const rows = [
    night(9, 0, { ...few, active: 400, active_sampled: 40, late: 1 }),
    night(10, 0, { ...few, active: 390, active_sampled: 40, late: 3 }),
    night(10, 3, { ...few, active: 60, active_sampled: 30, late: 6 }),
  ];
  const { fresh } = estimateWrong(rows)!;
  // 50 of 500 were fetched for another reason, 70 by chance: of 380 left, 39 of 45 parts are late with 4 of 80, the others with 6 of 30.
  expect(fresh!.share).toBeCloseTo(1 - (380 / 500) * ((390 / 450) * (4 / 80) + (60 / 450) * (6 / 30)), 12);
  expect(fresh!.low).toBeLessThan(fresh!.share);
  expect(fresh!.high).toBeGreaterThan(fresh!.share);
  expect(estimateWrong(rows.map(row => ({ ...row, active_sampled: 0, late: 0 })))!.fresh).toBeNull();
});

test("a bucket of few looks is joined with the next one below, the lowest with the one above", () => {
  const rows = [
    night(1, 0, { population: 500, sampled: 5, wrong: 1 }),
    night(1, 1, { population: 9_000, sampled: 90, wrong: 2 }),
    night(1, 5, { population: 300, sampled: 1, wrong: 1 }),
  ];
  expect(estimateWrong(rows)!.wrong.share).toBeCloseTo((0.98 * 4) / 96, 12);
});

test("without a look there is no estimate; without a find its upper bound is three looks' worth", () => {
  expect(estimateWrong([])).toBeUndefined();
  expect(estimateWrong([night(1, 0, { population: 100 })])).toBeUndefined();
  const { wrong } = estimateWrong([night(1, 0, { population: 9_800, sampled: 98 })])!;
  expect(wrong).toMatchObject({ share: 0, low: 0 });
  expect(wrong.high).toBeCloseTo((0.98 / 98) * 3, 2);
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
