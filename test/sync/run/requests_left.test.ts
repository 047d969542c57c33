import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { count, flag, id, record } from "../../../schemas/fields.ts";
import { defineStream, detail } from "../../../src/catalog/stream.ts";
import { planReport } from "../../../src/cli/terminal/plan_report.ts";
import { readStatus } from "../../../src/operations/status.ts";
import { streamOf } from "../../catalog/streams.ts";
import { emptyFolder } from "../../cli/process.ts";
import { configOf, plain } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { told } from "../answers.ts";

const orders = streamOf("orders", { order_id: id(), is_open: flag() });
const detailsAt = (name: string, path: `/${string}`) =>
  defineStream({
    ...{ name, path, preset: "core", key: ["order_id"] },
    mode: detail({ of: "orders", open: "is_open" }),
    row: record("What came of it.", { order_id: id(), steps: count() }),
  });
const catalogue = [
  orders,
  detailsAt("order_details", "/orders/{order_id}"),
  detailsAt("order_notes", "/notes/{order_id}"),
];
const ORDERS = 100;

const rest = { streams: { defaults: { details: { audit: "rest" } } } };

describe.each(eitherWarehouse)("$name: what limits of requests leave", ({ make }) => {
  const placed = async (config: Readonly<Record<string, unknown>>) => {
    const place = await told(make, catalogue, {}, config);
    const orderIds = Array.from({ length: ORDERS }, (_, nth) => `O-${nth}`);
    place.says["/orders"] = () => ({ orders: orderIds.map(order_id => ({ order_id, is_open: true })) });
    for (const order_id of orderIds)
      for (const path of ["orders", "notes"]) place.says[`/${path}/${order_id}`] = () => ({ order_id, steps: 1 });
    const asked = (path: string) => place.asked.filter(each => each.startsWith(`/${path}/`)).length;
    return Object.assign(place, { asks: () => [asked("orders"), asked("notes")] });
  };

  test("goes to looks at unchanged rows, to each stream of details an equal share; without a limit two of a hundred", async () => {
    // With an archive answers go another way.
    const place = await placed({ ...rest, archive: { path: join(emptyFolder(), "archive") } });
    await place.run();
    place.clock.advance(86_400_000);
    await place.run();
    expect(place.asks()).toEqual([2, 2]);
    place.clock.advance(86_400_000);
    // One goes to the list and one to whose key it is; a twentieth of the 42 is kept.
    const report = await place.run({ maxRequests: 43 });
    expect(report).toMatchObject({ status: "succeeded", exit_code: 0 });
    const [details, notes] = place.asks() as [number, number];
    expect(details).toBeGreaterThanOrEqual(18);
    expect(notes).toBeGreaterThanOrEqual(18);
    expect(details + notes).toBeLessThanOrEqual(41);
    // Never more than there are, and what is due comes before.
    place.clock.advance(86_400_000);
    await place.run({ maxRequests: 1_000 });
    expect(place.asks()).toEqual([100, 100]);
  });

  test("status and a dry run forecast how a day's limit is divided, a dry run of the streams that it is for", async () => {
    const place = await placed(rest);
    await place.run();
    place.clock.advance(86_400_000);
    const planned = async (config: Readonly<Record<string, unknown>>) => {
      const whole = await configOf(place.simulator, place.warehouse, config);
      return (await readStatus(whole, catalogue, undefined, place.clock)).plan!;
    };
    const limited = { ...rest, api: { requests_per_day: 81 } };
    const plans = await planned(limited);
    // The list took one request; 76 of 80 are shared by two.
    for (const plan of plans) {
      expect(plan).toMatchObject({
        due: 0,
        audit: "rest",
        looks: { oldest: 12, sample: 4, index: 22 },
        oldest_days: 9,
      });
    }
    expect(plans.map(({ stream }) => stream)).toEqual(["order_details", "order_notes"]);
    expect(planReport(plans, plain, false)).toEqual([
      expect.stringMatching(/^With a run each night:\norder_details: .+ 9 days old; .+\norder_notes: .+\.$/),
    ]);
    place.configure(limited);
    const { streams, plan } = await place.dryRun({ catalogue });
    expect(streams.map(each => [each.stream, each.requests])).toEqual([
      ["orders", 1],
      ["order_details", 38],
      ["order_notes", 38],
    ]);
    expect(plan).toEqual(plans);
    expect((await place.dryRun({ catalogue, names: ["order_notes"] })).plan).toEqual([plans[1]]);
    expect((await planned(rest))[0]).toMatchObject({ looks: { oldest: 1, sample: 1, index: 0 }, oldest_days: 100 });
  });

  test("a day's limit holds for all runs of the UTC day together, and the next day begins anew", async () => {
    const place = await placed({
      streams: { defaults: { details: { audit: 1 } } },
      api: { requests_per_day: 250, max_concurrency: 1 },
    });
    expect(await place.run()).toMatchObject({ exit_code: 0 });
    expect(place.asks()).toEqual([100, 100]);
    place.clock.advance(60_000);
    const second = await place.run();
    expect(second).toMatchObject({ status: "stopped", exit_code: 5 });
    const [details, notes] = place.asks() as [number, number];
    expect(details + notes).toBeGreaterThan(40);
    expect(details + notes).toBeLessThan(50);
    expect(JSON.stringify(second)).toContain("api.requests_per_day");
    place.clock.advance(60_000);
    expect(await place.run()).toMatchObject({ exit_code: 5 });
    expect(place.asked).toEqual([]);
    place.clock.advance(86_400_000);
    expect(await place.run()).toMatchObject({ exit_code: 0 });
  });
});
