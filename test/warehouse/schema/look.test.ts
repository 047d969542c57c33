import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { describe, expect, onTestFinished, test } from "vitest";
import { id, table, text } from "../../../schemas/fields.ts";
import { meddle } from "../../operations/verify/planting.ts";
import { forget } from "../../support/forgetting.ts";
import type { Ordered } from "../../support/run.ts";
import { type Warehouse, warehouses } from "../../support/warehouse.ts";
import { ordersWith } from "../../sync/orders.ts";
import { scenario } from "../../sync/scenario.ts";

const lines = { line_no: id().nullable(), description: text().nullable() };
const catalogue = ordersWith({
  order: { vendor_name: text().nullable() },
  detail: { status: text().nullable(), line_items: table("purchase_order_line_items", "Lines.", lines) },
});

const writtenFor = { schema: "procurement", stateSchema: "_tributary" };
const known = { catalogue, relations: () => [], models: { models: [], meanings: [], writtenFor } };

const CATALOG = /duckdb_(?:tables|views|columns|functions)\(|pg_catalog|information_schema|pragma_table_info/;

/** A lake's stages stand in another database, at which each opening looks. */
const least = (name: Warehouse["name"]) => (name === "ducklake" ? 2 : 1);

type Make = () => Promise<Warehouse>;

/** A warehouse in which nothing has changed for two nights. */
async function settled(make: Make, config: Readonly<Record<string, unknown>> = {}) {
  const place = await scenario(
    make,
    { orders: 5 },
    { config: { views: true, streams: { defaults: { details: { audit: 0 } } }, ...config } },
  );
  /** What a night asks the catalog, what it says, and how it ends. */
  const night = async (order: Ordered = {}) => {
    place.clock.advance(3_600_000);
    place.said.length = 0;
    let asked = 0;
    const told = (statement: unknown) => {
      if (CATALOG.test(String(statement))) asked += 1;
    };
    subscribe("tributary.statement", told);
    const report = await place.sync({ ...known, ...order }).finally(() => unsubscribe("tributary.statement", told));
    expect(report.errors).toEqual([]);
    return { asked, said: [...place.said], report };
  };
  await night();
  await night();
  expect(await night()).toMatchObject({ asked: least(place.warehouse.name), report: { exit_code: 0 } });
  return Object.assign(place, { night });
}

describe.each(warehouses)("$name", ({ make, name }) => {
  test("a night asks the catalog once while nothing but rows has changed, whichever streams it works on", async () => {
    const { night, simulator } = await settled(make);
    simulator.update("purchase_orders", 2);
    simulator.insert("purchase_orders", 1);
    expect((await night()).report.exit_code).toBe(0);
    // The details of what is new come now.
    expect((await night()).report.exit_code).toBe(0);
    expect((await night()).asked).toBe(least(name));
    const names = ["purchase_orders", "purchase_order_details"];
    expect([(await night({ names })).asked, (await night()).asked]).toEqual([least(name), least(name)]);
  });

  test.each([
    [
      "a dropped table",
      "drop table procurement.purchase_order_line_items",
      /created table purchase_order_line_items/,
      "select count(*) > 0 as mended from procurement.purchase_order_line_items",
    ],
    [
      "a renamed column",
      "alter table procurement.purchase_orders rename column vendor_name to vendor",
      /renamed or retyped purchase_orders\.vendor_name/,
      "select count(*) = 5 as mended from procurement.purchase_orders where vendor_name is not null",
    ],
    [
      "a lost comment",
      "comment on view procurement_analytics.purchase_orders is null",
      /^/,
      "select count(*) > 0 as mended from procurement_analytics.purchase_orders",
    ],
    [
      "a dropped view",
      "drop view procurement_analytics.purchase_order_details",
      /created view procurement_analytics\.purchase_order_details/,
      "select count(*) = 5 as mended from procurement_analytics.purchase_order_details",
    ],
  ])("%s is noticed by the next night, each time", async (_what, statement, saying, question) => {
    const { night, warehouse } = await settled(make);
    const cascade = /drop table/.test(statement) && warehouse.name === "postgres" ? " cascade" : "";
    for (let time = 1; time <= 2; time++) {
      await meddle(warehouse, [statement.replace(/vendor$/, `vendor_${time}`) + cascade]);
      const next = await night();
      expect([time, next.asked > least(name)]).toEqual([time, true]);
      expect(next.said.join("\n")).toMatch(saying);
      expect(await warehouse.query(question)).toEqual([{ mended: true }]);
    }
    await night();
    expect((await night()).asked).toBe(least(name));
  });

  test("another program and another configuration look at everything again", async () => {
    const { night, configure } = await settled(make);
    expect((await night({ version: "0.0.1" })).asked).toBeGreaterThan(least(name));
    expect((await night({ version: "0.0.1" })).asked).toBe(least(name));
    configure({ views: false });
    expect((await night()).said.join("\n")).toMatch(/removed .*view/);
    const wider = ordersWith({ order: { vendor_name: text().nullable(), currency: text().nullable() } });
    expect((await night({ catalogue: wider })).said.join("\n")).toMatch(/added column purchase_orders\.currency/);
  });
});

/** Resolves when a run has read the facts. */
async function factsRead(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const told = (statement: unknown) => {
    if (/from "_tributary"."warehouse"/.test(String(statement))) resolve();
  };
  subscribe("tributary.statement", told);
  await promise;
  unsubscribe("tributary.statement", told);
}

describe.each(warehouses.filter(({ name }) => name === "postgres"))("$name", ({ make }) => {
  test("a rule of somebody's is refused by the next night", async () => {
    const { night, warehouse } = await settled(make);
    await meddle(warehouse, ["create rule nothing as on insert to procurement.purchase_orders do instead nothing"]);
    await expect(night()).rejects.toThrow(/rule nothing/);
    await meddle(warehouse, ["drop rule nothing on procurement.purchase_orders"]);
    expect((await night()).report.exit_code).toBe(0);
  });

  test("rights that were taken away are given again by the next night", async () => {
    const role = `reader_${Math.random().toString(36).slice(2)}`;
    const reads = `select has_table_privilege('${role}', 'procurement.purchase_orders', 'select') as reads`;
    const admin = await make();
    await meddle(admin, [`create role ${role}`]);
    onTestFinished(() => meddle(admin, [`drop owned by ${role}`, `drop role ${role}`]));
    const { night, warehouse } = await settled(make, { destination: { grant_select_to: [role] } });
    onTestFinished(() => meddle(warehouse, [`drop owned by ${role}`]));
    expect(await warehouse.query(reads)).toEqual([{ reads: true }]);
    for (let time = 1; time <= 2; time++) {
      await meddle(warehouse, [`revoke select on procurement.purchase_orders from ${role}`]);
      await night();
      expect([time, await warehouse.query(reads)]).toEqual([time, [{ reads: true }]]);
    }
  });

  test("what a role may not change is a warning in each run, also while nothing is looked at", async () => {
    const { night, warehouse } = await settled(make);
    await meddle(warehouse, [
      "drop view procurement_analytics.purchase_orders",
      "create view procurement_analytics.purchase_orders as select 1 as one",
    ]);
    const warned = async () => {
      const { asked, report } = await night();
      return [asked, report.warnings.map(({ code }) => code)];
    };
    await night();
    expect([await warned(), await warned()]).toEqual([
      [1, ["views.in_the_way"]],
      [1, ["views.in_the_way"]],
    ]);
  });

  test("tables that somebody alters while a lock is waited for are looked at again", async () => {
    const place = await settled(make);
    let isAltered = false;
    place.look = async () => {
      if (isAltered) return undefined;
      isAltered = true;
      await seen;
      await meddle(place.warehouse, [
        "create rule nothing as on insert to procurement.purchase_orders do instead nothing",
      ]);
      place.clock.advance(60_000);
      return undefined;
    };
    const seen = factsRead();
    await expect(place.night()).rejects.toThrow(/rule nothing/);
  });

  test("tables that a reset drops while the service answers are made again by the same run", async () => {
    const place = await settled(make);
    let isReset = false;
    const seen = factsRead();
    place.look = async () => {
      if (isReset) return undefined;
      isReset = true;
      await seen;
      await forget(place, catalogue, ["purchase_orders"], { drop: true });
      return undefined;
    };
    const { said, report } = await place.night();
    expect([report.exit_code, said.filter(each => each.includes("created table purchase_orders"))]).toEqual([
      0,
      ["created table purchase_orders"],
    ]);
    expect(await place.count("purchase_orders")).toBe(5);
  });
});
