import { expect, test } from "vitest";
import { StoppedError } from "../../../src/errors.ts";
import { sentence } from "../../support/log.ts";
import { configOf, desk } from "./desk.ts";

const nightly = { name: "nightly", cron: "0 2 * * *", timezone: "UTC" };
const evening = "2026-03-10T20:00:00Z";

test("a run begins on time, with its schedule's selection and limits, night after night", async () => {
  const given = { ...nightly, streams: ["items", "invoice*"], max_time: "4h", wait: "10m" };
  const { clock, daemon, made, events, starts } = await desk("2026-03-10T20:00:03.700Z", { schedules: [given] });
  expect(daemon.nextRuns()).toEqual([{ schedule: "nightly", at: "2026-03-11T02:00:00.000Z", cause: "schedule" }]);
  await clock.until("2026-03-11T01:59:59.999Z");
  expect([made.length, daemon.live(), daemon.last()]).toEqual([0, undefined, undefined]);
  await clock.until("2026-03-11T02:00:30Z");
  expect(made[0]?.order).toMatchObject({
    command: "tributary schedule nightly",
    selection: { names: ["items", "invoice*"], company: undefined },
    refresh: { full: false },
    limits: { maxTimeMs: 4 * 3_600_000, waitMs: 600_000 },
  });
  const run = { schedule: "nightly", cause: "schedule", startedAt: "2026-03-11T02:00:00.000Z", view: undefined };
  expect(daemon.live()).toEqual(run);
  await clock.until("2026-03-12T12:00:00Z");
  expect(starts()).toEqual(["nightly 11 02:00:00", "nightly 12 02:00:00"]);
  expect(events.map(event => event.kind)).toEqual(["started", "finished", "started", "finished"]);
  expect(events[1]).toMatchObject({ run, finishedAt: "2026-03-11T02:01:00.000Z", outcome: { exit_code: 0 } });
  expect(daemon.last()).toBe(events[3]);
  expect(daemon.live()).toBeUndefined();
});

test("runs never overlap: what is due waits, and what was due several times runs once", async () => {
  const hourly = { name: "hourly", cron: "0 * * * *", streams: ["items"] };
  const { clock, scripts, starts, daemon, made } = await desk("2026-03-10T01:30:00Z", {
    schedules: [hourly, nightly],
  });
  scripts.push({ ms: 60_000 }, { ms: 3.5 * 3_600_000 });
  await clock.until("2026-03-10T04:00:00Z");
  expect(daemon.nextRuns()).toEqual([
    { schedule: "hourly", at: "2026-03-10T03:00:00.000Z", cause: "schedule" },
    { schedule: "hourly", at: "2026-03-10T05:00:00.000Z", cause: "schedule" },
    { schedule: "nightly", at: "2026-03-11T02:00:00.000Z", cause: "schedule" },
  ]);
  await clock.until("2026-03-10T06:10:00Z");
  expect(starts()).toEqual(["hourly 10 02:00:00", "nightly 10 02:01:00", "hourly 10 05:31:00", "hourly 10 06:00:00"]);
  expect(made.map(run => run.cause)).toEqual(Array(4).fill("schedule"));
});

test("a machine that sleeps over two nights makes up for them once", async () => {
  const { clock, made, starts } = await desk(evening, { schedules: [nightly] });
  clock.jump(38 * 3_600_000);
  await clock.until("2026-03-12T10:00:30Z");
  expect(starts()).toEqual(["nightly 12 10:00:05"]);
  expect(made[0]?.cause).toBe("missed");
  await clock.until("2026-03-13T03:00:00Z");
  expect(starts()).toEqual(["nightly 12 10:00:05", "nightly 13 02:00:00"]);
  expect(made[1]?.cause).toBe("schedule");
});

test("after a clock that was a year ahead is set right, runs start at their next time, not in a year", async () => {
  const { clock, starts } = await desk("2027-03-10T20:00:00Z", { schedules: [nightly] });
  clock.jump(-365 * 86_400_000);
  await clock.until("2026-03-11T03:00:00Z");
  expect(starts()).toEqual(["nightly 11 02:00:00"]);
});

