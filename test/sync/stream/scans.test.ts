import { describe, expect, test } from "vitest";
import { StoppedError } from "../../../src/errors.ts";
import { openDestination, type Where } from "../../../src/warehouse/connect/open.ts";
import type { Stage } from "../../../src/warehouse/destination.ts";
import { core as streams } from "../../support/core.ts";
import { refused } from "../../support/interposed.ts";
import { sentence } from "../../support/log.ts";
import { lineOf } from "../../support/run.ts";
import { compareWithTruth } from "../../support/truth.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { balance, type Scenario, scenario } from "../scenario.ts";

const names = ["items"];
const items = streams.filter(stream => stream.name === "items");

/** The cursors that a list was asked for, in order; null is its start. */
function cursorsOf(place: Scenario): (string | null)[] {
  return place.simulator.requests.entries
    .filter(entry => entry.path === "/items" && entry.status === 200)
    .map(entry => entry.query["cursor"] ?? null);
}

/** Between two runs. */
async function inStage<T>({ warehouse, clock }: Scenario, doing: (stage: Stage) => Promise<T>): Promise<T> {
  const shared = { schema: "procurement", stateSchema: "_tributary", keepVersions: 2, grantSelectTo: [] };
  const holder = { pid: process.pid, host: "here", command: "a test", startedAt: clock.date().toISOString() };
  const where = { ...shared, ...warehouse.destination } as unknown as Where;
  const destination = await openDestination(where, { runId: "looking", holder, clock }, 0);
  try {
    return await doing(await destination.stage("acme", items[0]!.tables));
  } finally {
    await destination.close();
  }
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a scan that was stopped goes on where it stood, and no page is fetched twice", async () => {
    const place = await scenario(make, { items: 720 });
    const stop = new AbortController();
    place.look = ({ path, nth }) => {
      if (path === "/items" && nth === 4) stop.abort(new StoppedError(sentence("Ctrl-C"), 130));
    };
    const stopped = await place.sync({ names }, stop.signal);
    expect(stopped).toMatchObject({ status: "stopped", exit_code: 130 });
    const first = lineOf(stopped, "items");
    expect(first).toMatchObject({ status: "stopped", rows_read: 300, inserted: 0 });
    expect(await place.count("items")).toBe(0);
    const before = cursorsOf(place).slice(0, 3);
    place.simulator.requests.clear();
    const finished = await place.sync({ names });
    expect(lineOf(finished, "items")).toMatchObject({
      status: "succeeded",
      carried: 300,
      rows_read: 420,
      inserted: 720,
    });
    const after = cursorsOf(place);
    expect(after).toHaveLength(5);
    expect(new Set([...before, ...after]).size).toBe(8);
    expect(await compareWithTruth(place.simulator, place.warehouse, items, "")).toMatchObject({ differences: [] });
  });

  test("--full begins a list afresh that a stopped run had read in part, and says what it throws away; with --resume it goes on", async () => {
    const place = await scenario(make, { items: 1450 });
    await place.sync({ names, maxRequests: 11 });
    expect(cursorsOf(place)).toHaveLength(10);
    place.clock.advance(60_000);
    place.simulator.requests.clear();
    const resumed = await place.sync({ names, full: true, resume: true, maxRequests: 3 });
    expect(lineOf(resumed, "items")).toMatchObject({ status: "stopped", carried: 1000, rows_read: 200 });
    expect(cursorsOf(place)).not.toContain(null);
    expect(resumed.notes).toEqual([]);
    place.simulator.requests.clear();
    const report = await place.sync({ names, full: true });
    expect(lineOf(report, "items")).toMatchObject({ status: "succeeded", carried: 0, rows_read: 1450, inserted: 1450 });
    expect(cursorsOf(place)).toHaveLength(15);
    const fields = { option: "--full", read: 12, what: "pages", rows: 1200 };
    expect(report.notes).toMatchObject([{ code: "stream.begun_afresh", fields }]);
  });

  test("a second attempt of --full goes on with what its first one read", async () => {
    const place = await scenario(make, { items: 720 });
    const asked = place.clock.date().toISOString();
    place.clock.advance(1_000);
    const order = { names, full: true, askedAt: asked };
    await place.sync({ ...order, maxRequests: 4 });
    place.clock.advance(1_000);
    expect(lineOf(await place.sync(order), "items")).toMatchObject({ carried: 300, rows_read: 420, inserted: 720 });
  });

  test("details that were fetched before a stop are published without being fetched again, but for those of an order that went meanwhile", async () => {
    const place = await scenario(make, { orders: 60 });
    const stop = new AbortController();
    let asked = 0;
    place.look = ({ path }) => {
      if (path.startsWith("/po/") && ++asked === 30) stop.abort(new StoppedError(sentence("Ctrl-C"), 130));
    };
    const stopped = lineOf(await place.sync({}, stop.signal), "purchase_order_details");
    expect(stopped).toMatchObject({ status: "stopped", inserted: 0 });
    const fetched = place.simulator.requests.entries.find(entry => entry.template === "/po/{po_number}")!;
    place.simulator.delete("purchase_orders", [decodeURIComponent(fetched.path.slice("/po/".length))]);
    place.simulator.requests.clear();
    const line = lineOf(await place.sync({ names: ["purchase_order_details"] }), "purchase_order_details");
    expect(line).toMatchObject({ status: "succeeded", carried: stopped.rows_read, inserted: 59 });
    expect(stopped.rows_read).toBeGreaterThan(10);
    expect(place.simulator.requests.count("/po/{po_number}")).toBe(60 - stopped.rows_read);
    const orders = streams.filter(stream => stream.name.startsWith("purchase_order"));
    expect(await compareWithTruth(place.simulator, place.warehouse, orders, "")).toMatchObject({ differences: [] });
  });

  test("a cursor that the service no longer takes starts the scan afresh, and nothing is counted twice", async () => {
    const place = await scenario(make, { items: 320 });
    await place.sync({ names, maxRequests: 3 });
    let refusals = 1;
    place.look = ({ query }) => (query.has("cursor") && refusals-- > 0 ? refused(422, "INVALID_CURSOR") : undefined);
    const line = lineOf(await place.sync({ names }), "items");
    expect(line).toMatchObject({ status: "succeeded", carried: 0, rows_read: 320, inserted: 320, repeated: 0 });
    expect(place.said.join()).toContain("starting afresh");
  });

  test("a cursor that comes twice ends the scan as incomplete: nothing is deleted, and the next run goes on", async () => {
    const place = await scenario(make, { items: 320 });
    const { simulator, sync, count } = place;
    await sync({ names });
    simulator.delete("items", 1);
    Object.assign(simulator.faults, { only: "/items", repeatCursor: { next: 1 } });
    const broken = await sync({ names });
    expect(broken).toMatchObject({ status: "failed", exit_code: 1 });
    expect(lineOf(broken, "items")).toMatchObject({ status: "incomplete", deleted: 0 });
    expect(lineOf(broken, "items").error).toContain("next_cursor came twice");
    expect(await count("items", "_deleted_at is null")).toBe(320);
    const line = lineOf(await sync({ names }), "items");
    expect(line).toMatchObject({ status: "succeeded" });
    expect(balance(line).went).toBe(balance(line).came);
  });

  test.each([
    { what: "is refused", look: () => refused(400, "BROKEN") },
    { what: "ends in a 500", look: () => refused(500, "BROKEN") },
    { what: "is not found, also by a fresh scan,", look: () => refused(404, "NOT_FOUND") },
  ])(
    "a cursor that $what in three runs: what lies before it is published, nothing is deleted, the stream fails",
    async ({ look }) => {
      const place = await scenario(make, { items: 320 });
      const { simulator, sync, count, clock } = place;
      await sync({ names });
      simulator.delete("items", 2);
      simulator.insert("items", 5);
      const seen: string[] = [];
      place.look = ({ path, query }) => {
        const cursor = query.get("cursor");
        if (path !== "/items" || cursor === null) return;
        if (!seen.includes(cursor)) seen.push(cursor);
        return seen.indexOf(cursor) === 1 ? look() : undefined;
      };
      for (const run of [1, 2]) {
        expect((await sync({ names })).exit_code, `run ${run}`).toBe(1);
        expect(await count("items")).toBe(320);
      }
      const third = await sync({ names });
      expect(third.exit_code).toBe(1);
      expect(lineOf(third, "items")).toMatchObject({ inserted: 5, deleted: 0 });
      expect(await count("items", "_deleted_at is null")).toBe(325);
      place.look = () => undefined;
      expect(lineOf(await sync({ names, full: true }), "items")).toMatchObject({ carried: 0, missing: 2 });
      clock.advance(3_600_000);
      expect(lineOf(await sync({ names }), "items")).toMatchObject({ status: "succeeded", deleted: 2 });
    },
  );

  test("a scan is not continued by a run that reads values in another way", async () => {
    const place = await scenario(make, { items: 320 });
    await place.sync({ names, maxRequests: 3 });
    place.configure({ formats: { dates: ["iso"], timezone: "Europe/Berlin" } });
    place.simulator.requests.clear();
    expect(lineOf(await place.sync({ names }), "items")).toMatchObject({ carried: 0, rows_read: 320, inserted: 320 });
    expect(cursorsOf(place)[0]).toBeNull();
  });

  test("a stage that was published before its run died is not published again", async () => {
    const place = await scenario(make, { items: 320 });
    await place.sync({ names, maxRequests: 3 });
    const record = await inStage(place, async stage => stage.record!);
    await place.sync({ names });
    // What the run leaves that dies before it has emptied its stage.
    await inStage(place, stage => stage.begin({ ...record, phase: "read" }));
    expect(lineOf(await place.sync({ names }), "items")).toMatchObject({ carried: 0, rows_read: 320, unchanged: 320 });
  });

  test("rows that stand on two pages count as repeated, and each is stored once", async () => {
    const place = await scenario(make, { items: 320 });
    Object.assign(place.simulator.faults, { only: "/items", repeatRows: 3 });
    const line = lineOf(await place.sync({ names }), "items");
    expect(line).toMatchObject({ status: "succeeded", inserted: 320, repeated: 9, rows_read: 329 });
    expect(balance(line).went).toBe(balance(line).came);
    const second = lineOf(await place.sync({ names }), "items");
    expect(second).toMatchObject({ inserted: 0, updated: 0, unchanged: 320, repeated: 9 });
    expect(await compareWithTruth(place.simulator, place.warehouse, items, "")).toMatchObject({ differences: [] });
  });

  test("a scan that took longer than six hours publishes what it read, but deletes nothing", async () => {
    const place = await scenario(make, { orders: 320 });
    await place.sync({ names: ["purchase_orders"] });
    place.simulator.delete("purchase_orders", 2);
    place.simulator.insert("purchase_orders", 3);
    await place.sync({ names: ["purchase_orders"], maxRequests: 3 });
    place.clock.advance(7 * 3_600_000);
    const line = lineOf(await place.sync({ names: ["purchase_orders"] }), "purchase_orders");
    expect(line).toMatchObject({ status: "succeeded", inserted: 3, deleted: 0 });
    const next = lineOf(await place.sync({ names: ["purchase_orders"] }), "purchase_orders");
    expect(next).toMatchObject({ deleted: 2 });
  });

  test("a scan whose first page did not come for a day is as good as a new one", async () => {
    const place = await scenario(make, { orders: 120 });
    await place.sync({ names: ["purchase_orders"] });
    place.simulator.delete("purchase_orders", 2);
    place.look = ({ path }) => (path === "/po" ? refused(422, "VALIDATION_ERROR") : undefined);
    expect(lineOf(await place.sync({ names: ["purchase_orders"] }), "purchase_orders")).toMatchObject({
      status: "failed",
    });
    place.look = () => undefined;
    place.clock.advance(24 * 3_600_000);
    const line = lineOf(await place.sync({ names: ["purchase_orders"] }), "purchase_orders");
    expect(line).toMatchObject({ status: "succeeded", deleted: 2 });
  });

  test("a scan with too many unusable rows publishes nothing, and the next run reads the list again", async () => {
    const place = await scenario(make, { items: 150 });
    place.simulator.faults.nullKeys = 0.3;
    const refusedRun = await place.sync({ names });
    expect(refusedRun.exit_code).toBe(1);
    expect(lineOf(refusedRun, "items").error).toContain("max_reject_share");
    expect(await place.count("items")).toBe(0);
    place.simulator.faults.nullKeys = 0;
    expect(lineOf(await place.sync({ names }), "items")).toMatchObject({
      status: "succeeded",
      carried: 0,
      inserted: 150,
    });
  });
});
