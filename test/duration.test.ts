import { expect, test } from "vitest";
import { lateMessage } from "../src/daemon/notify/notification.ts";
import { ago, timespan } from "../src/duration.ts";

const now = Date.parse("2026-03-14T12:00:00Z");

test.each([
  [90_000, "1 min ago"],
  [59.6 * 60_000, "59 min ago"],
  [100 * 60_000, "1 h ago"],
  [47.9 * 3_600_000, "47 h ago"],
  [4.9 * 86_400_000, "4 d ago"],
])("an age of %i ms is %s, in a notification too", (ageMs, told) => {
  const completeTo = new Date(now - ageMs).toISOString();
  expect(ago(completeTo, now)).toBe(told);
  const late = lateMessage([{ company: "acme", stream: "items", completeTo, ageMs }], 3_600_000, completeTo);
  expect(late.text).toContain(` UTC, ${told};`);
});

test.each([
  [850.6, "850 ms"],
  [1_999, "1 s"],
  [59_999, "59 s"],
  [90_000, "1 min 30 s"],
  [3_599_999, "59 min 59 s"],
  [2 * 3_600_000 + 10 * 60_000 + 59_999, "2 h 10 min"],
  [48 * 3_600_000 - 1, "47 h 59 min"],
  [76.9 * 3_600_000, "3 d 4 h"],
  [-5, "0 ms"],
])("what took %d ms is told as %s", (ms, told) => {
  expect(timespan(ms)).toBe(told);
});
