import { describe, expect, test } from "vitest";
import { refused } from "../../support/interposed.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { scenario } from "../scenario.ts";
import { noAudit } from "../vendors.ts";

const live = "_deleted_at is null";

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a detail that answers 404 is absent: its rows go, its order stays, and it is asked again when that changes", async () => {
    const place = await scenario(make, { orders: 60 });
    const { simulator, sync, count } = place;
    await sync();
    const key = String([...simulator.truth.rows("purchase_orders")][3]!["po_number"]);
    const path = `/po/${encodeURIComponent(key)}`;
    place.look = passing => (passing.path === path ? refused(404, "RESOURCE_NOT_FOUND") : undefined);
    simulator.update("purchase_orders", [key]);
    const report = await sync();
    expect(lineOf(report, "purchase_order_details")).toMatchObject({ status: "succeeded", deleted: 1 });
    const of = `po_number = '${key}'`;
    expect(await count("purchase_orders", `${live} and ${of}`)).toBe(1);
    expect(await count("purchase_order_details", `${live} and ${of}`)).toBe(0);
    expect(await count("purchase_order_line_items", `${live} and ${of}`)).toBe(0);
    expect(await count("_tributary.details", `outcome = 'absent' and parent_key = '${key}'`)).toBe(1);
    place.look = () => undefined;
    simulator.update("purchase_orders", [key]);
    await sync();
    expect(await count("purchase_order_details", `${live} and ${of}`)).toBe(1);
    expect(await count("purchase_order_line_items", `${live} and ${of}`)).toBeGreaterThan(0);
  });

  test("a detail of a listed row that answers 404 is requested again after 1, 2 and 4 nights, and verify requests it", async () => {
    const noAudit = { streams: { defaults: { details: { audit: 0 } } } };
    const place = await scenario(make, { orders: 60 }, { config: noAudit });
    const { simulator, sync, verify, count, clock } = place;
    const key = String([...simulator.truth.rows("purchase_orders")][3]!["po_number"]);
    const path = `/po/${encodeURIComponent(key)}`;
    let requested = 0;
    let isGone = true;
    place.look = passing => {
      if (passing.path !== path) return undefined;
      requested++;
      return isGone ? refused(404, "RESOURCE_NOT_FOUND") : undefined;
    };
    const nights: number[] = [];
    for (let night = 0; night <= 7; night++) {
      const before = requested;
      const report = await sync();
      expect(report.notes).toMatchObject([{ code: "details.absent" }]);
      if (requested > before) nights.push(night);
      clock.advance(24 * 3_600_000);
    }
    expect(nights).toEqual([0, 1, 3, 7]);
    expect(await count("_tributary.details", `parent_key = '${key}' and attempts = 4 and reason like '%404%'`)).toBe(1);
    isGone = false;
    const before = requested;
    expect(await verify()).toMatchObject({ exit_code: 0 });
    expect(requested).toBe(before + 1);
    clock.advance(8 * 24 * 3_600_000);
    expect((await sync()).notes).toEqual([]);
    expect(await count("purchase_order_details", `${live} and po_number = '${key}'`)).toBe(1);
  });

  test("a list needs no tables of its details; details that are switched off go with their orders all the same", async () => {
    const without = { streams: { exclude: ["purchase_order_details"] } };
    const place = await scenario(make, { orders: 60 }, { config: without });
    const { simulator, sync, count, configure } = place;
    const orders = { names: ["purchase_orders"] };
    const gone = () => String(simulator.delete("purchase_orders", 1)[0]);
    expect(await sync(orders)).toMatchObject({ exit_code: 0 });
    const first = gone();
    expect(lineOf(await sync(orders), "purchase_orders")).toMatchObject({ status: "succeeded", deleted: 1 });
    simulator.restore("purchase_orders", [first]);
    expect(lineOf(await sync(orders), "purchase_orders")).toMatchObject({ status: "succeeded", updated: 1 });
    configure({});
    expect(await sync()).toMatchObject({ exit_code: 0 });
    expect(await count("purchase_order_details", live)).toBe(60);
    configure(without);
    const second = gone();
    expect(lineOf(await sync(orders), "purchase_orders")).toMatchObject({ status: "succeeded", deleted: 1 });
    expect(await count("purchase_order_details", `${live} and po_number = '${second}'`)).toBe(0);
    expect(await count("purchase_order_details", live)).toBe(59);
  });

  test("many 404s at once are not believed", async () => {
    const place = await scenario(make, { orders: 120 }, { config: { destination: { publish_every: "5s" } } });
    const { simulator, sync, count, clock } = place;
    await sync();
    place.look = ({ path }) => {
      // Early publishes must not make portions of them that each look harmless.
      clock.advance(150);
      return path.startsWith("/po/") ? refused(404, "RESOURCE_NOT_FOUND") : undefined;
    };
    simulator.update("purchase_orders", 100);
    const report = await sync();
    expect(report.exit_code).toBe(1);
    expect(lineOf(report, "purchase_order_details")).toMatchObject({ status: "failed", deleted: 0 });
    expect(lineOf(report, "purchase_order_details").error).toContain("404");
    expect(await count("purchase_order_details", live)).toBe(120);
    expect(await count("_tributary.details", "outcome = 'absent'")).toBe(0);
  });

  test("a detail that fails is tried again later and later; more than one in twenty make the stream fail", async () => {
    const place = await scenario(make, { orders: 60 }, { config: noAudit() });
    const { simulator, sync, count, clock } = place;
    const keys = [...simulator.truth.rows("purchase_orders")].map(row => encodeURIComponent(String(row["po_number"])));
    let broken = keys.slice(0, 3).map(key => `/po/${key}`);
    let asked = 0;
    place.look = ({ path }) => {
      if (!broken.includes(path)) return;
      asked++;
      return refused(400, "BROKEN");
    };
    const first = await sync();
    expect(lineOf(first, "purchase_order_details")).toMatchObject({ status: "warning", inserted: 57 });
    expect(first.warnings).toMatchObject([
      { code: "details.some_failed", fields: { failed: 3, waiting: 0, reason: expect.stringContaining("BROKEN") } },
    ]);
    expect(await count("_tributary.details", "outcome = 'failed' and reason like '%BROKEN%'")).toBe(3);
    expect(await count("_tributary.details", "outcome = 'failed' and attempts = 1")).toBe(3);
    await sync();
    expect(asked).toBe(3);
    clock.advance(15 * 60_000);
    expect((await sync()).exit_code).toBe(1);
    expect(asked).toBe(6);
    clock.advance(15 * 60_000);
    await sync();
    expect(asked).toBe(6);
    clock.advance(15 * 60_000);
    broken = [];
    await sync();
    expect(await count("purchase_order_details", live)).toBe(60);
    expect(await count("_tributary.details", "outcome <> 'ok'")).toBe(0);
    const many = new Set(
      simulator
        .update("purchase_orders", 20)
        .slice(0, 4)
        .map(key => `/po/${encodeURIComponent(key)}`),
    );
    broken = [...many];
    const last = await sync();
    expect(last.exit_code).toBe(1);
    expect(lineOf(last, "purchase_order_details").error).toMatch(/4 of 20 details could not be fetched/);
    expect(await count("purchase_order_details", live)).toBe(60);
  });

  test("details that failed and wait for their next try keep a run from success and the table from being complete", async () => {
    const place = await scenario(make, { orders: 12 }, { config: noAudit() });
    const { sync, count, clock } = place;
    place.look = ({ path }) => (path.startsWith("/po/") ? refused(400, "BROKEN") : undefined);
    const complete = "stream = 'purchase_order_details' and complete_to is not null";
    for (const requests of [12, 0]) {
      const report = await sync({ names: ["purchase_order_details"] });
      expect(report.exit_code).toBe(1);
      expect(lineOf(report, "purchase_order_details")).toMatchObject({ status: "failed", requests });
      expect(lineOf(report, "purchase_order_details").error).toMatch(/12 of 12 details could not be fetched/);
      expect(await count("_tributary.streams", complete)).toBe(0);
      clock.advance(60_000);
    }
    // Those that max_details leaves to later runs do, too.
    place.look = () => undefined;
    place.configure(noAudit({ purchase_order_details: { max_details: 5 } }));
    for (const left of [7, 2]) {
      clock.advance(86_400_000);
      const report = await sync({ names: ["purchase_order_details"] });
      expect(report.exit_code).toBe(1);
      expect(lineOf(report, "purchase_order_details").error).toMatch(
        new RegExp(`${left} of 12 details could not be fetched by the runs before`),
      );
      expect(await count("purchase_order_details")).toBe(12 - left);
      expect(await count("_tributary.streams", complete)).toBe(0);
    }
    clock.advance(86_400_000);
    expect(await sync({ names: ["purchase_order_details"] })).toMatchObject({ exit_code: 0 });
    expect(await count("_tributary.streams", complete)).toBe(1);
  });

  test("details that failed do not keep a backfill of other dates from its end", async () => {
    const place = await scenario(make, { orders: 60 }, { config: noAudit() });
    const { simulator, sync, backfill, clock, count } = place;
    const names = ["purchase_order_details"];
    const old = [...simulator.truth.rows("purchase_orders")].filter(({ po_date: date }) => String(date) < "2025-03-01");
    expect(old.length).toBeGreaterThan(4);
    const paths = old.map(({ po_number: number }) => `/po/${encodeURIComponent(String(number))}`);
    place.look = ({ path }) => (paths.includes(path) ? refused(400, "BROKEN") : undefined);
    expect(await sync({ names })).toMatchObject({ exit_code: 1 });
    clock.advance(60_000);
    expect(await backfill({ names, range: { from: "2025-03-01", to: undefined } })).toMatchObject({ exit_code: 0 });
    const waits = { names, range: { from: "2024-01-01", to: undefined } };
    const report = await backfill(waits);
    expect(report).toMatchObject({ exit_code: 1 });
    expect(lineOf(report, "purchase_order_details").error).toMatch(`${old.length} of `);
    expect(await count("purchase_order_details")).toBe(60 - old.length);
  });
});
