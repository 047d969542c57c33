import { expect, test } from "vitest";
import { covered, figuresOf, quarterOf } from "./figures.ts";
import { mixes } from "./world.ts";

const ORDERS = 6_000;
const mixed = mixes.find(({ name }) => name === "mixed")!;

test("the planner leaves no more wrong details, and none unseen for longer, than npm run prove:fresh demands", async () => {
  for (const { name, value, most = Number.POSITIVE_INFINITY } of await figuresOf(ORDERS, mixed, 1))
    expect(value, name).toBeLessThanOrEqual(most);
});

test("the interval covers the true share of wrong details on nine of ten mornings, by the sample alone", async () => {
  const { wrong, fresh } = await covered(ORDERS, mixed, 2);
  expect(wrong).toBeGreaterThanOrEqual(70);
  expect(fresh).toBeGreaterThanOrEqual(70);
});

test("the figures are those of the nights after the first thirty", () => {
  const night = { live: 100, wrong: 50, adverse: 0, active: 10, fresh: 9, longestUnseen: 500 };
  const late = { live: 100, wrong: 10, adverse: 2, active: 10, fresh: 10, longestUnseen: 90 };
  const mornings = [...Array(30).fill(night), ...Array(89).fill(late), { ...late, wrong: 20 }];
  const delays = [...Array(30).fill([300]), ...Array(90).fill([1, 3])];
  expect(quarterOf({ mornings, delays })).toEqual({
    delay: 3,
    wrong: expect.closeTo(9.1 / 90),
    adverse: expect.closeTo(0.02),
    worst: 0.2,
    longestUnseen: 90,
  });
});
