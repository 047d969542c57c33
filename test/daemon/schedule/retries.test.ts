import { expect, test } from "vitest";
import type { ExitCode } from "../../../src/errors.ts";
import { configOf, desk } from "./desk.ts";

const nightly = { name: "nightly", cron: "0 2 * * *", retries: 3, retry_after: "10m" };
const evening = "2026-03-10T20:00:00Z";
const noon = "2026-03-11T12:00:00Z";

test("a failed run is tried again after a pause that doubles, until it succeeds", async () => {
  const { clock, scripts, starts, events, made, daemon } = await desk(evening, { schedules: [nightly] });
  scripts.push({ code: 1 }, { code: 6 });
  await clock.until("2026-03-11T02:05:00Z");
  expect(events.at(-1)).toMatchObject({ kind: "finished", retryAt: "2026-03-11T02:11:00.000Z" });
  expect(daemon.nextRuns()[0]).toEqual({ schedule: "nightly", at: "2026-03-11T02:11:00.000Z", cause: "retry" });
  await clock.until(noon);
  expect(starts()).toEqual(["nightly 11 02:00:00", "nightly 11 02:11:00", "nightly 11 02:32:00"]);
  expect(made.map(run => run.cause)).toEqual(["schedule", "retry", "retry"]);
  expect(events.at(-1)).toMatchObject({ outcome: { exit_code: 0 }, retryAt: undefined });
});

test("after the last retry the next regular time is waited for, and counts its own", async () => {
  const { clock, scripts, starts } = await desk(evening, { schedules: [{ ...nightly, retries: 1 }] });
  scripts.push({ code: 1 }, { code: 1 }, { code: 1 });
  await clock.until("2026-03-12T12:00:00Z");
  expect(starts()).toEqual([
    "nightly 11 02:00:00",
    "nightly 11 02:11:00",
    "nightly 12 02:00:00",
    "nightly 12 02:11:00",
  ]);
});

test("no retry begins when the next regular run does, or later", async () => {
  const half = { ...nightly, cron: "*/30 * * * *", retry_after: "20m", retries: 9 };
  const { clock, scripts, starts } = await desk("2026-03-10T01:59:00Z", { schedules: [half] });
  scripts.push({ code: 1 }, { code: 1 }, { code: 1, ms: 9 * 60_000 });
  await clock.until("2026-03-10T03:05:00Z");
  expect(starts()).toEqual([
    "nightly 10 02:00:00",
    "nightly 10 02:21:00",
    "nightly 10 02:30:00",
    "nightly 10 02:59:00",
    "nightly 10 03:00:00",
  ]);
});

test("a retry that would begin with the next regular run is none", async () => {
  const half = { ...nightly, cron: "*/30 * * * *", retry_after: "29m" };
  const { clock, scripts, starts, daemon } = await desk("2026-03-10T01:59:00Z", { schedules: [half] });
  scripts.push({ code: 1 });
  await clock.until("2026-03-10T02:20:00Z");
  expect(daemon.last()?.retryAt).toBeUndefined();
  await clock.until("2026-03-10T02:45:00Z");
  expect(starts()).toEqual(["nightly 10 02:00:00", "nightly 10 02:30:00"]);
});

test("a run that fails after its next time has come is followed by that, and not tried again", async () => {
  const half = { ...nightly, cron: "*/30 * * * *" };
  const { clock, scripts, starts } = await desk("2026-03-10T01:59:00Z", { schedules: [half] });
  scripts.push({ code: 1, ms: 35 * 60_000 });
  await clock.until("2026-03-10T02:59:00Z");
  expect(starts()).toEqual(["nightly 10 02:00:00", "nightly 10 02:35:00"]);
});

test("a regular time that a new configuration puts before the retry takes its place", async () => {
  const { clock, scripts, starts, offer } = await desk(evening, { schedules: [{ ...nightly, retry_after: "20m" }] });
  scripts.push({ code: 1 });
  await clock.until("2026-03-11T02:02:00Z");
  offer((await configOf({ schedules: [{ ...nightly, cron: "10 2 * * *" }] })).config);
  await clock.until(noon);
  expect(starts()).toEqual(["nightly 11 02:00:00", "nightly 11 02:10:00"]);
});

test.each<[ExitCode, number]>([
  [1, 2],
  [4, 2],
  [6, 2],
  [70, 2],
  [0, 1],
  [2, 1],
  [3, 1],
  [5, 1],
])("exit code %i: %i runs that night", async (code, runs) => {
  const { clock, scripts, made } = await desk(evening, { schedules: [nightly] });
  scripts.push({ code });
  await clock.until(noon);
  expect(made).toHaveLength(runs);
});

test("a retry works on what did not succeed, and on its company alone if it is one", async () => {
  const { clock, scripts, made } = await desk(evening, { schedules: [nightly] });
  scripts.push(
    {
      code: 1,
      streams: { "a/items": "succeeded", "a/invoices": "warning", "b/items": "failed", "b/details": "skipped" },
    },
    { code: 1, streams: { "b/items": "succeeded", "b/details": "failed" } },
    { throws: new Error("something else"), code: 70 },
  );
  await clock.until(noon);
  expect(made.map(({ order: { selection } }) => [selection.names, selection.company])).toEqual([
    [[], undefined],
    [["items", "details"], "b"],
    [["details"], "b"],
    [["details"], "b"],
  ]);
});

test("when nothing succeeded, or several companies failed, a retry is as wide as it must be", async () => {
  const schedules = [{ ...nightly, streams: ["items", "invoices"] }];
  const { clock, scripts, made } = await desk(evening, { schedules });
  scripts.push(
    { code: 1, streams: { "a/items": "failed", "b/items": "failed" } },
    { code: 1, streams: { "a/items": "failed", "b/items": "failed", "a/invoices": "succeeded" } },
  );
  await clock.until(noon);
  expect(made.map(({ order: { selection } }) => [selection.names, selection.company])).toEqual([
    [["items", "invoices"], undefined],
    [["items", "invoices"], undefined],
    [["items"], undefined],
  ]);
});
