import { expect, test } from "vitest";
import { runMessages } from "../../../src/sync/run/messages.ts";
import { streamMessages } from "../../../src/sync/stream/messages.ts";
import { sentence } from "../../support/log.ts";
import { all, ended, HOUR, type Office, office, refused, warehouseStatus } from "./daemon.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

async function posting(): Promise<Office & { receiver: Receiver; titles: () => Promise<unknown[]> }> {
  const receiver = await startReceiver();
  const desk = office([{ to: { url: `${receiver.url}/x`, format: "json" }, on: all }]);
  const titles = async () => {
    await desk.notifier.settle();
    return receiver.bodies().map(body => body["title"]);
  };
  return { ...desk, receiver, titles };
}

const bad = { lists: "expected 200, got 500", details: null };
const good = { lists: null, details: null };

test("a failure without another try is sent at once, with what failed and why", async () => {
  const { clock, notifier, receiver } = await posting();
  notifier.observe(ended(clock, 1, bad));
  await notifier.settle();
  expect(receiver.bodies()).toEqual([
    {
      product: "tributary",
      occasion: "failure",
      company: "acme",
      schedule: "nightly",
      at: "2026-03-15T02:30:00.000Z",
      title: "nightly failed with exit code 1, 1 stream of 2 not read",
      text: [
        `Run run-${clock.now()} failed at 2026-03-15 02:30 UTC. It is not tried again before the schedule's next time.`,
        "expected 200, got 500",
        "What was stored before is safe; `tributary status` shows how every stream stands.",
      ].join("\n"),
      streams: [{ company: "acme", stream: "lists", status: "failed", error: "expected 200, got 500" }],
      errors: [sentence("expected 200, got 500")],
      exit_code: 1,
      run_id: `run-${clock.now()}`,
      suppressed: 0,
    },
  ]);
});

test("a run that could not begin is sent with its reason, and without a company when there are several", async () => {
  const { clock, notifier, receiver } = await posting();
  notifier.observe(refused(clock, 2, "config.yaml:3: expected a number"));
  notifier.observe(ended(clock, 1, { "acme/lists": "no", "globex/lists": "no" }, { schedule: "weekly" }));
  await notifier.settle();
  const [first, second] = receiver.bodies();
  expect(first).toMatchObject({ title: "nightly failed with exit code 2", exit_code: 2, run_id: null, streams: [] });
  expect(first!["text"]).toContain("config.yaml:3: expected a number");
  expect(first!["errors"]).toEqual([sentence("config.yaml:3: expected a number")]);
  expect(second).toMatchObject({ schedule: "weekly" });
  expect(second).not.toHaveProperty("company");
});

test("while another try is planned nothing is sent; the last try sends the failure", async () => {
  const { clock, notifier, titles } = await posting();
  notifier.observe(ended(clock, 1, bad, { retryAt: "2026-03-15T02:35:00.000Z" }));
  expect(await titles()).toEqual([]);
  clock.advance(300_000);
  notifier.observe(ended(clock, 1, bad));
  expect(await titles()).toEqual(["nightly failed with exit code 1, 1 stream of 2 not read"]);
});

test.each([streamMessages.no_longer_available, runMessages.nothing_available])(
  "a list that a key may not read is sent at once, though another try is planned",
  async ({ example }) => {
    const { clock, notifier, receiver } = await posting();
    const failed = ended(clock, 1, bad, { retryAt: "2026-03-15T02:35:00.000Z" });
    notifier.observe({ ...failed, outcome: { ...failed.outcome, errors: [example] } as typeof failed.outcome });
    await notifier.settle();
    expect(receiver.bodies()).toMatchObject([{ occasion: "failure", errors: [example] }]);
    expect(receiver.bodies()[0]!["text"]).toContain("It is tried again at 2026-03-15 02:35 UTC.");
  },
);

test("a try that succeeds sends neither the failure nor a recovery", async () => {
  const { clock, notifier, titles } = await posting();
  notifier.observe(ended(clock, 1, bad, { retryAt: "2026-03-15T02:35:00.000Z" }));
  notifier.observe(ended(clock, 0, { lists: null }));
  clock.advance(2 * HOUR);
  notifier.checkLate(undefined);
  expect(await titles()).toEqual([]);
});

test("if another run kept the last try from beginning, the failure before it is sent", async () => {
  const { clock, notifier, titles } = await posting();
  notifier.observe(ended(clock, 1, bad, { retryAt: "2026-03-15T02:35:00.000Z" }));
  notifier.observe(refused(clock, 4, "held by run 7"));
  expect(await titles()).toEqual(["nightly failed with exit code 1, 1 stream of 2 not read"]);
});

test.each([0, 4, 5, 130, 143])("an end with %i sends nothing", async code => {
  const { clock, notifier, titles } = await posting();
  notifier.observe(ended(clock, code, good));
  expect(await titles()).toEqual([]);
});