test("a run that goes on long after its max_time is logged once, until it is over", async () => {
  const schedules = [{ ...nightly, max_time: "1h", wait: "30m" }];
  const { clock, daemon, said, scripts } = await desk(evening, { schedules });
  const overdue = () => said.filter(({ code }) => code === "schedule.run_overdue");
  // One that hangs before it has its locks, one that hangs later, and one in time.
  scripts.push({ ms: 5 * 3_600_000, deaf: true }, { ms: 5 * 3_600_000, knowsAfterMs: 60_000 }, { ms: 3_600_000 });
  await clock.until("2026-03-11T03:39:50Z");
  expect([daemon.live()?.overdueSince, overdue()]).toEqual([undefined, []]);
  await clock.until("2026-03-11T06:00:00Z");
  expect([daemon.live()?.overdueSince, overdue().length]).toEqual(["2026-03-11T03:40:00.000Z", 1]);
  await clock.until("2026-03-12T03:10:50Z");
  expect([daemon.live()?.overdueSince, overdue().length]).toEqual([undefined, 1]);
  await clock.until("2026-03-12T03:12:00Z");
  expect([daemon.live()?.overdueSince, overdue().length]).toEqual(["2026-03-12T03:11:00.000Z", 2]);
  await clock.until("2026-03-14T00:00:00Z");
  expect([daemon.live(), overdue().length]).toEqual([undefined, 2]);
});

test("the change to summer time and back moves no night in Berlin", async () => {
  const schedules = [{ ...nightly, cron: "30 2 * * *", timezone: "Europe/Berlin" }];
  const spring = await desk("2026-03-28T12:00:00Z", { schedules });
  await spring.clock.until("2026-03-30T12:00:00Z");
  expect(spring.starts()).toEqual(["nightly 29 01:00:00", "nightly 30 00:30:00"]);
  const autumn = await desk("2026-10-24T12:00:00Z", { schedules });
  await autumn.clock.until("2026-10-26T12:00:00Z");
  expect(autumn.starts()).toEqual(["nightly 25 00:30:00", "nightly 26 01:30:00"]);
});

test("a run that throws, and a listener that throws, end nothing", async () => {
  const { clock, daemon, scripts, events, made, said } = await desk(evening, {
    schedules: [{ ...nightly, retries: 0 }],
  });
  daemon.listen(() => {
    throw new Error("a listener's fault");
  });
  scripts.push({ throws: new TypeError("secret of undefined") });
  await clock.until("2026-03-12T03:00:00Z");
  expect(made).toHaveLength(2);
  expect(events[1]).toMatchObject({
    outcome: { exit_code: 70, error: { code: "general.bug", fields: { what: "TypeError: ••• of undefined" } } },
  });
  expect(events[3]).toMatchObject({ outcome: { exit_code: 0 } });
  expect(said.filter(({ message }) => message.includes("a listener's fault"))).toHaveLength(4);
});

test("an idle daemon stops at once; a run is stopped with the signal's reason and waited for", async () => {
  const idle = await desk(evening, { schedules: [nightly] });
  expect(await idle.end()).toBe(true);
  expect(idle.daemon.hint()).toBe(false);

  const busy = await desk("2026-03-10T01:59:59Z", { schedules: [nightly] });
  busy.scripts.push({ ms: 3_600_000 });
  await busy.clock.until("2026-03-10T02:10:00Z");
  expect(await busy.end(new StoppedError(sentence("Stopped by SIGTERM."), 143))).toBe(true);
  expect(busy.made[0]?.stopped).toMatchObject({ exitCode: 143, message: "Stopped by SIGTERM." });
  expect(busy.events.at(-1)).toMatchObject({ kind: "finished", outcome: { exit_code: 143 }, retryAt: undefined });
  expect(busy.daemon.live()).toBeUndefined();
});

test("a run that does not end is left behind after nine seconds", async () => {
  const { clock, scripts, end, daemon } = await desk("2026-03-10T01:59:59Z", { schedules: [nightly] });
  scripts.push({ ms: 3_600_000, deaf: true });
  await clock.until("2026-03-10T02:10:00Z");
  let saved: boolean | undefined;
  void end().then(answer => {
    saved = answer;
  });
  await clock.until("2026-03-10T02:10:08.900Z");
  expect(saved).toBeUndefined();
  await clock.until("2026-03-10T02:10:09Z");
  expect([saved, daemon.live()?.schedule]).toEqual([false, "nightly"]);
});

test("a hint starts a run of the feeds soon, the next not before its time, and none is lost", async () => {
  const hooks = { secret: "s".repeat(20) };
  const { clock, daemon, made, starts, scripts } = await desk(evening, { schedules: [nightly], hooks });
  expect(daemon.hint()).toBe(true);
  await clock.until("2026-03-10T20:00:30Z");
  expect(daemon.hint()).toBe(true);
  expect(daemon.nextRuns()[0]).toEqual({ schedule: "hook", at: "2026-03-10T20:01:00.000Z", cause: "hint" });
  await clock.until("2026-03-10T20:01:30Z");
  expect(made[0]).toMatchObject({
    cause: "hint",
    order: { selection: { names: ["findings", "ingested"] }, command: "tributary schedule hook" },
  });
  expect(daemon.hint()).toBe(true);
  scripts.push({ code: 1 });
  await clock.until("2026-03-10T23:00:00Z");
  expect(starts()).toEqual(["hook 10 20:01:00", "hook 10 20:06:00"]);
});

