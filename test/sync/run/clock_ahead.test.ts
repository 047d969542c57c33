import { describe, expect, test } from "vitest";
import { meddle } from "../../operations/verify/planting.ts";
import { type StillClock, stillClock } from "../../support/clock.ts";
import { eitherWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { type Scenario, scenario } from "../scenario.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Tables of orders and of their details, with their versions, by their columns of timestamps. */
const places: readonly (readonly [table: string, columns: readonly string[]])[] = [
  ...["purchase_orders", "purchase_order_details"].flatMap(name => [
    [`procurement.${name}`, ["_first_seen_at", "_changed_at", "_deleted_at"]] as const,
    [`procurement.${name}_versions`, ["_valid_from", "_valid_to"]] as const,
    [`_tributary.rows_${name}`, ["first_seen_at", "missing_since", "deleted_at"]] as const,
  ]),
  ["procurement.purchase_order_line_items", ["_changed_at", "_deleted_at"]],
  ["_tributary.history", ["kept_from", "kept_to"]],
];

/** The greatest timestamp there is, ms since 1970. */
async function latest(warehouse: Warehouse): Promise<number> {
  const all = places.flatMap(([table, columns]) =>
    columns.map(column => `select max(${column}) as "at" from ${table}`),
  );
  const [row] = await warehouse.query<{ at: Date }>(`select max(t."at") as "at" from (${all.join(" union all ")}) t`);
  return row!.at.getTime();
}

/** A service on its own, right clock, and runs on another. */
async function apart(make: () => Promise<Warehouse>): Promise<Scenario & { readonly real: StillClock }> {
  const real = stillClock();
  const place = await scenario(
    make,
    { orders: 8 },
    {
      options: { now: real.date },
      config: {
        streams: {
          include: [],
          exclude: ["invoice*", "items", "findings*", "ingested"],
          defaults: { history: true, details: { audit: 0 } },
        },
      },
    },
  );
  return { ...place, real };
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a publish is at most a minute ahead of the service's clock, so the next run changes rows at its own time", async () => {
    const { clock, real, sync, simulator, warehouse } = await apart(make);
    await sync();
    simulator.update("purchase_orders", 2);
    real.advance(HOUR);
    clock.advance(HOUR + 2 * DAY);
    await sync();
    expect(await latest(warehouse)).toBeLessThanOrEqual(real.now() + 60_000);
    const [fetched] = await warehouse.query<{ at: Date }>(`select max(fetched_at) as "at" from _tributary.details`);
    expect(fetched!.at.getTime()).toBeLessThanOrEqual(real.now() + 60_000);
    simulator.update("purchase_orders", 1);
    real.advance(HOUR);
    clock.advance(HOUR - 2 * DAY);
    const report = await sync();
    expect(report.warnings).toEqual([]);
    const rows = await warehouse.query<{ n: number }>(
      `select count(*) as n from procurement.purchase_orders where _changed_at = timestamptz '${real.date().toISOString()}'`,
    );
    expect(Number(rows[0]!.n)).toBe(1);
  });

  test("timestamps in the future become the next run's, in their order, and the run says how to reset bookmarks", async () => {
    const { clock, real, sync, simulator, warehouse } = await apart(make);
    await sync();
    // Both clocks ahead: nobody could know.
    real.advance(2 * DAY);
    clock.advance(2 * DAY);
    simulator.update("purchase_orders", 3);
    await sync();
    real.advance(HOUR);
    clock.advance(HOUR);
    simulator.update("purchase_orders", 2);
    simulator.delete("purchase_orders", 1);
    await sync({ full: true });
    real.advance(-2 * DAY);
    clock.advance(-2 * DAY);
    const values = async () =>
      warehouse.query(`select v.po_number, v.vendor_name, v._is_current from procurement.purchase_orders_versions v
        order by v.po_number, v._valid_from`);
    const before = await values();
    const report = await sync();
    expect(await latest(warehouse)).toBeLessThanOrEqual(real.now() + 60_000);
    expect(report.exit_code).toBe(0);
    expect(report.warnings).toMatchObject([
      {
        code: "run.clock_was_ahead",
        message: expect.stringMatching(/^acme: .*purchase_orders.*update <bookmarks> set/s),
      },
    ]);
    expect(await values()).toEqual(before);
    const [odd] = await warehouse.query<{ n: number }>(
      "select count(*) as n from procurement.purchase_orders_versions where _valid_to <= _valid_from",
    );
    expect(Number(odd!.n)).toBe(0);
    const [current] = await warehouse.query<{ n: number }>(
      `select count(*) as n from procurement.purchase_orders_as_of(now())`,
    );
    expect(Number(current!.n)).toBe(7);
    expect((await sync()).warnings).toEqual([]);
  });

  test("what another company's run wrote ahead of time moves no later publish into the future", async () => {
    const { real, sync, simulator, warehouse, ...place } = await apart(make);
    await sync();
    const ahead = new Date(real.now() + 2 * DAY).toISOString();
    await meddle(warehouse, [
      `insert into _tributary.stream_state (company, stream, state, updated_at)
      values ('beta', 'purchase_orders', '{"lastMoment":"${ahead}"}', timestamptz '${ahead}')`,
    ]);
    simulator.update("purchase_orders", 1);
    real.advance(HOUR);
    place.clock.advance(HOUR);
    await sync();
    expect(await latest(warehouse)).toBeLessThanOrEqual(real.now() + 60_000);
  });
});