test.each([1, 2, 3, 6, 70])("an end with %i is a failure", async code => {
  const { clock, notifier, titles } = await posting();
  notifier.observe(ended(clock, code, bad));
  expect(await titles()).toHaveLength(1);
});

test("the first success after a notified failure is sent once, with the time of the first failure", async () => {
  const { clock, notifier, receiver, titles } = await posting();
  notifier.observe(ended(clock, 1, bad));
  clock.advance(24 * HOUR);
  notifier.observe(ended(clock, 5, {}));
  notifier.observe(ended(clock, 1, bad));
  clock.advance(24 * HOUR);
  notifier.observe(ended(clock, 0, good));
  notifier.observe(ended(clock, 0, good));
  expect(await titles()).toEqual([
    expect.stringMatching(/^nightly failed/),
    expect.stringMatching(/^nightly failed/),
    "nightly works again",
  ]);
  expect(receiver.bodies()[2]).toMatchObject({
    occasion: "recovery",
    exit_code: 0,
    streams: [{ company: "acme", stream: "lists", status: "succeeded", error: null }],
    errors: [],
    text: expect.stringContaining("after failing since 2026-03-15 02:30 UTC"),
  });
});

test("another schedule's success is no recovery", async () => {
  const { clock, notifier, titles } = await posting();
  notifier.observe(ended(clock, 1, bad));
  notifier.observe(ended(clock, 0, good, { schedule: "hourly" }));
  expect(await titles()).toHaveLength(1);
});

test("after the clock was set back failures are told as before, and so is data that was late at the start", async () => {
  const { clock, notifier, titles } = await posting();
  const late = warehouseStatus({ lists: "2026-03-01T02:00:00.000Z" });
  notifier.recall(undefined, late);
  notifier.observe(ended(clock, 1, bad));
  clock.advance(-48 * HOUR);
  notifier.observe(ended(clock, 1, bad));
  notifier.checkLate(late);
  const failure = expect.stringMatching(/^nightly failed/);
  expect(await titles()).toEqual([failure, failure, "Data is late: 1 stream"]);
});

test("failures within the hour are counted, and the next one says how many", async () => {
  const { clock, notifier, receiver, titles } = await posting();
  for (const minutes of [0, 10, 10, 41]) {
    clock.advance(minutes * 60_000);
    notifier.observe(ended(clock, 1, bad));
    notifier.observe(ended(clock, 1, bad, { schedule: "hourly" }));
  }
  expect(await titles()).toHaveLength(4);
  const nightly = receiver.bodies().filter(body => body["schedule"] === "nightly");
  expect(nightly.map(body => body["suppressed"])).toEqual([0, 2]);
  expect(nightly[1]!["text"]).toContain("2 more notifications of this kind had been held back");
});

test("a failure right after a recovery is sent when the hour is over, if it is still true", async () => {
  const { clock, notifier, receiver, titles } = await posting();
  notifier.observe(ended(clock, 1, bad));
  clock.advance(600_000);
  notifier.observe(ended(clock, 0, good));
  clock.advance(600_000);
  notifier.observe(ended(clock, 1, bad));
  clock.advance(30 * 60_000);
  notifier.checkLate(undefined);
  expect(await titles()).toEqual([expect.stringMatching(/failed/), "nightly works again"]);
  clock.advance(10 * 60_000);
  notifier.checkLate(undefined);
  notifier.checkLate(undefined);
  expect((await titles()).slice(2)).toEqual([expect.stringMatching(/failed/)]);
  expect(receiver.bodies()[2]).toMatchObject({ suppressed: 0 });
});

test("a failure that was held back and is over is never sent, nor its recovery", async () => {
  const { clock, notifier, titles } = await posting();
  notifier.observe(ended(clock, 1, bad));
  notifier.observe(ended(clock, 0, good));
  clock.advance(600_000);
  notifier.observe(ended(clock, 1, bad));
  notifier.observe(ended(clock, 0, good));
  clock.advance(2 * HOUR);
  notifier.checkLate(undefined);
  expect(await titles()).toEqual([expect.stringMatching(/failed/), "nightly works again"]);
});

