import { describe, expect, inject, test } from "vitest";
import { count } from "../../../schemas/fields.ts";
import { snapshot } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { meddle } from "../../operations/verify/planting.ts";
import { lineOf } from "../../support/run.ts";
import { contents } from "../../support/tables.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { told } from "../../sync/answers.ts";
import { orderCatalogue as catalogue } from "../../sync/orders.ts";
import { scenario } from "../../sync/scenario.ts";

/** Runs look into the tables of a lake with --full and --details alone. */
const isLake = inject("databases").includes("ducklake");
/** What the day of a run decides. */
const whenever = { _changed_at: "", _first_seen_at: "", _extra: {} };
const data = "procurement.purchase_order";
/** Runs that count the rows of tables. */
const hows = isLake ? [{ full: true }] : [{ hours: 24 }, { full: true }];

describe.each(eitherWarehouse)("$name", ({ make }) => {
  async function loaded(history = false) {
    const place = await scenario(
      make,
      { orders: 12 },
      { config: { streams: { defaults: { details: { audit: 0 }, history } } } },
    );
    const first = await place.sync({ catalogue });
    expect(first.exit_code).toBe(0);
    const values = async () =>
      [...(await contents(place.warehouse, catalogue))]
        .map(([key, row]) => [key, { ...JSON.parse(row), ...whenever }] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1));
    const before = await values();
    /** What a run says and requests after somebody's statements; the tables then have their rows again. */
    const mended = async (statements: readonly string[], { hours = 1, full = isLake } = {}) => {
      await meddle(place.warehouse, statements);
      place.clock.advance(hours * 3_600_000);
      place.simulator.requests.clear();
      place.said.length = 0;
      const report = await place.sync({ catalogue, full });
      expect(await values()).toEqual(before);
      const said = place.said.filter(each => each.includes("was emptied"));
      return { report, said, details: place.simulator.requests.count("/po/{po_number}") };
    };
    return { ...place, mended };
  }

  test("emptied child tables, and the rows of one company among others, are loaded again", async () => {
    const { mended, count } = await loaded(true);
    const child = await mended([`delete from ${data}_line_items`]);
    expect(child.said).toEqual([
      "purchase_order_details: purchase_order_line_items was emptied for acme, its rows are loaded again",
    ]);
    expect(child.details).toBe(12);
    const main = await mended([
      `insert into ${data}s (_company, po_number) values ('globex', 'x')`,
      `delete from ${data}s where _company = 'acme'`,
      `delete from ${data}_details where _company = 'acme'`,
      `delete from ${data}s where _company = 'globex'`,
    ]);
    expect(main.said).toHaveLength(2);
    expect(lineOf(main.report, "purchase_orders")).toMatchObject({ inserted: 12 });
    for (const name of ["s", "_details", "_line_items"]) {
      const versions = `${data}${name}_versions`;
      expect([name, await count(versions, "_is_current")]).toEqual([
        name,
        await count(`${data}${name}`, "_deleted_at is null"),
      ]);
    }
    const next = await mended([]);
    expect([next.details, next.said, lineOf(next.report, "purchase_orders").unchanged]).toEqual([0, [], 12]);
  });

  test("emptied tables of versions begin again with the present rows", async () => {
    const { mended, count } = await loaded(true);
    const { said, details } = await mended([`delete from ${data}s_versions`]);
    expect([said.length, details]).toEqual([1, 0]);
    expect(await count("purchase_orders_versions", "_is_current")).toBe(12);
  });

  test("a partial restore is a warning of the next night's first run, and --full finds it at once", async () => {
    const { mended } = await loaded();
    const numbers = `in (select po_number from ${data}s order by po_number limit 5)`;
    const some = [
      `delete from ${data}_details where po_number ${numbers}`,
      `delete from ${data}s where po_number ${numbers}`,
    ];
    for (const how of hows) {
      const { report, details } = await mended(some, how);
      expect(report.warnings.map(({ code, fields }) => [code, fields])).toEqual(
        ["purchase_orders", "purchase_order_details"].map(table => [
          "tables.rows_differ",
          { table, company: "acme", rows: 7, known: 12 },
        ]),
      );
      expect(lineOf(report, "purchase_orders")).toMatchObject({ inserted: 5, table_rows: 12 });
      expect(details).toBe(5);
    }
  });

  test("lines and versions of which a part is lost are a warning, and are loaded again", async () => {
    const { mended, count } = await loaded(true);
    const lines = "purchase_order_line_items";
    const [all, live] = [await count(lines), await count(lines, "_deleted_at is null")];
    for (const how of hows) {
      const { report, details } = await mended([`delete from ${data}_line_items where _index > 0`], how);
      const fields = { table: lines, company: "acme", rows: 12, known: all };
      expect(report.warnings).toMatchObject([{ code: "tables.lines_differ", fields }]);
      expect(details).toBe(12);
      const first = `(select min(po_number) from ${data}s)`;
      const lost = await mended([`delete from ${data}_line_items_versions where po_number = ${first}`], how);
      expect(lost.report.warnings).toMatchObject([{ code: "tables.versions_differ", fields: { rows: live } }]);
      expect(lost.details).toBe(0);
      expect(await count(`${lines}_versions`, "_is_current")).toBe(live);
      expect((await mended([], how)).report.warnings).toEqual([]);
    }
  });

  test("days of a snapshot and soft-deleted rows that are lost are a warning, for they cannot be read again", async () => {
    const mode = snapshot({ parameters: { side: ["buy", "sell"] } });
    const figures = streamOf("figures", { orders: count() }, { mode, key: ["observed_on", "side"] });
    const place = await told(make, [figures], { "/figures": () => ({ orders: 1 }) });
    const night = async (...statements: string[]) => {
      if (statements.length > 0) await meddle(place.warehouse, statements);
      place.clock.advance(24 * 3_600_000);
      const { exit_code, warnings } = await place.run({ full: isLake });
      return [exit_code, warnings.map(({ code, fields }) => [code, fields["rows"], fields["known"]])];
    };
    for (const _ of [1, 2, 3]) expect(await night()).toEqual([0, []]);
    const lose = "delete from procurement.figures where observed_on";
    const state = "update _tributary.rows_figures set deleted_at = current_timestamp";
    const table = "update procurement.figures set _deleted_at = current_timestamp";
    const warned = (rows: number, known: number) => [0, [["tables.past_rows_differ", rows, known]]];
    expect(await night(`${lose} = (select min(observed_on) from procurement.figures)`)).toEqual(warned(4, 6));
    expect(await night()).toEqual([0, []]);
    expect(await night(`${lose} is not null`)).toEqual(warned(0, 8));
    const oldest = "where observed_on = (select min(observed_on) from procurement.figures)";
    expect(await night(`${state} ${oldest}`, `${table} ${oldest}`)).toEqual([0, []]);
    expect(await night(`delete from procurement.figures where _deleted_at is not null`)).toEqual(warned(2, 4));
  });

  test("a row state that is older than the rows is made as the table is", async () => {
    const { mended } = await loaded();
    const newer = `po_number in (select po_number from ${data}s order by po_number desc limit 4)`;
    const { report, details } = await mended(
      [
        `delete from _tributary.rows_purchase_orders where ${newer}`,
        `update _tributary.rows_purchase_orders set deleted_at = current_timestamp where po_number = (select min(po_number) from ${data}s)`,
      ],
      { hours: 24 },
    );
    expect(report).toMatchObject({ exit_code: 0, warnings: [{ code: "tables.rows_differ" }] });
    expect(lineOf(report, "purchase_orders")).toMatchObject({ inserted: 0, deleted: 0, unchanged: 12 });
    expect(details).toBe(0);
  });

  // A lake restores rows and row state at once.
  test.skipIf(isLake)(
    "rows that the tables have and the row state does not are replaced, on the same day too, and none is stored twice",
    async () => {
      const { mended, count } = await loaded(true);
      const newer = `po_number in (select po_number from ${data}s order by po_number desc limit 4)`;
      for (const where of [newer, "true"]) {
        const state = ["purchase_orders", "purchase_order_details"].map(
          stream => `delete from _tributary.rows_${stream} where ${where}`,
        );
        const rows = where === "true" ? 12 : 4;
        const { report } = await mended([
          ...state,
          `delete from _tributary.details where ${where.replace("po_number", "parent_key")}`,
        ]);
        expect(report.exit_code).toBe(0);
        expect(report.warnings.map(({ code, fields }) => [code, fields["table"], fields["rows"]])).toEqual([
          ["tables.state_older", "purchase_orders", rows],
          ["tables.state_older", "purchase_order_details", rows],
        ]);
        expect(lineOf(report, "purchase_orders")).toMatchObject({ inserted: 0, updated: rows });
        for (const table of ["purchase_orders", "purchase_order_details"])
          expect([await count(table), await count(`${table}_versions`, "_is_current")]).toEqual([12, 12]);
        expect((await mended([])).report.warnings).toEqual([]);
      }
    },
  );

  test("tables that another state schema knows are refused until that schema is gone", async () => {
    const { sync, configure, mended, warehouse } = await loaded();
    const streams = { defaults: { details: { audit: 0 } } };
    configure({ destination: { state_schema: "second" }, streams });
    const fields = { schema: "procurement", kept: "_tributary", configured: "second" };
    await expect(sync({ catalogue })).rejects.toMatchObject({ exitCode: 2, code: "identity.other_state", fields });
    await meddle(warehouse, ["drop schema _tributary cascade"]);
    const { report } = await mended([]);
    expect(report.exit_code).toBe(0);
    expect(lineOf(report, "purchase_orders")).toMatchObject({ inserted: 0, updated: 0 });
  });
});
