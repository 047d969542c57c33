import { expect, test } from "vitest";
import { createPace } from "../../../src/sync/run/report.ts";

const looks = (...marks: readonly (readonly [seconds: number, done: number])[]) => {
  const pace = createPace();
  return marks.map(([seconds, done]) => pace.remaining("items", done, 10_000, seconds * 1000));
};

test("the time left is what is left at the speed so far", () => {
  expect(looks([0, 0], [10, 1_000], [20, 2_000])).toEqual([undefined, 90_000, 80_000]);
});

test("nothing is said before there is a speed, without progress, and when nothing is left", () => {
  expect(looks([0, 0], [2, 500])).toEqual([undefined, undefined]);
  expect(looks([0, 100], [30, 100])).toEqual([undefined, undefined]);
  expect(looks([0, 0], [30, 10_000])).toEqual([undefined, undefined]);
});

test("the last minute counts, however seldom or often one looks", () => {
  // 100 a second for ten minutes' worth of marks would hide that it is 10 a second now.
  const quick = Array.from({ length: 31 }, (_, second) => [second, second * 100] as const);
  const slow = Array.from({ length: 601 }, (_, tenth) => [31 + tenth / 5, 3_000 + tenth * 2] as const);
  expect(looks(...quick, ...slow).at(-1)).toBe((10_000 - 4_200) * 100);
  expect(looks([0, 0], [30, 3_000], [60, 3_300], [90, 3_600], [120, 3_900]).at(-1)).toBe(610_000);
});

test("work that begins anew is measured afresh", () => {
  expect(looks([0, 0], [10, 5_000], [20, 0], [30, 1_000])).toEqual([undefined, 10_000, undefined, 90_000]);
});

test("each piece of work has its own speed", () => {
  const pace = createPace();
  pace.remaining("items", 0, 100, 0);
  pace.remaining("orders", 0, 100, 0);
  expect([pace.remaining("items", 10, 100, 10_000), pace.remaining("orders", 50, 100, 10_000)]).toEqual([
    90_000, 10_000,
  ]);
});
