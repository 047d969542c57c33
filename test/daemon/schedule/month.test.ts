import { expect, inject, test } from "vitest";
import { compareWithTruth } from "../../support/truth.ts";
import { passing, postgresWarehouse } from "../../support/warehouse.ts";
import { bookkeeping, expectTables } from "./bookkeeping.ts";
import { type Month, openMonth, read } from "./month.ts";

// In one database, the quicker one: what a daemon does hangs on clocks, the service and the key.
test("31 nights over both changes of the clock: what the machine, the service, the key and the daemon go through, and right data at the end", async () => {
  const month = await openMonth(() => passing(postgresWarehouse(inject("postgresUrl"))), "2026-03-21 18:00");
  await month.startDaemon();
  await spring(month);
  await month.stopDaemon();
  month.quietUntil("2026-10-17 09:00");
  await month.startDaemon();
  await autumn(month);
  await month.stopDaemon();

  const compared = await compareWithTruth(month.simulator, month.warehouse, read, "");
  expect(compared.differences).toEqual([]);
  expect(compared.values).toBeGreaterThan(10_000);
  const { told, recorded } = await bookkeeping(month);
  expect(recorded).toEqual(told);
  expect(told).toHaveLength(39);
  // Of the hour that comes twice it is the first one.
  const starts = told.map(({ from }) => from);
  expect(starts).toEqual(expect.arrayContaining(["2026-03-29T01:00:00.000Z", "2026-10-25T00:30:00.000Z"]));
  expect(month.events.filter(({ kind }) => kind === "reloaded" || kind === "refused")).toEqual([
    { kind: "reloaded", changed: [] },
  ]);
  expect(JSON.stringify(month.events)).not.toMatch(/key-of-/);
  await expectTables(month, recorded);
});

/** Half a month around the night in which 02:30 does not come. */
async function spring(month: Month): Promise<void> {
  expect(await month.until("2026-03-25 22:05")).toEqual([
    "2026-03-22 02:30 schedule: succeeded 0",
    "2026-03-23 02:30 schedule: succeeded 0",
    "2026-03-24 02:30 schedule: succeeded 0",
    "2026-03-25 02:30 schedule: succeeded 0",
  ]);

  // Two nights are slept over. The daemon looks at the clock within ten minutes of the machine's waking.
  month.asleepUntil("2026-03-27 09:17");
  expect(await month.until("2026-03-28 12:00")).toEqual([
    "2026-03-27 09:22 missed: succeeded 0",
    "2026-03-28 02:30 schedule: succeeded 0",
  ]);

  // At two o'clock it becomes three.
  expect(await month.until("2026-03-31 12:00")).toEqual([
    "2026-03-29 03:00 schedule: succeeded 0",
    "2026-03-30 02:30 schedule: succeeded 0",
    "2026-03-31 02:30 schedule: succeeded 0",
  ]);

  // Trying again with a key that was refused helps nobody; a new one helps without a restart.
  month.simulator.renewKey("key-of-april");
  expect(await month.until("2026-04-01 12:00")).toEqual(["2026-04-01 02:30 schedule: failed 3"]);
  await month.writeKey("key-of-april");
  expect(await month.until("2026-04-02 11:00")).toEqual(["2026-04-02 02:30 schedule: succeeded 0"]);

  await restartAmidst(month);
  expect(await month.until("2026-04-05 12:00")).toEqual([
    "2026-04-04 02:30 schedule: succeeded 0",
    "2026-04-05 02:30 schedule: succeeded 0",
  ]);
}

/** The daemon is ended and started again while details are being fetched. */
async function restartAmidst(month: Month): Promise<void> {
  const { way } = month;
  month.busy = 20;
  await month.until("2026-04-02 12:00");
  month.busy = 2;
  way.details = [];
  let stopped: Promise<boolean> | undefined;
  way.onDetail = nth => {
    if (nth === 15) stopped = month.stopDaemon();
  };
  expect(await month.until("2026-04-03 02:50")).toEqual(["2026-04-03 02:30 schedule: stopped 143"]);
  expect(await stopped).toBe(true);
  const before = new Set(way.details);
  way.details = [];
  way.onDetail = () => undefined;
  await month.startDaemon();
  expect(await month.until("2026-04-03 12:00")).toEqual(["2026-04-03 02:50 retry: succeeded 0"]);
  // What was on its way is asked for again, what was stored is not.
  const again = way.details.filter(path => before.has(path));
  expect(before.size).toBeGreaterThanOrEqual(15);
  expect(again.length).toBeLessThanOrEqual(8);
}

/** Half a year later, and half a month around the night in which 02:30 comes twice. */
async function autumn(month: Month): Promise<void> {
  const { way } = month;
  expect(await month.until("2026-10-19 12:00")).toEqual([
    "2026-10-17 09:00 missed: succeeded 0",
    "2026-10-18 02:30 schedule: succeeded 0",
    "2026-10-19 02:30 schedule: succeeded 0",
  ]);

  way.door = "torn";
  expect(await month.until("2026-10-21 12:00")).toEqual([
    "2026-10-20 02:30 schedule: failed 1, again at 02:35",
    "2026-10-20 02:35 retry: failed 1, again at 02:45",
    "2026-10-20 02:45 retry: failed 1",
    "2026-10-21 02:30 schedule: failed 1, again at 02:35",
    "2026-10-21 02:35 retry: failed 1, again at 02:45",
    "2026-10-21 02:45 retry: failed 1",
  ]);
  way.door = "mending";
  expect(await month.until("2026-10-22 12:00")).toEqual([
    "2026-10-22 02:30 schedule: failed 1, again at 02:35",
    "2026-10-22 02:35 retry: failed 1, again at 02:45",
    "2026-10-22 02:45 retry: failed 1",
  ]);
  way.door = "open";

  // At three o'clock on the 25th it becomes two again.
  expect(await month.until("2026-10-26 13:00")).toEqual([
    "2026-10-23 02:30 schedule: succeeded 0",
    "2026-10-24 02:30 schedule: succeeded 0",
    "2026-10-25 02:30 schedule: succeeded 0",
    "2026-10-26 02:30 schedule: succeeded 0",
  ]);

  // A night without a daemon is made up for when there is one again.
  await month.stopDaemon();
  month.asleepUntil("2026-10-27 09:00");
  await month.startDaemon();
  expect(await month.until("2026-10-28 12:00")).toEqual([
    "2026-10-27 09:00 missed: succeeded 0",
    "2026-10-28 02:30 schedule: succeeded 0",
  ]);

  // The service comes back between two tries, and the configuration names another hour.
  await month.reschedule("15 3 * * *");
  way.door = "torn";
  let left = 12;
  way.onRefused = () => {
    if (--left === 0) way.door = "open";
  };
  expect(await month.until("2026-11-01 11:00")).toEqual([
    "2026-10-29 03:15 schedule: failed 1, again at 03:20",
    "2026-10-29 03:20 retry: failed 1, again at 03:30",
    "2026-10-29 03:30 retry: succeeded 0",
    "2026-10-30 03:15 schedule: succeeded 0",
    "2026-10-31 03:15 schedule: succeeded 0",
    "2026-11-01 03:15 schedule: succeeded 0",
  ]);
}
