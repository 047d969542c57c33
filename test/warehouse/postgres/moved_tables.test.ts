import { expect, inject, onTestFinished, test } from "vitest";
import { createDatabase } from "../../support/database.ts";
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
