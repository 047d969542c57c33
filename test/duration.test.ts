import { expect, test } from "vitest";
import { formatAge } from "../src/cli/terminal/timespan.ts";
import { lateMessage } from "../src/daemon/notify/message.ts";
import { ago } from "../src/daemon/page/wording.ts";

const now = Date.parse("2026-03-14T12:00:00Z");

test.each([
  [90_000, "1 min ago"],
  [59.6 * 60_000, "59 min ago"],
  [100 * 60_000, "1 h ago"],
  [47.9 * 3_600_000, "47 h ago"],
  [4.9 * 86_400_000, "4 d ago"],
])("an age of %i ms is %s on the terminal, on the page and in a notification", (ageMs, told) => {
  const completeTo = new Date(now - ageMs).toISOString();
  expect([formatAge(completeTo, now), ago(completeTo, now)]).toEqual([told, told]);
  const late = lateMessage([{ company: "acme", stream: "items", completeTo, ageMs }], 3_600_000, completeTo);
  expect(late.text).toContain(` UTC, ${told};`);
});
