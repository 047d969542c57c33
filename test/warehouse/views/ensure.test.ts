import { describe, expect, test } from "vitest";
import { warehouses } from "../warehouses.ts";
import { columnsOf, ensure, figures, items, rowsOf, sites, viewsIn, written } from "./place.ts";

const named = `-- Items by name.
-- needs: items
-- optional: sites
-- column _company: The company.
-- column name: The name.
-- column sites: How many sites there are.
select i._company, i.name,
-- with sites
  (select count(*) from procurement_analytics.sites s where s._company = i._company) as sites
-- end
-- without sites
-- |  cast(null as bigint) as sites
-- end
from procurement_analytics.items i`;
const counted = `-- How many names there are; 'procurement.items' is no table here.
-- needs: by_name
-- column n: The number.
select count(*) as n from procurement_analytics.by_name where name <> 'procurement.items'`;
const models = written(["counted", counted], ["by_name", named]);

const kept = `-- Versions of items, where they are kept.
-- needs: items
-- column n: How many there are.
-- with items_versions
select count(name) as n from procurement.items_versions
-- end
-- without items_versions
-- | select cast(null as bigint) as n from procurement_analytics.items where false
-- end`;

const nothing = { done: [], missing: [], warnings: [] };

describe.each(warehouses)("$name", ({ name, make }) => {
  test("tables have views of live rows and models, described; the second time nothing is written", async () => {
    const destination = await make();
    const first = await ensure(destination, { on: [items(), sites], models });
    expect(first.done).toEqual(
      expect.arrayContaining(["created schema procurement_analytics", "created 5 views in procurement_analytics"]),
    );
    expect(first.warnings).toEqual([]);
    expect(await ensure(destination, { on: [items(), sites], models })).toEqual(nothing);
    const views = await viewsIn(destination);
    // A lake has none of views' columns.
    const said = (text: unknown) => (destination.dialect.commentsEverything ? text : undefined);
    expect([...views.keys()].sort()).toEqual(["by_name", "counted", "item_tags", "items", "sites"]);
    expect(
      [...views.get("items")!.columns.values()].map(column => [column.name, column.comment?.slice(0, 16)]),
    ).toEqual([
      ["_company", said("The company of t")],
      ["item_id", said("About the id. AP")],
      ["name", said("About the text. ")],
      ["_changed_at", said("When a publish b")],
      ["_deleted_at", said(expect.any(String))],
    ]);
    expect(views.get("items")!.comment).toMatch(/^Live rows. It's items. API: GET \/api\/v1\/items\./);
    expect(views.get("by_name")!.comment).toBe("Items by name.");
    expect(views.get("by_name")!.columns.get("sites")!.comment).toBe(said("How many sites there are."));
    await rowsOf(
      destination,
      "insert into procurement.items (_company, item_id, name, _deleted_at) values ('acme', 'a', 'A', null), ('acme', 'b', 'B', '2026-01-01T00:00:00Z')",
    );
    expect(await rowsOf(destination, "select item_id from procurement_analytics.items")).toEqual([{ item_id: "a" }]);
    expect(await rowsOf(destination, "select n from procurement_analytics.counted")).toEqual([{ n: 1 }]);
  });

  test("a model reads the versions of a table as soon as they are kept, unless some of its columns are left out", async () => {
    const destination = await make();
    const models = written(["kept", kept]);
    const answers = () => rowsOf(destination, "select n from procurement_analytics.kept");
    await ensure(destination, { models });
    expect(await answers()).toEqual([]);
    expect((await ensure(destination, { models, versioned: ["items"] })).warnings).toEqual([]);
    expect(await answers()).toEqual([{ n: 0 }]);
    expect(await ensure(destination, { models, versioned: ["items"] })).toEqual(nothing);
    const whole = items();
    const { main, children } = whole.tables;
    const isName = (column: { name: string }) => column.name === "name";
    const less = {
      ...main,
      columns: main.columns.filter(column => !isName(column)),
      excluded: main.columns.filter(isName),
    };
    const on = [{ ...whole, tables: { main: less, children } }];
    expect((await ensure(destination, { on, models, versioned: ["items"] })).warnings).toEqual([]);
    expect(await answers()).toEqual([]);
  });

  test("snapshots show the latest day of each company and parameter, child tables that of their main table", async () => {
    const destination = await make();
    await ensure(destination, { on: [figures] });
    await rowsOf(
      destination,
      `insert into procurement.figures (_company, observed_on, period, total) values
      ('acme', '2026-01-01', '30', 1), ('acme', '2026-01-02', '30', 2), ('acme', '2026-01-01', '90', 3), ('beta', '2026-01-01', '30', 4)`,
    );
    await rowsOf(
      destination,
      `insert into procurement.figure_parts (_company, observed_on, period, _index, part) values
      ('acme', '2026-01-01', '30', 0, 'old'), ('acme', '2026-01-01', '90', 0, 'only'), ('beta', '2026-01-01', '30', 0, 'theirs')`,
    );
    const totals = (view: string) =>
      rowsOf<{ total: number }>(destination, `select total from procurement_analytics.${view} order by total`);
    expect((await totals("figures")).map(row => row.total)).toEqual([2, 3, 4]);
    expect((await totals("figures_daily")).map(row => row.total)).toEqual([1, 2, 3, 4]);
    const parts = (view: string) =>
      rowsOf<{ part: string }>(destination, `select part from procurement_analytics.${view} order by part`);
    expect((await parts("figure_parts")).map(row => row.part)).toEqual(["only", "theirs"]);
    expect(await parts("figure_parts_daily")).toHaveLength(3);
  });

  test("a table that gets a column has it at the end of its view; models stay, and so do views that read ours", async () => {
    const destination = await make();
    await ensure(destination, { models });
    await rowsOf(destination, "create schema own");
    await rowsOf(destination, "create view own.mine as select name from procurement_analytics.items");
    const { done, warnings } = await ensure(destination, { on: [items({ weight: "quantity" })], models });
    expect(warnings).toEqual([]);
    expect(done).toEqual([
      "added column items.weight, filled from _extra where it held the field",
      "renewed view procurement_analytics.items",
    ]);
    expect(await columnsOf(destination, "items")).toEqual([
      "_company",
      "item_id",
      "name",
      "_changed_at",
      "_deleted_at",
      "weight",
    ]);
    const { comment } = (await viewsIn(destination)).get("items")!.columns.get("weight")!;
    if (destination.dialect.commentsEverything) expect(comment).toContain("About the quantity.");
    else expect(comment).toBeUndefined();
    expect(await ensure(destination, { on: [items({ weight: "quantity" })], models })).toEqual(nothing);
    expect(await rowsOf(destination, "select * from own.mine")).toEqual([]);
    expect(await rowsOf(destination, "select n from procurement_analytics.counted")).toEqual([{ n: 0 }]);
  });

  test("a model that loses a column is made anew with those that read it, unless somebody's own view does", async () => {
    const destination = await make();
    await ensure(destination, { models });
    const short = written(
      ["counted", counted],
      ["by_name", named.replace("i._company, i.name,", "i.name,").replace("-- column _company: The company.\n", "")],
    );
    if (name === "postgres") {
      await rowsOf(destination, "create view public.mine as select * from procurement_analytics.counted");
      const kept = await ensure(destination, { models: short });
      expect(kept.warnings).toMatchObject([
        {
          code: "views.not_made",
          fields: { view: "procurement_analytics.by_name", reason: "public.mine read it" },
        },
      ]);
      expect(await columnsOf(destination, "by_name")).toEqual(["_company", "name", "sites"]);
      await rowsOf(destination, "drop view public.mine");
    }
    const { done, warnings } = await ensure(destination, { models: short });
    expect({ warnings, renewed: done.length }).toEqual({ warnings: [], renewed: 1 });
    expect(await columnsOf(destination, "by_name")).toEqual(["name", "sites"]);
    expect(await rowsOf(destination, "select n from procurement_analytics.counted")).toEqual([{ n: 0 }]);
    expect(await ensure(destination, { models: short })).toEqual(nothing);
  });

  test("a stream that is switched on later brings what models can do with it; one that is off keeps its view", async () => {
    const destination = await make();
    await ensure(destination, { models });
    expect(await rowsOf(destination, "select sites from procurement_analytics.by_name")).toEqual([]);
    const more = await ensure(destination, { on: [items(), sites], models });
    expect(more.done).toEqual(
      expect.arrayContaining([
        "created view procurement_analytics.sites",
        "renewed view procurement_analytics.by_name",
      ]),
    );
    const catalogue = [items({ weight: "quantity" }), sites];
    const off = await ensure(destination, { on: [sites], catalogue, models });
    expect(off).toEqual(nothing);
    // Views of before their time: those of tables that nobody updates any more are made too, with the columns that are there.
    await ensure(destination, { wanted: false, on: [sites], catalogue, models });
    expect(await ensure(destination, { on: [sites], catalogue, models })).toMatchObject({ warnings: [] });
    expect(await columnsOf(destination, "items")).toEqual([
      "_company",
      "item_id",
      "name",
      "_changed_at",
      "_deleted_at",
    ]);
  });

  test("`views: false` removes our views and nothing else", async () => {
    const destination = await make();
    await ensure(destination, { models });
    await rowsOf(destination, "create view procurement_analytics.mine as select 1 as one");
    const first = await ensure(destination, { wanted: false, models });
    expect(first).toEqual({ done: ["removed 4 views in procurement_analytics"], missing: [], warnings: [] });
    expect([...(await viewsIn(destination)).keys()]).toEqual(["mine"]);
    expect(await ensure(destination, { wanted: false, models })).toEqual(nothing);
  });

  test("a view that lost its comments is ours while it is what it was, and gets them again", async () => {
    const destination = await make();
    await ensure(destination, { models });
    const before = await viewsIn(destination);
    for (const name of before.keys())
      await rowsOf(destination, `comment on view procurement_analytics.${name} is null`);
    // With all the columns of ours, so that PostgreSQL can replace it.
    const columns = [...before.get("item_tags")!.columns.keys()].map(name => `"${name}"`).join(", ");
    await rowsOf(
      destination,
      `create or replace view procurement_analytics.item_tags as select ${columns} from procurement.item_tags`,
    );
    const { warnings } = await ensure(destination, { models });
    const fields = { view: "procurement_analytics.item_tags" };
    expect(warnings).toMatchObject([{ code: "views.in_the_way", fields }]);
    const after = await viewsIn(destination);
    expect(after.get("items")!.comment).toBe(before.get("items")!.comment);
    expect(after.get("item_tags")!.comment).toBeUndefined();
  });

  test("somebody's own view or table in the way is named and left alone, and so is one that took the place of ours", async () => {
    const destination = await make();
    await ensure(destination, { on: [sites] });
    await rowsOf(destination, "create view procurement_analytics.items as select 'theirs' as whose");
    await rowsOf(destination, "drop view procurement_analytics.sites");
    await rowsOf(destination, "create table procurement_analytics.sites (whose text)");
    const { warnings } = await ensure(destination, { on: [items(), sites], models });
    expect(warnings).toMatchObject(
      ["items", "sites"].map(name => ({
        code: "views.in_the_way",
        fields: { view: `procurement_analytics.${name}` },
      })),
    );
    expect(await rowsOf(destination, "select whose from procurement_analytics.items")).toEqual([{ whose: "theirs" }]);
    expect([...(await viewsIn(destination)).keys()].sort()).toEqual(["item_tags", "items"]);
    await ensure(destination, { on: [items(), sites], models, wanted: false });
    expect(await rowsOf(destination, "select whose from procurement_analytics.items")).toEqual([{ whose: "theirs" }]);
  });

  test("a model that the database refuses is told and left out; everything else is made", async () => {
    const destination = await make();
    const wrong = written([
      "wrong",
      "-- Wrong.\n-- needs: items\n-- column x: It.\nselect nowhere as x from procurement_analytics.items",
    ]);
    const { warnings } = await ensure(destination, { models: wrong });
    const fields = { view: "procurement_analytics.wrong", reason: expect.stringContaining("nowhere") };
    expect(warnings).toMatchObject([{ code: "views.not_made", fields }]);
    expect([...(await viewsIn(destination)).keys()].sort()).toEqual(["item_tags", "items"]);
    expect((await ensure(destination, { models: wrong })).warnings).toHaveLength(1);
    expect(await ensure(destination, {})).toEqual(nothing);
  });
});
