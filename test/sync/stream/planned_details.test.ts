import { describe, expect, test } from "vitest";
import { count, flag, id, text } from "../../../schemas/fields.ts";
import { detail } from "../../../src/catalog/stream.ts";
import { statusReport } from "../../../src/cli/terminal/status_report.ts";
import { verifyReport } from "../../../src/cli/terminal/verify_report.ts";
import { readStatus } from "../../../src/operations/status.ts";
import { streamOf } from "../../catalog/streams.ts";
import { configOf, plain } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { told } from "../answers.ts";

const orders = streamOf("orders", { order_id: id(), maker: text().nullable(), is_open: flag() });
const details = streamOf(
  "order_details",
  { order_id: id(), steps: count() },
  { path: "/orders/{order_id}", mode: detail({ of: "orders", open: "is_open" }) },
);
const ORDERS = 400;

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("more looks go where details changed before, and what a week's looks found is kept", async () => {
    const steps = new Map<string, number>();
    const place = await told(make, [orders, details], {}, { streams: { defaults: { details: { audit: 0.05 } } } });
    place.says["/orders"] = () => ({
      orders: Array.from({ length: ORDERS }, (_, nth) => ({
        ...{ order_id: `O-${nth}`, is_open: false },
        maker: nth < 100 ? "lively" : "calm",
      })),
    });
    for (let nth = 0; nth < ORDERS; nth++)
      place.says[`/orders/O-${nth}`] = () => ({ order_id: `O-${nth}`, steps: steps.get(`O-${nth}`) ?? 0 });
    const asked = () => place.asked.filter(path => path.startsWith("/orders/")).map(path => Number(path.slice(10)));
    await place.run();
    expect(asked()).toHaveLength(ORDERS);
    place.clock.advance(300 * 86_400_000);
    for (let nth = 0; nth < 100; nth++) steps.set(`O-${nth}`, 1);
    await place.run({ allDetails: true });
    let lively = 0;
    for (let night = 1; night <= 8; night++) {
      place.clock.advance(86_400_000);
      for (let nth = 0; nth < 100; nth++) if (nth % 5 === night % 5) steps.set(`O-${nth}`, 1 + night);
      await place.run();
      expect(asked()).toHaveLength(20);
      lively += asked().filter(nth => nth < 100).length;
    }
    // A quarter of the orders: chance, and those that waited longest, would give them a quarter of the looks.
    expect(lively / (8 * 20)).toBeGreaterThan(0.6);
    const [samples] = await place.warehouse.query<{ nights: number; sampled: number }>(
      "select count(*) as nights, sum(sampled) as sampled from _tributary.detail_samples",
    );
    expect(Number(samples!.nights)).toBe(7);
    expect(Number(samples!.sampled)).toBe(7 * 2);
    const config = await configOf(place.simulator, place.warehouse, {
      streams: { defaults: { details: { audit: 0.05 } } },
    });
    const status = await readStatus(config, [orders, details], undefined, place.clock);
    const { details_freshness: freshness } = status.streams.find(({ stream }) => stream === "order_details")!;
    // A quarter of the orders changes every fifth night; seven nights drew two each.
    const { estimate } = freshness!;
    // No order is open or young: none has a look that tells of the promise.
    expect(estimate).toMatchObject({ sampled: 14, fresh: null });
    expect(estimate!.wrong.high).toBeGreaterThan(0.1);
    expect(estimate!.wrong.low).toBeLessThan(0.4);
    expect(statusReport(status, place.clock.now(), plain)).toMatch(
      /^order_details: 90 % of active details are promised to be at most 2 d behind; by 14 looks at random of the last week none was at an active one\. Of all [\d.]+ % \([\d.]+ % to [\d.]+ %\) changed unseen\. Longest unseen: since \d{4}-\d\d-\d\d\.$/m,
    );
    const [plan] = status.plan!;
    expect(plan).toMatchObject({
      ...{ company: "acme", stream: "order_details", due: 0, audit: 0.05, caused_later: 0 },
      looks: { caused: 0, oldest: 6, index: 12, sample: 2 },
      estimated_wrong: estimate!.wrong,
      // Of 400 details six a night.
      oldest_days: 67,
    });
    // Twenty do, and twenty are looked at.
    expect(plan!.change_unseen).toBeGreaterThan(3);
    expect(plan!.change_unseen).toBeLessThan(20);
    // The nights were as this one will be.
    expect(plan!.wrong_in_a_week).toBeCloseTo(estimate!.wrong.share, 9);
    expect(statusReport(status, place.clock.now(), plain)).toMatch(
      /^order_details: details are at most 67 days old; about \d+ change unseen a night\.$/m,
    );
    const table = /^stream +due +caused +oldest +index +sample +wrong now +in a week\n/m;
    expect(statusReport(status, place.clock.now(), plain)).not.toMatch(table);
    expect(statusReport(status, place.clock.now(), plain, true)).toMatch(table);
  });

  test("verify tells changes that the list shows from those that only a look finds, and says when one comes", async () => {
    let maker = "calm";
    const steps = new Map<string, number>();
    const place = await told(make, [orders, details], {}, { streams: { defaults: { details: { audit: 0.05 } } } });
    place.says["/orders"] = () => ({
      orders: ["O-1", "O-2", "O-3"].map(order_id => ({
        order_id,
        is_open: true,
        maker: order_id === "O-1" ? maker : "",
      })),
    });
    for (const order of ["O-1", "O-2", "O-3"])
      place.says[`/orders/${order}`] = () => ({ order_id: order, steps: steps.get(order) ?? 0 });
    await place.run();
    maker = "lively";
    for (const order of ["O-1", "O-2"]) steps.set(order, 7);
    const report = await place.verify({ catalogue: [orders, details] });
    expect(report).toMatchObject({ status: "equal", exit_code: 0, unseen_within_nights: 67 });
    expect(report.differences.map(({ stream, key, kind }) => `${stream} ${key} ${kind}`).toSorted()).toEqual([
      "order_details order_id=O-1 changed_since",
      "order_details order_id=O-2 changed_unseen",
      "orders order_id=O-1 changed_since",
    ]);
    expect(report.streams.map(line => [line.stream, line.changed_since, line.changed_unseen])).toEqual([
      ["orders", 1, 0],
      ["order_details", 1, 1],
    ]);
    expect(verifyReport(report, "_tributary", plain)).toContain(
      "the looks at unchanged rows reach each within 67 nights at the latest",
    );
    const alone = await place.verify({ catalogue: [orders, details], names: ["order_details"] });
    expect(alone.streams.map(line => line.changed_since)).toEqual([2]);
  });

  test("without a budget no detail of an unchanged row is asked for, and no sample is kept", async () => {
    const place = await told(make, [orders, details], {}, { streams: { defaults: { details: { audit: 0 } } } });
    place.says["/orders"] = () => ({ orders: [{ order_id: "O-1", maker: null, is_open: true }] });
    place.says["/orders/O-1"] = () => ({ order_id: "O-1", steps: 1 });
    await place.run();
    place.clock.advance(86_400_000);
    await place.run();
    expect(place.asked).toEqual(["/orders"]);
    expect(await place.count("_tributary.detail_samples")).toBe(0);
  });
});
