import { describe, expect, test } from "vitest";
import { count, id, quantity, table, text } from "../../../schemas/fields.ts";
import { type Stream, scan } from "../../../src/catalog/stream.ts";
import { checkDestination } from "../../../src/operations/check/destination.ts";
import { streamOf } from "../../catalog/streams.ts";
import { meddle } from "../../operations/verify/planting.ts";
import { configOf, lineOf } from "../../support/run.ts";
import { contents } from "../../support/tables.ts";
import { warehouses } from "../../support/warehouse.ts";
import { ordersWith } from "../../sync/orders.ts";
import { type Scenario, scenario } from "../../sync/scenario.ts";

const lines = { line_no: id().nullable(), unit_price: quantity().nullable() };
const catalogue = ordersWith({
  order: { total_amount: quantity().nullable(), comm_count: count().nullable() },
  detail: { status: text().nullable(), line_items: table("purchase_order_line_items", "Lines.", lines) },
});
const items = streamOf("items", { item_id: id(), name: text().nullable() }, { mode: scan({ rows: "items" }) });
const orders = "procurement.purchase_orders";

async function checkOf(place: Scenario, streams: readonly Stream[], versioned: ReadonlySet<string>) {
  const { destination } = await configOf(place.simulator, place.warehouse, {});
  const fitness = {
    streams,
    companies: [],
    versioned,
    views: false,
    workers: false,
    catalogue: [],
    version: "999.0.0",
  };
  return Array.fromAsync(checkDestination(destination, fitness, place.clock));
}

describe.each(warehouses)("$name", ({ make, name }) => {
  async function loaded() {
    const streams = { defaults: { details: { audit: 0 }, history: true } };
    const place = await scenario(make, { orders: 12 }, { config: { streams } });
    const night = async () => {
      place.clock.advance(3_600_000);
      place.simulator.requests.clear();
      return place.sync({ catalogue });
    };
    await night();
    const values = async () =>
      [...(await contents(place.warehouse, catalogue))]
        .map(([key, row]) => [key, { ...JSON.parse(row), _changed_at: "" }] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1));
    const type = async (table: string, column: string) => {
      const [row] = await place.warehouse.query<{ type: string }>(
        `select lower(data_type) as type from information_schema.columns where table_name = '${table}' and column_name = '${column}'`,
      );
      return row!.type;
    };
    // A lake changes a type only where no value can be lost.
    const ways = name === "ducklake" ? ["drop column %", "add column % type"] : ["alter column % type type"];
    const retype = (tables: readonly string[], column: string, type: string) =>
      meddle(
        place.warehouse,
        tables.flatMap(each =>
          ways.map(way => `alter table procurement.${each} ${way.replace("%", column).replace(/type$/, type)}`),
        ),
      );
    const checked = () => checkOf(place, catalogue, new Set(catalogue.map(stream => stream.name)));
    return { ...place, night, values, type, retype, checked };
  }

  test("the values of a column whose type somebody changed come again, as they are at the service", async () => {
    const { night, values, type, retype, said, simulator, count, checked } = await loaded();
    const before = await values();
    const was = await type("purchase_orders", "total_amount");
    await retype(["purchase_orders", "purchase_orders_versions"], "total_amount", "bigint");
    expect(await checked()).toContainEqual(
      expect.objectContaining({
        level: "warn",
        code: "check.columns_retyped",
        fields: { columns: ["purchase_orders.total_amount", "purchase_orders_versions.total_amount"] },
      }),
    );
    const report = await night();
    expect(report).toMatchObject({ exit_code: 0, warnings: [] });
    expect(lineOf(report, "purchase_orders")).toMatchObject({ inserted: 0, deleted: 0 });
    expect(said.join("\n")).toMatch(/retyped purchase_orders\.total_amount/);
    expect([await values(), await type("purchase_orders", "total_amount")]).toEqual([before, was]);
    const current = "_is_current and total_amount is not distinct from";
    const own = "(select total_amount from procurement.purchase_orders t where t.po_number = v.po_number)";
    expect(await count("procurement.purchase_orders_versions v", `${current} ${own}`)).toBe(12);
    await retype(["purchase_order_line_items"], "unit_price", "bigint");
    await night();
    expect(simulator.requests.count("/po/{po_number}")).toBe(12);
    expect(await values()).toEqual(before);
    await night();
    expect(simulator.requests.count("/po/{po_number}")).toBe(0);
  });
});

describe.each(warehouses.filter(({ name }) => name === "postgres"))("$name", ({ make }) => {
  test.each([
    [
      "a view",
      "create schema reports; create view reports.sums as select total_amount from %",
      "rule _RETURN on view reports.sums",
    ],
    [
      "a generated column",
      "alter table % add column twice numeric generated always as (2 * total_amount) stored",
      "default value for column twice of table %",
    ],
    ["a row policy", "create policy dear on % using (total_amount < 5)", "policy dear on table %"],
    [
      "a trigger",
      `create function noted() returns trigger language plpgsql as 'begin return null; end';
       create trigger noted after update of total_amount on % for each row execute function noted()`,
      "trigger noted on table %",
    ],
    [
      "a publication",
      "create publication dear for table % where (total_amount < 5)",
      "publication of table % in publication dear",
    ],
    [
      "a SQL function",
      "create function total() returns numeric begin atomic select sum(total_amount) from %; end",
      "function public.total()",
    ],
  ])(
    "%s over a column whose type somebody changed fails its stream alone, with its name",
    async (_what, made, named) => {
      const place = await scenario(
        make,
        { orders: 3 },
        { config: { streams: { defaults: { details: { audit: 0 } } } }, options: { sizes: { items: 2 } } },
      );
      const both = [...catalogue, items];
      const night = async () => {
        place.clock.advance(3_600_000);
        return place.sync({ catalogue: both });
      };
      await night();
      await meddle(place.warehouse, [
        `alter table ${orders} alter column total_amount type bigint`,
        made.replaceAll("%", orders),
      ]);
      const needed = {
        code: "tables.column_needed",
        fields: { column: `${orders}.total_amount`, needed_by: [named.replaceAll("%", orders)] },
      };
      const checked = await checkOf(place, both, new Set());
      expect(checked).toContainEqual(expect.objectContaining(needed));
      const report = await night();
      expect(report).toMatchObject({ exit_code: 1, errors: [needed] });
      expect(report.streams.map(({ stream, status }) => [stream, status])).toContainEqual(["items", "succeeded"]);
      expect(lineOf(report, "purchase_orders")).toMatchObject({ status: "failed", requests: 0 });
    },
  );
});
