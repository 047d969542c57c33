import { expect, test } from "vitest";
import { compare, covered, figuresOf, quarterOf } from "./figures.ts";
import { mixes } from "./world.ts";

const ORDERS = 6_000;
const mixed = mixes.find(({ name }) => name === "mixed")!;

test("the planner leaves a third of the wrong details that the audit before it left, with as many requests", async () => {
  const quarters = await compare(ORDERS, mixed, 1);
  const figures = new Map(figuresOf(mixed, quarters).map(({ name, value }) => [name, value]));
  // A world of an eighth of the orders teaches less than that of npm run prove:fresh, whose figures are stricter.
  expect(figures.get("wrong share, ratio")).toBeLessThan(0.36);
  expect(figures.get("behind 7 days, ratio")).toBeLessThan(0.3);
  expect(figures.get("delay of 95 %, ratio")).toBeLessThan(0.4);
  expect(figures.get("worst morning, ratio")).toBeLessThanOrEqual(1);
  expect(figures.get("longest unseen, nights")).toBeLessThanOrEqual(167);
  expect(figures.get("requests, ratio")).toBe(1);
});

test("the interval covers the true share of wrong details on nine of ten mornings, by the sample alone", async () => {
  const { wrong, fresh } = await covered(ORDERS, mixed, 2);
  expect(wrong).toBeGreaterThanOrEqual(70);
  expect(fresh).toBeGreaterThanOrEqual(70);
});

test("the figures are those of the nights after the first thirty", () => {
  const night = {
    live: 100,
    wrong: 50,
    adverse: 0,
    behind: 20,
    active: 10,
    fresh: 9,
    longestUnseen: 500,
    requests: 1_000,
  };
  const late = { live: 100, wrong: 10, adverse: 2, behind: 4, active: 10, fresh: 10, longestUnseen: 90, requests: 2 };
  const mornings = [...Array(30).fill(night), ...Array(90).fill(late)];
  const delays = [...Array(30).fill([300]), ...Array(90).fill([1, 3])];
  const { mornings: counted, ...figures } = quarterOf({ mornings, delays });
  expect(counted).toHaveLength(90);
  expect(figures).toEqual({
    delay: 3,
    wrong: expect.closeTo(0.1),
    adverse: expect.closeTo(0.02),
    behind: expect.closeTo(0.04),
    longestUnseen: 90,
    requests: 180,
  });
});
