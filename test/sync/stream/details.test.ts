import { describe, expect, test } from "vitest";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { type Scenario, scenario } from "../scenario.ts";

const names = ["purchase_order_details"];
const DAY_MS = 86_400_000;
const settings = (more: object) => ({
  streams: { defaults: { details: { audit: 0 } }, settings: { purchase_order_details: more } },
});

/** The orders whose details were asked for, in order. */
const asked = ({ simulator }: Scenario): string[] =>
  simulator.requests.entries
    .filter(entry => entry.template === "/po/{po_number}")
    .map(entry => decodeURIComponent(entry.path.slice("/po/".length)));

async function run(place: Scenario, order: object = {}) {
  place.simulator.requests.clear();
  return lineOf(await place.sync({ names, ...order }), "purchase_order_details");
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("open orders come first, the newest of them before the others", async () => {
    const place = await scenario(make, { orders: 80 }, { config: { api: { max_concurrency: 1 } } });
    await run(place);
    const rows = new Map(
      [...place.simulator.truth.rows("purchase_orders")].map(row => [String(row["po_number"]), row]),
    );
    const order = asked(place).map(key => rows.get(key)!);
    expect(order).toHaveLength(80);
    const rank = (row: Record<string, unknown>) =>
      `${row["is_open"] === true ? 1 : 0} ${String(row["po_date"] ?? "0000-00-00").slice(0, 10)}`;
    const ranks = order.map(rank);
    // Two requests may be under way at once: a neighbour may overtake.
    for (const [i, later] of ranks.entries())
      if (i >= 2) expect(later <= ranks[i - 2]!, `${later} after ${ranks[i - 2]}`).toBe(true);
  });

  test("no more details than max_details in a run, and none of orders older than the start", async () => {
    const place = await scenario(make, { orders: 80 }, { config: settings({ max_details: 15 }) });
    expect(await run(place)).toMatchObject({ status: "succeeded", inserted: 15 });
    expect(await run(place)).toMatchObject({ inserted: 15, unchanged: 0 });
    const dates = [...place.simulator.truth.rows("purchase_orders")].map(row =>
      String(row["po_date"] ?? "").slice(0, 10),
    );
    const start = dates.filter(date => date !== "").sort()[40]!;
    place.configure({ ...settings({}), streams: { ...settings({}).streams, start } });
    await run(place);
    const expected = dates.filter(date => date === "" || date >= start).length;
    expect(await place.count("purchase_order_details")).toBeLessThanOrEqual(expected + 30);
    const old = await place.count(
      "purchase_order_details",
      `po_number in (select po_number from procurement.purchase_orders where po_date < '${start}')`,
    );
    expect((await place.count("purchase_order_details")) - old).toBe(expected);
    expect(await run(place)).toMatchObject({ requests: 0 });
  });

  test("details of orders that can still change are due again after their time", async () => {
    const place = await scenario(make, { orders: 60 }, { config: settings({ details: { refresh: "7d" } }) });
    await run(place);
    place.clock.advance(6 * DAY_MS);
    expect((await run(place)).requests).toBe(0);
    place.clock.advance(DAY_MS + 60_000);
    const open = [...place.simulator.truth.rows("purchase_orders")].filter(row => row["is_open"] === true);
    expect(await run(place)).toMatchObject({ requests: open.length, inserted: 0, updated: 0, unchanged: open.length });
    expect(new Set(asked(place))).toEqual(new Set(open.map(row => String(row["po_number"]))));
    expect((await run(place)).requests).toBe(0);
  });

  test("a list that can't be read skips its details and fails nothing else", async () => {
    const place = await scenario(make, { orders: 20, items: 20 });
    place.look = ({ path }) =>
      path === "/po" ? { status: 400, body: { error: { code: "BROKEN", message: "no" } } } : undefined;
    const report = await place.sync();
    expect(report).toMatchObject({ status: "failed", exit_code: 1 });
    expect(lineOf(report, "purchase_orders").status).toBe("failed");
    expect(lineOf(report, "purchase_order_details")).toMatchObject({
      status: "skipped",
      error: expect.stringContaining("purchase_orders"),
    });
    expect(lineOf(report, "items")).toMatchObject({ status: "succeeded", inserted: 20 });
    expect(await place.count("items")).toBe(20);
  });

  test("an answer that is another order's is a failure, never that order's detail", async () => {
    const place = await scenario(make, { orders: 30 }, { config: settings({}) });
    const [first, second] = [...place.simulator.truth.rows("purchase_orders")].map(row => String(row["po_number"]));
    place.look = ({ path }) =>
      path === `/po/${encodeURIComponent(first!)}`
        ? { status: 200, body: { data: place.simulator.truth.get(`/po/${encodeURIComponent(second!)}`), meta: {} } }
        : undefined;
    const line = await run(place);
    expect(line).toMatchObject({ inserted: 29, status: "warning" });
    expect(await place.count("_tributary.details", `outcome = 'failed' and parent_key = '${first}'`)).toBe(1);
  });
});
