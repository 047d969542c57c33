import { expect, test } from "vitest";
import type { Message } from "../../../src/message.ts";
import { configOf, type Desk, desk } from "./desk.ts";

const nightly = { name: "nightly", cron: "0 2 * * *", timezone: "UTC" };
const evening = "2026-03-10T20:00:00Z";
const hooks = { secret: "s".repeat(20) };
const orders = (...keys: string[]) => ({ list: "purchase_orders", keys });
const keysOf = ({ made }: Desk) => made.map(({ order }) => order.refresh.only);

test("rows that a hint names are refreshed at once, with none of the limits that hold for a run of the feeds", async () => {
  const { clock, daemon, made, starts } = await desk(evening, { schedules: [nightly], hooks });
  await clock.until("2026-03-10T20:00:06Z");
  expect(daemon.refresh(orders("PO-17", "PO-18"))).toBeUndefined();
  expect(daemon.nextRuns()[0]).toEqual({ schedule: "refresh", at: "2026-03-10T20:00:06.000Z", cause: "hint" });
  await clock.until("2026-03-10T20:00:07Z");
  expect(starts()).toEqual(["refresh 10 20:00:06"]);
  expect(made[0]).toMatchObject({
    cause: "hint",
    order: {
      command: "tributary schedule refresh",
      selection: { names: ["purchase_order_details"], named: [], company: undefined },
      refresh: { full: false, allDetails: false, only: ["PO-17", "PO-18"] },
      limits: { waitMs: 300_000 },
    },
  });
});

test("hints that come while a run goes on are one run of each list behind it, and those that come later another", async () => {
  const place = await desk("2026-03-11T01:59:59Z", { schedules: [nightly], hooks });
  const { clock, daemon, starts } = place;
  await clock.until("2026-03-11T02:00:10Z");
  daemon.refresh(orders("PO-1", "PO-2"));
  daemon.refresh({ list: "invoices", keys: ["I-1"] });
  await clock.until("2026-03-11T02:00:30Z");
  daemon.refresh(orders("PO-2", "PO-3"));
  expect(starts()).toHaveLength(1);
  await clock.until("2026-03-11T02:01:30Z");
  daemon.refresh(orders("PO-1"));
  await clock.until("2026-03-11T03:00:00Z");
  expect(keysOf(place)).toEqual([undefined, ["PO-1", "PO-2", "PO-3"], ["I-1"], ["PO-1"]]);
  expect(starts().slice(1)).toEqual(["refresh 11 02:01:00", "refresh 11 02:02:00", "refresh 11 02:03:00"]);
});

test("no more than a thousand keys wait: the next hint is refused whole, and has room again once a run has taken them", async () => {
  const place = await desk("2026-03-11T01:59:59Z", { schedules: [nightly], hooks });
  const { clock, daemon } = place;
  await clock.until("2026-03-11T02:00:10Z");
  const hundred = (first: number) => orders(...Array.from({ length: 100 }, (_, nth) => `PO-${first + nth}`));
  for (let nth = 0; nth < 10; nth++) expect(daemon.refresh(hundred(100 * nth))).toBeUndefined();
  // The same ones again need no room.
  expect(daemon.refresh(hundred(500))).toBeUndefined();
  expect(daemon.refresh(orders("PO-1", "PO-1000"))).toBe("Too many rows wait already.");
  expect(daemon.refresh({ list: "invoices", keys: ["I-1"] })).toBe("Too many rows wait already.");
  await clock.until("2026-03-11T02:01:10Z");
  expect(daemon.refresh({ list: "invoices", keys: ["I-1"] })).toBeUndefined();
  await clock.until("2026-03-11T03:00:00Z");
  expect(keysOf(place).map(keys => keys?.length)).toEqual([undefined, 1_000, 1]);
});

/** The rows whose details no run fetches any more. */
const givenUp = (said: readonly Message[]) =>
  said.filter(({ code }) => code === "schedule.rows_not_refreshed").map(({ fields }) => fields);

test("what failed or found the list locked is tried again with what has come since, and then given up aloud", async () => {
  const place = await desk(evening, { schedules: [nightly], hooks });
  const { clock, daemon, events, scripts, starts, said } = place;
  await clock.until("2026-03-10T20:00:06Z");
  const second = 1_000;
  scripts.push({ ms: second, code: 4 }, { ms: second, code: 1 }, { ms: second }, { ms: second, code: 3 });
  daemon.refresh(orders("PO-1"));
  await clock.until("2026-03-10T20:00:30Z");
  expect(events.at(-1)).toMatchObject({ kind: "finished", retryAt: "2026-03-10T20:01:07.000Z" });
  await clock.until("2026-03-10T20:02:00Z");
  daemon.refresh(orders("PO-2"));
  await clock.until("2026-03-10T21:00:00Z");
  expect(keysOf(place)).toEqual([["PO-1"], ["PO-1"], ["PO-1", "PO-2"]]);
  expect(starts()).toEqual(["refresh 10 20:00:06", "refresh 10 20:01:07", "refresh 10 20:02:00"]);
  expect(givenUp(said)).toEqual([]);
  daemon.refresh(orders("PO-3"));
  await clock.until("2026-03-10T22:00:00Z");
  expect(givenUp(said)).toEqual([{ list: "purchase_orders", rows: 1 }]);

  scripts.push(...Array(4).fill({ ms: second, code: 1 }));
  daemon.refresh(orders("PO-4"));
  await clock.until("2026-03-10T23:30:00Z");
  expect(keysOf(place).slice(4)).toEqual(Array(4).fill(["PO-4"]));
  expect(givenUp(said)).toHaveLength(2);
});

test("names that fit nothing are refused, and so are all while the daemon ends, which tells what it leaves", async () => {
  const { clock, daemon, said, end, offer } = await desk("2026-03-11T01:59:59Z", { schedules: [nightly], hooks });
  expect(() => daemon.refresh({ list: "orders", keys: ["1"] })).toThrow("there is no stream");
  expect(() => daemon.refresh({ list: "purchase_order_details", keys: ["1"] })).toThrow("Name purchase_orders");
  await clock.until("2026-03-11T02:00:10Z");
  daemon.refresh(orders("PO-1", "PO-2"));
  offer((await configOf({ schedules: [nightly] })).config);
  await clock.until("2026-03-11T02:00:30Z");
  expect(daemon.nextRuns()[0]).toMatchObject({ schedule: "refresh" });
  await end();
  expect(daemon.refresh(orders("PO-3"))).toBe("tributary is ending.");
  expect(givenUp(said)).toEqual([{ list: "purchase_orders", rows: 2 }]);
});

test("after the clock was set back what waits is due at once", async () => {
  const place = await desk(evening, { schedules: [nightly], hooks });
  const { clock, daemon, scripts } = place;
  await clock.until("2026-03-10T20:00:06Z");
  scripts.push({ ms: 1_000, code: 1 });
  daemon.refresh(orders("PO-1"));
  await clock.until("2026-03-10T20:00:20Z");
  clock.jump(-30 * 86_400_000);
  await clock.until("2026-02-08T20:02:00Z");
  expect(keysOf(place)).toEqual([["PO-1"], ["PO-1"]]);
});
