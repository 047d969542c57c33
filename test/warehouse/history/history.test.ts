import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { anyJson, id, money, notGiven, table, text } from "../../../schemas/fields.ts";
import type { Stream } from "../../../src/catalog/stream.ts";
import { type Warehouse, warehouses } from "../../support/warehouse.ts";
import { ordersWith } from "../../sync/orders.ts";
import { scenario } from "../../sync/scenario.ts";

/** As a version of tributary knows orders: with so many more columns. */
function version(more: z.ZodRawShape): readonly Stream[] {
  const po_number = id().describe("The number of the order.");
  const total_amount = money(notGiven).nullable().describe("What it costs.");
  const line_items = table("purchase_order_line_items", "Lines.", {
    line_no: id().describe("The number of the line."),
    schedule: anyJson().describe("When it comes."),
  });
  return ordersWith({ order: { po_number, total_amount, ...more }, detail: { po_number, line_items } });
}

const streams = (history: boolean, orders = history) => ({
  streams: { defaults: { details: { audit: 0 }, history }, settings: { purchase_orders: { history: orders } } },
});
const versions = ["purchase_orders", "purchase_order_details", "purchase_order_line_items"].map(
  name => [name, `${name}_versions`] as const,
);
const inDuckdb = `select table_name as name, comment from duckdb_tables() where schema_name = 'procurement'
    union all select table_name || '.' || column_name, comment from duckdb_columns() where schema_name = 'procurement'
    union all select function_name || '()', comment from duckdb_functions() where schema_name = 'procurement'`;
const inPostgres = `select c.relname || coalesce('.' || a.attname, '') as name, col_description(c.oid, a.attnum) as comment
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 where c.relnamespace = 'procurement'::regnamespace and c.relkind = 'r'
    union all select relname, obj_description(oid, 'pg_class') from pg_class where relnamespace = 'procurement'::regnamespace and relkind = 'r'
    union all select proname || '()', obj_description(oid, 'pg_proc') from pg_proc where pronamespace = 'procurement'::regnamespace`;
const commented = ({ name }: Warehouse): string => (name === "postgres" ? inPostgres : inDuckdb);

