import { expect, inject, onTestFinished, test } from "vitest";
import { checkDestination } from "../../../src/operations/check/destination.ts";
import { streams } from "../../../streams/index.ts";
import { createDatabase } from "../../support/database.ts";
import { configOf } from "../../support/run.ts";
import { passing, postgresWarehouse } from "../../support/warehouse.ts";
import { scenario } from "../../sync/scenario.ts";
import { ensure, items, rowsOf, sites, written } from "../views/place.ts";
import { open } from "./fixture.ts";

test.each([
  ["renamed", "alter table procurement.items rename to items_before"],
  ["moved to another schema", "create schema attic; alter table procurement.items set schema attic"],
])(
  "views, models, versions and foreign keys of a table that somebody %s read the table that is made anew",
  async (_how, statements) => {
    const database = await createDatabase(inject("postgresUrl"));
    const destination = await open(database.url);
    onTestFinished(async () => {
      await destination.close();
      await database.drop();
    });
    const models = written([
      "item_names",
      "-- Names.\n-- needs: items\n-- column name: The name.\nselect name from procurement_analytics.items",
    ]);
    const wish = { on: [items(), sites], models, versioned: ["items"] };
    await ensure(destination, wish);
    const old = "insert into procurement.items (_company, item_id, name) values ('acme', 'old', 'old')";
    await rowsOf(destination, old);
    for (const statement of statements.split("; ")) await rowsOf(destination, statement);
    await rowsOf(destination, "alter table procurement.items_versions rename to items_versions_before");
    await ensure(destination, wish);
    await rowsOf(destination, old.replaceAll("old", "new"));
    await rowsOf(
      destination,
      "insert into procurement.items_versions (_company, item_id, name, _valid_from) values ('acme', 'new', 'new', '2025-01-01')",
    );
    for (const from of [
      "procurement_analytics.items",
      "procurement_analytics.item_names",
      "procurement.items_as_of(now())",
    ])
      expect([from, await rowsOf(destination, `select name from ${from}`)]).toEqual([from, [{ name: "new" }]]);
    const keys = await rowsOf(
      destination,
      "select confrelid::regclass::text as to from pg_constraint where contype = 'f' and conrelid = 'procurement.item_tags'::regclass",
    );
    const [server] = await rowsOf(destination, "select current_setting('server_version_num')::integer as version");
    expect(keys).toEqual(Number(server!["version"]) < 180_000 ? [] : [{ to: "procurement.items" }]);
    expect(await ensure(destination, wish)).toEqual({ done: [], missing: [], warnings: [] });
  },
);

test("after a rename verify and check call nothing equal, and the next run makes all that read the old table anew", async () => {
  const make = () => passing(postgresWarehouse(inject("postgresUrl")));
  const config = { views: true, streams: { defaults: { history: true } } };
  const sizes = { orders: 6, invoices: 4, items: 4, findings: 2, ingested: 2 };
  const place = await scenario(make, sizes, { config });
  const { sync, verify, warehouse, simulator, clock, count } = place;
  expect(await sync()).toMatchObject({ exit_code: 0 });
  const { destination } = await configOf(simulator, warehouse, {});
  const on = streams.filter(({ name }) => name.startsWith("purchase_order"));
  const fitness = {
    ...{ catalogue: streams, streams: on, companies: [], versioned: new Set(on.map(({ name }) => name)) },
    ...{ views: true, workers: false, version: "999.0.0" },
  };
  const warned = async () =>
    (await Array.fromAsync(checkDestination(destination, fitness, clock))).flatMap(({ level, code }) =>
      level === "warn" && code.startsWith("check.") ? [code] : [],
    );
  const shown = () =>
    warehouse.query<{ name: string }>(
      "select viewname as name from pg_views where schemaname = 'procurement_analytics' order by 1",
    );
  const before = await shown();
  expect(before.map(({ name }) => name)).toEqual(expect.arrayContaining(["purchase_orders", "spend_cube"]));
  expect(await warned()).toEqual([]);
  expect(await verify()).toMatchObject({ exit_code: 0 });
  const [old, versions] = ["purchase_orders_before", "purchase_orders_versions_before"];
  await warehouse.query(`alter table procurement.purchase_orders rename to ${old}`);
  await warehouse.query(`alter table procurement.purchase_orders_versions rename to ${versions}`);
  simulator.insert("purchase_orders", 3);
  expect(await warned()).toEqual(["check.tables_missing", "check.views_read_others"]);
  expect((await verify()).exit_code).not.toBe(0);

  clock.advance(3_600_000);
  expect(await sync()).toMatchObject({ exit_code: 0 });
  expect(await shown()).toEqual(before);
  const readers = await warehouse.query(`select distinct r.ev_class::regclass::text as name from pg_depend d
    join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
    where d.refobjid in ('procurement.${old}'::regclass, 'procurement.${versions}'::regclass)`);
  expect(readers).toEqual([]);
  const keys = await warehouse.query(
    `select conname from pg_constraint where contype = 'f' and confrelid = 'procurement.${old}'::regclass`,
  );
  expect(keys).toEqual([]);
  for (const from of ["procurement_analytics.purchase_orders", "procurement.purchase_orders_as_of(now())"])
    expect([from, await count(from)]).toEqual([from, 9]);
  expect(await verify()).toMatchObject({ exit_code: 0 });
  expect(await warned()).toEqual([]);
});
