import { expect, test } from "vitest";
import type { PastRun } from "../../../src/daemon/schedule/past_runs.ts";
import { desk } from "./desk.ts";

const nightly = { name: "nightly", cron: "0 2 * * *", retries: 2, retry_after: "10m" };
const morning = "2026-03-11T08:00:00Z";

const run = (startedAt: string, exitCode: number | undefined, finishedAt?: string): PastRun => ({
  startedAt: Date.parse(startedAt),
  finishedAt: finishedAt === undefined ? undefined : Date.parse(finishedAt),
  exitCode,
});

/** A daemon that comes up in the morning, with these runs behind it; where it stands in the evening. */
async function after(...runs: readonly PastRun[]) {
  const its = await desk(morning, { schedules: [nightly] }, { past: async () => new Map([["nightly", runs]]) });
  await its.clock.until("2026-03-11T20:00:00Z");
  return { ...its, causes: its.made.map(({ cause }) => cause) };
}

test("a time that was missed while no daemon was up is made up for once, at once", async () => {
  const { starts, causes, clock } = await after(run("2026-03-08T02:00:00Z", 0), run("2026-03-07T02:00:00Z", 0));
  expect([starts(), causes]).toEqual([["nightly 11 08:00:00"], ["missed"]]);
  await clock.until("2026-03-12T03:00:00Z");
  expect(starts()).toEqual(["nightly 11 08:00:00", "nightly 12 02:00:00"]);
});

test.each([0, 2, 3, 5])("this night's run is there, exit code %i: nothing is made up for", async code => {
  const { made, clock, starts } = await after(run("2026-03-11T02:00:00Z", code), run("2026-03-08T02:00:00Z", 0));
  expect(made).toEqual([]);
  await clock.until("2026-03-12T03:00:00Z");
  expect(starts()).toEqual(["nightly 12 02:00:00"]);
});

test("a run that a signal stopped goes on at once", async () => {
  const { starts, causes } = await after(run("2026-03-11T07:00:00Z", 143, "2026-03-11T07:59:00Z"));
  expect([starts(), causes]).toEqual([["nightly 11 08:00:00"], ["retry"]]);
});

test("a failed run keeps its next try, at its time or now", async () => {
  const soon = await after(run("2026-03-11T07:50:00Z", 1, "2026-03-11T07:55:00Z"));
  expect([soon.starts(), soon.causes]).toEqual([["nightly 11 08:05:00"], ["retry"]]);
  const late = await after(run("2026-03-11T02:00:00Z", 1, "2026-03-11T02:01:00Z"));
  expect([late.starts(), late.causes]).toEqual([["nightly 11 08:00:00"], ["retry"]]);
});

test("tries before the restart count: no more than retries allows", async () => {
  const failed = ["02:00", "02:11", "02:32"]
    .map(at => run(`2026-03-11T${at}:00Z`, 1, `2026-03-11T${at}:30Z`))
    .reverse();
  expect((await after(...failed)).starts()).toEqual([]);
  expect((await after(...failed.slice(1))).starts()).toEqual(["nightly 11 08:00:00"]);
});

test("tries of the nights before don't count", async () => {
  const before = ["10", "09", "08"].map(day => run(`2026-03-${day}T02:00:00Z`, 1, `2026-03-${day}T02:01:00Z`));
  const { starts } = await after(run("2026-03-11T02:00:00Z", 1, "2026-03-11T02:01:00Z"), ...before);
  expect(starts()).toEqual(["nightly 11 08:00:00"]);
});

test("a killed run is tried again after the pause, not at once: it may have been what brought the machine down", async () => {
  const { starts, causes } = await after(run("2026-03-11T07:50:00Z", undefined));
  expect([starts(), causes]).toEqual([["nightly 11 08:10:00"], ["retry"]]);
  const again = await after(run("2026-03-11T07:50:00Z", undefined), run("2026-03-11T07:40:00Z", undefined));
  expect(again.starts()).toEqual(["nightly 11 08:20:00"]);
  const often = Array.from({ length: 3 }, (_, at) => run(`2026-03-11T07:${50 - at}:00Z`, undefined));
  expect((await after(...often)).starts()).toEqual([]);
});

test("a schedule that never ran waits for its time, and says what would load an empty warehouse now", async () => {
  const { made, said, clock, starts } = await after();
  expect(made).toEqual([]);
  expect(said).toMatchObject([{ code: "schedule.never_ran", fields: { is_loaded: true } }]);
  await clock.until("2026-03-12T03:00:00Z");
  expect(starts()).toEqual(["nightly 12 02:00:00"]);
  const empty = await desk(morning, { schedules: [nightly] }, { past: async () => undefined });
  expect(empty.said).toMatchObject([{ code: "schedule.never_ran", fields: { is_loaded: false } }]);
});

test("a warehouse that doesn't answer is asked again, and the missed run made up for then", async () => {
  let asked = 0;
  const past = async () => {
    if (++asked < 4) throw new Error("the server with the secret is not up");
    return new Map([["nightly", [run("2026-03-08T02:00:00Z", 0)]]]);
  };
  const { clock, starts, said } = await desk(morning, { schedules: [nightly] }, { past });
  await clock.until("2026-03-11T08:03:29Z");
  expect([asked, starts()]).toEqual([3, []]);
  await clock.until("2026-03-11T08:04:00Z");
  expect([asked, starts()]).toEqual([4, ["nightly 11 08:03:30"]]);
  const unread = said.filter(({ code }) => code === "schedule.past_unreadable");
  expect(unread).toHaveLength(3);
  expect(unread[0]!.fields["reason"]).toContain("server with the •••");
});

test("what ran meanwhile is not made up for", async () => {
  const answer = Promise.withResolvers<Map<string, readonly PastRun[]>>();
  const its = await desk("2026-03-11T01:59:00Z", { schedules: [nightly] }, { past: () => answer.promise });
  await its.clock.until("2026-03-11T02:30:00Z");
  answer.resolve(new Map([["nightly", [run("2026-03-08T02:00:00Z", 0)]]]));
  await its.clock.until("2026-03-11T12:00:00Z");
  expect(its.starts()).toEqual(["nightly 11 02:00:00"]);
});
