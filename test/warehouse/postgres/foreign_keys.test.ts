import { expect, inject, onTestFinished, test } from "vitest";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { dropTables } from "../../../src/warehouse/schema/removal.ts";
import { shopAnswer, stocked, things } from "../../operations/replay/shop.ts";
import { createDatabase } from "../../support/database.ts";
import { passing, postgresWarehouse } from "../../support/warehouse.ts";
import { scenario } from "../../sync/scenario.ts";
import { ensure, items, rowsOf, sites } from "../views/place.ts";
import { open } from "./fixture.ts";

async function place(): Promise<Destination> {
  const database = await createDatabase(inject("postgresUrl"));
  const destination = await open(database.url);
  onTestFinished(async () => {
    await destination.close();
    await database.drop();
  });
  return destination;
}

const keys = (destination: Destination) =>
  rowsOf<{ said: string; enforced: boolean }>(
    destination,
    `select pg_get_constraintdef(oid) as said, conenforced as enforced from pg_constraint
    where contype = 'f' and connamespace = 'procurement'::regnamespace order by 1`,
  );

test("what is certain is a foreign key to read, which nothing is checked by, is made once and goes with its table", async () => {
  const destination = await place();
  const { db, dialect, schema, stateSchema } = destination;
  await ensure(destination, { on: [items(), sites] });
  const one = [
    {
      said: "FOREIGN KEY (_company, item_id) REFERENCES procurement.items(_company, item_id) NOT ENFORCED",
      enforced: false,
    },
  ];
  expect(await keys(destination)).toEqual(one);
  expect(await ensure(destination, { on: [items(), sites] })).toEqual({ done: [], missing: [], warnings: [] });
  expect(await keys(destination)).toEqual(one);
  await rowsOf(
    destination,
    "insert into procurement.item_tags (_company, item_id, _index, tag) values ('acme', 'nowhere', 0, 'x')",
  );
  // Only a list's child tables refer to it here; other tables' constraints are taken away before it is dropped.
  await rowsOf(
    destination,
    `alter table procurement.sites add constraint tributary_sites foreign key (_company, site_id) references procurement.items (_company, item_id) not enforced`,
  );
  await dropTables(db, dialect, { schema, stateSchema, company: "acme", tables: items().tables });
  expect(await keys(destination)).toEqual([]);
  await ensure(destination, { on: [items(), sites] });
  expect(await keys(destination)).toEqual(one);
  await rowsOf(
    destination,
    `alter table procurement.sites add constraint somebodys foreign key (_company, site_id) references procurement.items (_company, item_id) not enforced`,
  );
  await expect(
    dropTables(db, dialect, { schema, stateSchema, company: "acme", tables: items().tables }),
  ).rejects.toMatchObject({ code: "tables.needed", fields: { name: "procurement.items" } });
});

test.each([
  ["", false],
  ["on delete cascade", true],
  ["on delete set null deferrable initially deferred", true],
])("somebody's own foreign key %s to a table is refused before anything is written", async (how, cascades) => {
  const { place, night } = await remarked(how);
  const fields = { name: "of_a_thing", table: "public.remarks", refers_to: "procurement.things", cascades };
  await expect(night()).rejects.toMatchObject({
    ...{ exitCode: 6, code: "tables.unusable" },
    fields: { faults: [{ code: "tables.foreign_key", fields }] },
  });
  expect(await place.warehouse.query("select remark from public.remarks")).toEqual([{ remark: "ask Bob" }]);
  await place.warehouse.query("alter table public.remarks drop constraint of_a_thing");
  expect((await night()).exit_code).toBe(0);
});

test("one that is checked at the end of a transaction is in nobody's way", async () => {
  const { place, night } = await remarked("deferrable initially deferred");
  expect((await night()).exit_code).toBe(0);
  expect(
    await place.warehouse.query("select remark, name from public.remarks natural join procurement.things"),
  ).toEqual([{ remark: "ask Bob", name: "renamed" }]);
});

test("one that comes while a run is under way ends it, named", async () => {
  const { place, night, stock } = await remarked("deferrable initially deferred");
  stock.things[1]!["name"] = "renamed again";
  place.look = async request => {
    if (request.path === "/things" && request.nth > 3)
      await place.warehouse.query(`alter table public.remarks alter constraint of_a_thing not deferrable`);
    return shopAnswer(stock, request);
  };
  const fields = { constraint: "of_a_thing", table: "public.remarks" };
  expect(await night()).toMatchObject({ exit_code: 6, errors: [{ code: "postgres.foreign_constraint", fields }] });
});

/** Things that were loaded, an analyst's remark about the one that changes next, and nights to come. */
async function remarked(how: string) {
  const place = await scenario(() => passing(postgresWarehouse(inject("postgresUrl"))), {});
  const stock = stocked();
  place.look = request => shopAnswer(stock, request);
  const night = () => {
    place.clock.advance(86_400_000);
    return place.sync({ catalogue: [things] });
  };
  expect((await night()).exit_code).toBe(0);
  await place.warehouse.query(`create table public.remarks (_company text, thing text, remark text,
    constraint of_a_thing foreign key (_company, thing) references procurement.things (_company, thing) ${how})`);
  await place.warehouse.query("insert into public.remarks values ('acme', 'T1', 'ask Bob')");
  stock.things[1]!["name"] = "renamed";
  return { place, stock, night };
}
