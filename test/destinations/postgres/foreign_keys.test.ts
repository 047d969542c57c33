import { expect, inject, onTestFinished, test } from "vitest";
import type { Destination } from "../../../src/destinations/destination.ts";
import { dropTables } from "../../../src/destinations/removal.ts";
import { createDatabase } from "../../support/database.ts";
import { ensure, items, rowsOf, sites } from "../../views/place.ts";
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
  ).rejects.toThrow(/Something of yours needs procurement\.items/);
});