describe.each(warehouses)("$name", ({ make }) => {
  test("a history begins with the rows as they are, says when it is no longer kept, and catches up", async () => {
    const place = await scenario(make, { orders: 20 }, { config: streams(false) });
    const { simulator, warehouse, sync, clock, count, configure, said } = place;
    const night = async (catalogue: readonly Stream[], ...also: readonly string[]) => {
      clock.advance(3_600_000);
      said.length = 0;
      const report = await sync({ catalogue });
      expect(report).toMatchObject({ exit_code: 0 });
      expect(said.filter(text => text.includes("history"))).toEqual(also);
      return clock.date().toISOString();
    };
    const asOf = (moment: string) =>
      warehouse.look(async ({ query }) => [
        await query(`select * from procurement.purchase_orders_as_of('${moment}') order by po_number`),
        await query(
          `select * from procurement.purchase_order_line_items_as_of('${moment}') order by po_number, _index`,
        ),
      ]);
    const old = version({});
    await night(old);
    await expect(count("purchase_orders_versions")).rejects.toThrow();

    configure(streams(true));
    const begun = await night(
      old,
      "purchase_orders: its history begins for acme with 20 rows as they are",
      `purchase_order_details: its history begins for acme with ${20 + (await count("purchase_order_line_items"))} rows as they are`,
    );
    for (const [name, kept] of versions) {
      expect(await count(kept, `_is_current and _valid_to is null`)).toBe(await count(name));
      expect(await count(kept, `_valid_from <> timestamptz '${begun.replace("T", " ")}'`)).toBe(0);
    }
    const first = await asOf(begun);
    expect(first[0]).toHaveLength(20);
    expect(await asOf("2026-01-01")).toEqual([[], []]);
    const texts = await warehouse.query<{ name: string; comment: string | null }>(commented(warehouse));
    // A lake has no comments of functions.
    const isSaid = ({ name }: { name: string }) => warehouse.name !== "ducklake" || !name.endsWith("()");
    expect(texts.filter(each => isSaid(each) && (each.comment ?? "").length < 20)).toEqual([]);
    const names = texts.map(({ name }) => name);
    for (const [name, kept] of versions)
      expect(names).toEqual(expect.arrayContaining([kept, `${kept}._valid_from`, `${name}_as_of()`]));

    const unchanged = await night(old);
    expect(await asOf(unchanged)).toEqual(first);
    expect(await count("purchase_orders_versions")).toBe(20);

    const [gone] = simulator.delete("purchase_orders", 1);
    const updated = simulator.update("purchase_orders", 2);
    const changed = await night(old);
    const ended = await warehouse.query<{ po_number: string }>(
      `select po_number from procurement.purchase_orders_versions where _valid_to = timestamptz '${changed.replace("T", " ")}' and not _is_current`,
    );
    expect(ended.map(row => row.po_number).sort()).toEqual([gone, ...updated].sort());
    expect(await asOf(unchanged)).not.toEqual(await asOf(changed));
    expect(await count("purchase_order_line_items_versions", `po_number = '${gone}' and _is_current`)).toBe(0);

    // A version with a column more finds it in what the rows had beside their columns, then and now.
    const young = version({ vendor_name: text().nullable().describe("Who sells.") });
    await night(young);
    expect(await count("purchase_orders_versions")).toBe(22);
    expect(await count("purchase_orders_versions", "vendor_name is null")).toBe(
      await count("purchase_orders", "vendor_name is null"),
    );

    configure(streams(true, false));
    await night(young, "purchase_orders: its history is no longer kept for acme; the versions there are stay");
    const comments = new Map(
      (await warehouse.query<{ name: string; comment: string }>(commented(warehouse))).map(row => [
        row.name,
        row.comment,
      ]),
    );
    expect(comments.get("purchase_orders_versions")).toMatch(/^not kept since 2026-03-15 \(history is off\)\. Every/);
    expect(comments.get("purchase_order_details_versions")).toMatch(/^Every version/);
    const [lost] = simulator.delete("purchase_orders", 1);
    const meanwhile = simulator.update("purchase_orders", 3);
    await night(young);
    expect(await count("purchase_orders_versions")).toBe(22);
    expect(await count("purchase_order_line_items_versions", `po_number = '${lost}' and _is_current`)).toBe(0);

    configure(streams(true));
    const again = await night(
      young,
      `purchase_orders: its history goes on for acme; what changed while it was not kept counts from now on (4 versions ended, 3 began)`,
    );
    const begunAgain = await warehouse.query<{ po_number: string }>(
      `select po_number from procurement.purchase_orders_versions where _valid_from = timestamptz '${again.replace("T", " ")}'`,
    );
    expect(begunAgain.map(row => row.po_number).sort()).toEqual(meanwhile.toSorted());
    expect(await count("purchase_orders_versions", "_is_current")).toBe(18);
    const spans = await warehouse.query<{ kept_from: Date; kept_to: Date | null }>(
      "select kept_from, kept_to from _tributary.history where stream = 'purchase_orders' order by kept_from",
    );
    expect(spans).toMatchObject([{ kept_from: new Date(begun) }, { kept_from: new Date(again), kept_to: null }]);
    await night(young);
  });

  test("what the documents don't name is in the present version as it is in the row, and begins none", async () => {
    const place = await scenario(make, { orders: 6 }, { config: streams(true) });
    const { simulator, warehouse, sync, clock, count } = place;
    const night = () => {
      clock.advance(3_600_000);
      return sync({ catalogue: version({}) });
    };
    await night();
    const number = String([...simulator.truth.rows("purchase_orders")][2]!["po_number"]);
    const before = await count("purchase_orders_versions");
    simulator.patch("purchase_orders", number, { colour: "blue" });
    await night();
    const colours = async () => [
      await warehouse.query(`select _extra from procurement.purchase_orders where po_number = '${number}'`),
      await warehouse.query(`select _extra from procurement.purchase_orders_versions
        where po_number = '${number}' and _is_current`),
    ];
    const [rows, versioned] = await colours();
    expect(rows).toMatchObject([{ _extra: { colour: "blue" } }]);
    expect(versioned).toEqual(rows);
    expect(await count("purchase_orders_versions")).toBe(before);
  });
});
