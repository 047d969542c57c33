import { expect, test } from "vitest";
import { cronFault, nextTimes, soonest } from "../../src/config/cron.ts";

const iso = (times: readonly number[]) => times.map(time => new Date(time).toISOString());
const times = (cron: string, timezone: string, after: string, count: number) =>
  iso(nextTimes({ cron, timezone }, Date.parse(after), count));

test("a night in Berlin stays at its local time when summer time begins and ends", () => {
  expect(times("0 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 3)).toEqual([
    "2026-03-28T01:00:00.000Z",
    "2026-03-29T01:00:00.000Z",
    "2026-03-30T00:00:00.000Z",
  ]);
  expect(times("30 3 * * *", "Europe/Berlin", "2026-10-24T00:00:00Z", 3)).toEqual([
    "2026-10-24T01:30:00.000Z",
    "2026-10-25T02:30:00.000Z",
    "2026-10-26T02:30:00.000Z",
  ]);
});

test.each(["30 2 * * *", "30 2,14 * * *"])("%s, skipped by summer time, is due right after the jump", cron => {
  expect(times(cron, "Europe/Berlin", "2026-03-28T20:00:00Z", 1)).toEqual(["2026-03-29T01:00:00.000Z"]);
});

test.each(["30 2 * * *", "30 2,20 * * *"])("%s, which winter time repeats, is due once", cron => {
  const due = times(cron, "Europe/Berlin", "2026-10-24T22:00:00Z", 9);
  const thatMorning = due.filter(at => at < "2026-10-25T06:00:00.000Z");
  expect(thatMorning).toEqual(["2026-10-25T00:30:00.000Z"]);
});

test("every hour goes by real time through both changes", () => {
  for (const [after, hours] of [
    ["2026-03-28T23:30:00Z", 4],
    ["2026-10-24T23:30:00Z", 4],
  ] as const) {
    const due = nextTimes({ cron: "0 * * * *", timezone: "Europe/Berlin" }, Date.parse(after), hours);
    expect(due.map((at, index) => at - Date.parse(after) - index * 3_600_000)).toEqual(Array(hours).fill(1_800_000));
  }
});

test("seconds may stand first, and an occurrence is never its own next", () => {
  expect(times("*/20 * * * * *", "UTC", "2026-01-01T00:00:00.500Z", 3)).toEqual([
    "2026-01-01T00:00:20.000Z",
    "2026-01-01T00:00:40.000Z",
    "2026-01-01T00:01:00.000Z",
  ]);
  expect(times("0 2 * * *", "UTC", "2026-01-01T02:00:00.000Z", 1)).toEqual(["2026-01-02T02:00:00.000Z"]);
});

test.each([
  ["61 2 * * *", "Invalid value for minute: 61"],
  ["0 2 * *", "exactly five"],
  ["0 2 * * 8", "Invalid value for dayOfWeek: 8"],
  ["0 0 2 * * * 2020", "5 or 6 parts"],
  ["H 2 * * *", "illegal characters"],
  ["0 0 30 2 *", "the calendar has no such day"],
])("%s is refused: %s", (cron, why) => {
  const fault = cronFault({ cron, timezone: "UTC" }, Date.parse("2026-01-01T00:00:00Z"));
  expect(fault).toMatch(/^expected /);
  expect(fault).toContain(why);
});

test("the soonest of several schedules, in several zones", () => {
  const schedules = [
    { name: "nightly", cron: "0 2 * * *", timezone: "UTC" },
    { name: "berlin", cron: "30 3 * * *", timezone: "Europe/Berlin" },
    { name: "broken", cron: "61 * * * *", timezone: "UTC" },
  ];
  expect(soonest(schedules, Date.parse("2026-07-01T00:00:00Z"))).toEqual({
    schedule: "berlin",
    at: Date.parse("2026-07-01T01:30:00Z"),
  });
  expect(soonest(schedules.slice(2), 0)).toBeUndefined();
});
