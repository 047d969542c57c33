import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import type { CachedStatus } from "../../../src/daemon/cached_status.ts";
import { attachNotifier } from "../../../src/daemon/notify/attached.ts";
import { notifyMessages } from "../../../src/daemon/notify/messages.ts";
import type { Daemon, DaemonEvent } from "../../../src/daemon/schedule/events.ts";
import { commandOf } from "../../../src/daemon/schedule/order.ts";
import { type Past, readPast } from "../../../src/daemon/schedule/past_runs.ts";
import type { Message } from "../../../src/message.ts";
import type { Status } from "../../../src/operations/status.ts";
import { openDestination } from "../../../src/warehouse/connect/open.ts";
import { beginRun, endRun } from "../../../src/warehouse/state/run_log.ts";
import { load } from "../../config/sample.ts";
import { silentLog } from "../../support/log.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { scenario } from "../../sync/scenario.ts";
import { eventually, handClock } from "./clock.ts";
import { all, ended, HOUR, warehouseStatus } from "./daemon.ts";
import { startReceiver } from "./receiver.ts";

/** A daemon that does nothing, with notifications attached to it. */
async function attached(past: () => Promise<Past | undefined>, seen: Status | undefined) {
  const receiver = await startReceiver();
  const clock = handClock();
  const listeners = new Set<(event: DaemonEvent) => void>();
  const daemon: Pick<Daemon, "listen"> = {
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const place = { status: seen, looks: 0 };
  const cachedStatus = async (): Promise<CachedStatus> => {
    place.looks += 1;
    return place.status === undefined ? { status: undefined, trouble: "gone" } : { status: place.status };
  };
  const desk: { targets: "json"[]; leads: boolean } = { targets: ["json"], leads: true };
  const making = attachNotifier({
    daemon,
    settings: () => ({
      notify: {
        atMostEveryMs: HOUR,
        targets: desk.targets.map(format => ({ to: { url: receiver.url, format }, on: all })),
      },
      freshness: { lateAfterMs: 26 * HOUR },
    }),
    past,
    cachedStatus,
    isLeading: async () => desk.leads,
    tools: { clock, log: silentLog, redact: text => text, env: {} },
  });
  /** One more minute, or the hours given, and the look that follows. */
  const pass = async (ms = 60_000): Promise<void> => {
    // Nothing else is under way: no delivery meets its time limit.
    const quiet = () => eventually(() => expect(clock.pauses()).toEqual([60_000]));
    await quiet();
    clock.advance(ms);
    await quiet();
  };
  const tell = (event: DaemonEvent) => {
    for (const listener of listeners) listener(event);
  };
  const titles = () => receiver.bodies().map(body => body["title"]);
  return { receiver, desk, clock, place, making, pass, tell, titles, listeners };
}

const nothing = () => Promise.resolve(undefined);
const { warehouse } = warehouseStatus({});
const held: Status = { ...warehouseStatus({}), warehouse: { ...warehouse, note: "held by process 7" } };

test("the warehouse is looked at after a run and when data seems late, and late data is told by the clock alone", async () => {
  const { making, pass, place, titles, tell, clock, receiver } = await attached(
    nothing,
    warehouseStatus({ lists: "2026-03-15T02:00:00.000Z" }),
  );
  const { end: detach } = await making;
  for (let minute = 0; minute < 5; minute += 1) await pass();
  expect(place.looks).toBe(1);
  tell(ended(clock, 0, { lists: null }));
  await pass();
  expect(place.looks).toBe(2);
  await pass(26 * HOUR);
  await eventually(() => expect(titles()).toEqual(["Data is late: 1 stream"]));
  expect(place.looks).toBe(3);
  place.status = warehouseStatus({ lists: "2026-03-16T04:00:00.000Z" });
  await pass();
  await eventually(() => expect(titles()).toEqual(["Data is late: 1 stream", "Data is up to date again: 1 stream"]));
  await pass();
  expect(place.looks).toBe(4);
  await detach();
  expect(receiver.received).toHaveLength(2);
});

test("whoever leads tells, and one that leads only since a failure that another one told of tells the recovery", async () => {
  const { making, desk, pass, tell, titles, clock } = await attached(nothing, warehouseStatus({}));
  const { end: detach } = await making;
  desk.leads = false;
  tell(ended(clock, 1, { lists: "it failed" }));
  await pass();
  desk.leads = true;
  tell(ended(clock, 0, { lists: null }));
  await eventually(() => expect(titles()).toEqual(["nightly works again"]));
  await detach();
});

test("people hear of a report that failed, again after notify.at_most_every, and of the first that works again", async () => {
  const { making, titles, receiver, clock, pass } = await attached(nothing, warehouseStatus({}));
  const { end, observeReport } = await making;
  const failure = notifyMessages.report_not_delivered({ to: "reports[0] (mail)", reason: "no answer", tries: 3 });
  const report = (failures: readonly Message[], place = "reports[0]") =>
    observeReport({ place, schedule: "nightly", failures });
  report([], "reports[1]");
  report([failure]);
  await eventually(() => expect(titles()).toEqual(["reports[0] failed"]));
  expect(receiver.bodies()[0]).toMatchObject({
    ...{ occasion: "failure", schedule: "nightly", exit_code: null, run_id: null, streams: [] },
    errors: [failure],
  });
  report([failure]);
  clock.advance(HOUR);
  await pass();
  await eventually(() => expect(titles()).toHaveLength(2));
  report([]);
  await eventually(() => expect(titles().at(-1)).toBe("reports[0] works again"));
  expect(receiver.bodies().at(-1)).toMatchObject({ occasion: "recovery", errors: [] });
  report([]);
  await end();
  expect(titles()).toHaveLength(3);
});

test("data that another process brought up to date is not reported late", async () => {
  const { making, pass, place, titles } = await attached(
    nothing,
    warehouseStatus({ lists: "2026-03-15T02:00:00.000Z" }),
  );
  const { end: detach } = await making;
  place.status = warehouseStatus({ lists: "2026-03-16T04:00:00.000Z" });
  await pass(27 * HOUR);
  expect(place.looks).toBe(2);
  await detach();
  expect(titles()).toEqual([]);
});

test("a locked file is read again later: fresh data is not reported late", async () => {
  const fresh = warehouseStatus({ lists: "2026-03-15T02:00:00.000Z" });
  const { making, pass, place, titles, tell, clock } = await attached(nothing, fresh);
  const { end: detach } = await making;
  await pass(24 * HOUR);
  place.status = held;
  tell(ended(clock, 0, { lists: null }));
  await pass();
  place.status = warehouseStatus({ lists: "2026-03-16T02:30:00.000Z" });
  await pass();
  const { looks } = place;
  await pass(3 * HOUR);
  expect(place.looks).toBe(looks);
  await detach();
  expect(titles()).toEqual([]);
});

test("a file that is locked at the start is read again later: late data is reported", async () => {
  const { making, pass, place, titles } = await attached(nothing, held);
  const { end: detach } = await making;
  await pass();
  place.status = warehouseStatus({ lists: "2026-03-10T02:00:00.000Z" });
  await pass();
  await eventually(() => expect(titles()).toEqual(["Data is late: 1 stream"]));
  await detach();
});

test("without targets the warehouse is not read; a target that is added later is told what is true then", async () => {
  const { making, desk, pass, place, tell, clock, titles } = await attached(
    nothing,
    warehouseStatus({ lists: "2026-03-15T02:00:00.000Z" }),
  );
  desk.targets = [];
  const { end: detach } = await making;
  tell(ended(clock, 0, { lists: null }));
  await pass(27 * HOUR);
  expect(place.looks).toBe(1);
  desk.targets = ["json"];
  await pass();
  await eventually(() => expect(titles()).toEqual(["Data is late: 1 stream"]));
  await detach();
});

test("records that cannot be read, or not in time, keep nothing from beginning", async () => {
  const broken = await attached(() => Promise.reject(new Error("no route")), undefined);
  await (await broken.making).end();
  const silent = await attached(() => new Promise(() => undefined), undefined);
  await eventually(() => expect(silent.clock.pauses()).toEqual([5_000]));
  silent.clock.advance(5_000);
  await (await silent.making).end();
});

test("at the end what is under way gets less than a second, and nothing is heard afterwards", async () => {
  const { making, receiver, clock, tell, listeners } = await attached(nothing, warehouseStatus({}));
  const { end: detach } = await making;
  receiver.answer = () => "hang";
  tell(ended(clock, 1, { lists: "no" }));
  await eventually(() => expect(receiver.received).toHaveLength(1));
  const detached = detach();
  expect(listeners.size).toBe(0);
  await eventually(() => expect(clock.pauses()).toContain(700));
  clock.advance(700);
  await detached;
  await eventually(() => expect(clock.pauses()).toEqual([]));
});

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a daemon that begins after a failed night tells the recovery, as the warehouse remembers the failure", async () => {
    const { simulator, warehouse, sync, clock } = await scenario(make, { orders: 10 });
    await sync({ names: ["purchase_orders"] });
    const api = { base_url: simulator.url, key: simulator.key };
    const { config } = await load(stringify({ company: "acme", api, destination: warehouse.destination }));
    const holder = { pid: process.pid, host: "here", command: "c", startedAt: "2026-03-15T13:00:00Z" };
    const destination = await openDestination(config.destination, { runId: "r", holder, clock }, 0);
    const night = { command: commandOf("nightly"), version: "0", process: "{}" };
    const begun = { ...night, run_id: "n1", started_at: "2026-03-15T02:00:00Z" };
    await beginRun(destination, begun);
    const end = { status: "failed", exit_code: 1, warnings: "[]", error: "no" };
    await endRun(destination.db, "n1", { ...end, finished_at: "2026-03-15T02:07:00Z" });
    await destination.releaseToReaders();
    await destination.close();

    const office = await attached(() => readPast(config.destination, ["nightly", "hook"]), undefined);
    const { end: detach } = await office.making;
    office.tell(ended(office.clock, 0, {}, { schedule: "hook" }));
    office.tell(ended(office.clock, 0, {}));
    await eventually(() => expect(office.titles()).toEqual(["nightly works again"]));
    expect(office.receiver.bodies()[0]!["text"]).toContain("after failing since 2026-03-15 02:07 UTC");
    await detach();
  });
});