test("late data is one notification for all streams, and so is its end", async () => {
  const { clock, notifier, receiver, titles } = await posting();
  const before = {
    lists: "2026-03-14T00:40:00.000Z",
    details: "2026-03-14T00:45:00.000Z",
    feed: "2026-03-15T02:00:00Z",
  };
  notifier.checkLate(warehouseStatus({ ...before, new: null }));
  expect(await titles()).toEqual([]);
  clock.advance(20 * 60_000);
  for (let minute = 0; minute < 300; minute += 60) {
    clock.advance(60 * 60_000);
    notifier.checkLate(warehouseStatus(before));
  }
  expect(await titles()).toEqual(["Data is late: 2 streams"]);
  expect(receiver.bodies()[0]).toMatchObject({ occasion: "late", schedule: null, exit_code: null, run_id: null });
  expect(receiver.bodies()[0]!["streams"]).toContainEqual({
    company: "acme",
    stream: "lists",
    status: "late",
    error: "The data is complete to 2026-03-14 00:40 UTC, 27 h ago; expected at most 26 h (freshness.late_after).",
  });
  expect(receiver.bodies()[0]!["errors"]).toContainEqual({
    code: "notify.data_late",
    message: expect.stringMatching(/^acme\/lists: The data is complete to 2026-03-14 00:40 UTC, 27 h ago/),
    fields: {
      ...{ company: "acme", stream: "lists", complete_to: before.lists },
      ...{ age_ms: expect.closeTo(27 * HOUR, -7), late_after_ms: 26 * HOUR },
    },
  });
  notifier.checkLate(warehouseStatus({ ...before, lists: "2026-03-15T07:00:00.000Z" }));
  notifier.checkLate(warehouseStatus({ ...before, lists: "2026-03-15T07:00:00.000Z" }));
  expect((await titles()).slice(1)).toEqual(["Data is up to date again: 1 stream"]);
  expect(receiver.bodies()[1]).toMatchObject({ occasion: "recovery", schedule: null, streams: [{ stream: "lists" }] });
});

test("data that becomes late and fresh within the hour is sent when the hour is over, or counted", async () => {
  const { clock, notifier, receiver, titles } = await posting();
  const minutesOld = (minutes: number) => new Date(clock.now() - 26 * HOUR - minutes * 60_000).toISOString();
  const look = (minutes: number) => notifier.checkLate(warehouseStatus({ lists: minutesOld(minutes) }));
  for (const minutes of [1, -1, 1, 1, -1, 1, 1]) {
    look(minutes);
    clock.advance(60_000);
  }
  expect(await titles()).toEqual(["Data is late: 1 stream", "Data is up to date again: 1 stream"]);
  clock.advance(HOUR);
  look(1);
  look(1);
  expect((await titles()).slice(2)).toEqual(["Data is late: 1 stream"]);
  expect(receiver.bodies()[2]).toMatchObject({ suppressed: 1 });
});

test("data ages on while the warehouse cannot be read", async () => {
  const { clock, notifier, titles } = await posting();
  const seen = warehouseStatus({ lists: "2026-03-15T00:00:00.000Z" });
  notifier.checkLate(seen);
  clock.advance(24 * HOUR);
  notifier.checkLate({ ...seen, streams: [], warehouse: { ...seen.warehouse, note: "held by a run" } });
  expect(await titles()).toEqual(["Data is late: 1 stream"]);
});

test("a stream that is switched off is neither late nor up to date again", async () => {
  const { clock, notifier, titles } = await posting();
  const seen = warehouseStatus({ lists: "2026-03-15T00:00:00.000Z" });
  notifier.checkLate(seen);
  clock.advance(24 * HOUR);
  notifier.checkLate(seen);
  notifier.checkLate({ ...seen, streams: seen.streams.map(stream => ({ ...stream, on: false })) });
  expect(await titles()).toEqual(["Data is late: 1 stream"]);
});

test("data that was late at the start is sent only if it is still late an hour later", async () => {
  const { clock, notifier, titles } = await posting();
  const seen = warehouseStatus({ lists: "2026-03-10T00:00:00.000Z", feed: "2026-03-10T00:00:00.000Z" });
  notifier.recall(undefined, seen);
  notifier.checkLate(seen);
  clock.advance(HOUR / 2);
  const caughtUp = warehouseStatus({ lists: "2026-03-10T00:00:00.000Z", feed: "2026-03-15T02:40:00.000Z" });
  notifier.checkLate(caughtUp);
  expect(await titles()).toEqual([]);
  clock.advance(HOUR / 2);
  notifier.checkLate(caughtUp);
  expect(await titles()).toEqual(["Data is late: 1 stream"]);
});

test("a daemon that starts after a notified failure sends the recovery", async () => {
  const { clock, notifier, receiver, titles } = await posting();
  const run = (hours: number, exitCode: number | undefined) => ({
    startedAt: clock.now() - hours * HOUR - 60_000,
    finishedAt: clock.now() - hours * HOUR,
    exitCode,
  });
  const past = new Map([
    ["nightly", [run(1, undefined), run(2, 143), run(24, 1), run(48, 6), run(72, 0), run(96, 1)]],
    ["hourly", [run(1, 0), run(2, 1)]],
    ["weekly", [run(1, undefined)]],
  ]);
  notifier.recall(past, undefined);
  for (const schedule of ["nightly", "hourly", "weekly"]) notifier.observe(ended(clock, 0, good, { schedule }));
  expect(await titles()).toEqual(["nightly works again"]);
  expect(receiver.bodies()[0]!["text"]).toContain("after failing since 2026-03-13 02:30 UTC");
});

test("events other than the end of a run send nothing", async () => {
  const { notifier, titles } = await posting();
  notifier.observe({ kind: "reloaded", changed: [] });
  notifier.observe({ kind: "refused", error: sentence("no") });
  expect(await titles()).toEqual([]);
});