test("without hooks a hint is refused; their streams may be named", async () => {
  const none = await desk(evening, { schedules: [nightly] });
  expect(none.daemon.hint()).toBe(false);
  const named = await desk(evening, { schedules: [], hooks: { secret: "s".repeat(20), streams: ["items"] } });
  expect(named.daemon.nextRuns()).toEqual([]);
  named.daemon.hint();
  await named.clock.until("2026-03-10T21:00:00Z");
  expect(named.made.map(run => run.order.selection.names)).toEqual([["items"]]);
});

test("a new configuration holds for the runs to come; one under way keeps its own", async () => {
  const { clock, daemon, made, events, starts, offer, scripts } = await desk(evening, { schedules: [nightly] });
  scripts.push({ ms: 3_600_000 });
  await clock.until("2026-03-11T02:10:00Z");
  const weekly = { name: "weekly", cron: "0 6 * * 4", streams: ["items"] };
  const changed = await configOf({ company: "other", schedules: [{ ...nightly, cron: "0 5 * * *" }, weekly] });
  offer(changed.config);
  await clock.until("2026-03-11T02:10:10Z");
  expect(events.at(-1)).toEqual({ kind: "reloaded", changed: expect.arrayContaining(["companies", "schedules"]) });
  expect(daemon.config()).toBe(changed.config);
  expect(made[0]?.order.config).not.toBe(changed.config);
  expect(daemon.nextRuns().map(({ at }) => at)).toEqual(["2026-03-11T05:00:00.000Z", "2026-03-12T06:00:00.000Z"]);
  offer((await configOf({ schedules: [weekly] })).config);
  await clock.until("2026-03-13T00:00:00Z");
  expect(starts()).toEqual(["nightly 11 02:00:00", "weekly 12 06:00:00"]);
});

test("what waits or is to be tried again runs under the new configuration", async () => {
  const early = { name: "early", cron: "55 1 * * *", streams: ["items"] };
  const hooks = { secret: "s".repeat(20), streams: ["items"] };
  const before = { schedules: [early, { ...nightly, streams: ["items"], retry_after: "20m" }], hooks };
  const { clock, daemon, made, offer, scripts } = await desk("2026-03-10T01:54:59Z", before);
  scripts.push({ ms: 600_000 }, { code: 1, streams: { items: "failed", invoices: "succeeded" } });
  await clock.until("2026-03-10T02:02:00Z");
  daemon.hint();
  const wider = { ...nightly, streams: ["items", "invoices"], max_time: "1h", retry_after: "20m" };
  const after = { schedules: [early, wider], hooks: { ...hooks, streams: ["findings"] } };
  offer((await configOf(after)).config);
  await clock.until("2026-03-10T02:10:00Z");
  offer((await configOf({ ...after, schedules: [early, { ...wider, max_time: "2h" }] })).config);
  await clock.until("2026-03-10T04:00:00Z");
  const orders = made.map(({ cause, order }) => ({
    cause,
    names: order.selection.names,
    hours: (order.limits.maxTimeMs ?? 0) / 3_600_000,
  }));
  expect(orders).toEqual([
    { cause: "schedule", names: ["items"], hours: 0 },
    { cause: "schedule", names: ["items", "invoices"], hours: 1 },
    { cause: "hint", names: ["findings"], hours: 0 },
    { cause: "retry", names: ["items"], hours: 2 },
  ]);
});

test("a configuration that can't be used is refused, told once, and the old one stays", async () => {
  const { clock, daemon, events, starts, offer } = await desk(evening, { schedules: [nightly] });
  const before = daemon.config();
  offer(new Error("secret is no schedule"));
  await clock.until("2026-03-11T03:00:00Z");
  const refused = events.filter(event => event.kind === "refused");
  expect(refused).toMatchObject([{ error: { code: "general.bug", fields: { what: "Error: ••• is no schedule" } } }]);
  expect(daemon.config()).toBe(before);
  expect(daemon.refusal()).toEqual({ error: refused[0]?.error, at: expect.stringMatching(/^2026-03-10T20:0/) });
  daemon.reload();
  await clock.settle();
  expect(daemon.refusal()).toBeUndefined();
  expect(starts()).toEqual(["nightly 11 02:00:00"]);
});

test("reload looks again at once, though no file changed", async () => {
  const { clock, daemon, events } = await desk(evening, { schedules: [nightly] });
  daemon.reload();
  await clock.settle();
  expect(events).toEqual([{ kind: "reloaded", changed: [] }]);
});
