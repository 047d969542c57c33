import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import type { Manifest } from "../../../src/outputs/export/manifest.ts";
import { meddle } from "../../operations/verify/planting.ts";
import { stillClock } from "../../support/clock.ts";
import { type Bench, bench } from "../../support/run.ts";
import { duckdbWarehouse, postgresWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { exported } from "./exporting.ts";
import { lake } from "./lake.ts";
import { byAnother, differing, inWarehouse, manifestOf, tableIn } from "./parquet.ts";

const makers = { duckdb: () => duckdbWarehouse(), postgres: () => postgresWarehouse(inject("postgresUrl")) };
const sizes = { orders: 20, invoices: 10, items: 15, findings: 5, ingested: 10 };

const refusals: readonly (readonly [string, string, object])[] = [
  ["purchase_order=po_date:month", "unknown_table", { table: "purchase_order", nearest: "purchase_orders" }],
  ["purchase_orders=po_dat:month", "unknown_column", { column: "po_dat", nearest: "po_date" }],
  ["purchase_orders=po_date:week", "unknown_unit", { unit: "week" }],
  ["purchase_orders=_changed_at", "needs_unit", { column: "_changed_at" }],
  ["purchase_orders=total_amount", "by_no_name", { column: "total_amount", type: "numeric(38,9)" }],
  ["purchase_orders=_extra", "by_no_name", { column: "_extra", type: expect.stringMatching(/^json/) }],
  ["purchase_orders=vendor_name:month", "unit_of_no_time", { column: "vendor_name", unit: "month" }],
  ["_compny", "column_nowhere", { column: "_compny", nearest: "_company" }],
  ["", "malformed", { partition_by: "" }],
];

describe.each(Object.entries(makers))("%s", (name, make) => {
  let simulator: Simulator;
  let warehouse: Warehouse;
  let runs: Bench;

  beforeAll(async () => {
    simulator = await startSimulator({ sizes });
    warehouse = await make();
    runs = bench({
      simulator,
      warehouse,
      config: { streams: { settings: { invoices: { unknown_fields: "column" } } } },
    });
    expect(await runs.sync()).toMatchObject({ exit_code: 0 });
  });
  afterAll(async () => {
    await simulator.close();
    await warehouse.drop();
  });

  test("a second export writes every table again, under other names", async () => {
    const out = await lake();
    const first = await exported(warehouse, out, { streams: ["items", "findings"] });
    const before = await manifestOf(out);
    await meddle(warehouse, ["update procurement.items set sku = 'again' where item_id = 'ITM-000004'"]);
    const second = await exported(warehouse, out, { streams: ["items", "findings"] });
    expect(second.tables).toEqual(first.tables.map(line => ({ ...line, bytes: expect.any(Number) })));
    const names = ({ tables }: Manifest) => tables.flatMap(({ files }) => files.map(({ path }) => path));
    const now = await manifestOf(out);
    expect(names(now).filter(name => names(before).includes(name))).toEqual([]);
    const told = tableIn(now, "items");
    const wanted = await warehouse.look(view => inWarehouse(view, "items", told.columns));
    expect(differing(await byAnother(out, told), wanted)).toEqual([]);
  });

  test("another selection: the folder holds what is selected now, and what left is told", async () => {
    const out = await lake();
    await exported(warehouse, out, { streams: ["items", "findings"] });
    const less = await exported(warehouse, out, { streams: ["items"] });
    expect(less).toMatchObject({ tables: [{ table: "items" }], removed: ["findings"] });
    expect((await readdir(out)).sort()).toEqual(["_manifest.json", "items"]);
    await writeFile(join(out, "_manifest.json"), "{");
    expect(await exported(warehouse, out, { streams: ["items"] })).toMatchObject({ removed: [] });
    const missing = await exported(warehouse, out, { streams: ["items", "budgets"], on: new Set() });
    expect(missing.missing).toEqual(["budgets"]);
    await expect(exported(warehouse, out, { streams: ["budgets"] })).rejects.toMatchObject({
      exitCode: 2,
      code: "export.no_tables",
      fields: { streams: ["budgets"] },
    });
  });

  test("versions stay for readers, as many as are to be kept; under another privacy only the new one", async () => {
    const out = await lake();
    const clock = stillClock();
    const names = async () => (await readdir(`${out}.exports`)).length;
    for (let value = 0; value < 4; value++) {
      await meddle(warehouse, [`update procurement.items set sku = 'v${value}' where item_id = 'ITM-000003'`]);
      await exported(warehouse, out, { streams: ["items"], keep: 3, clock });
      clock.advance(1);
    }
    expect(await names()).toBe(3);
    const { version } = await exported(warehouse, out, { streams: ["items"], keep: 3, clock, privacy: "treated" });
    expect(await readdir(`${out}.exports`)).toEqual([version]);
  });

  test("by month, by company, by text: folders that Hive reads", async () => {
    const out = await lake();
    await meddle(warehouse, [
      `update procurement.purchase_orders set vendor_name = 'a/b=c%d é "x"', po_date = date '2026-03-31' where po_number = 'PO-4'`,
      "update procurement.purchase_orders set po_date = null, vendor_name = null where po_number = 'PO-5'",
      "update procurement.purchase_orders set vendor_name = null where vendor_name = ''",
      "update procurement.purchase_orders set _changed_at = timestamptz '2025-12-31 23:59:59.999999+00' where po_number = 'PO-6'",
    ]);
    const partition_by = [
      "_company",
      "purchase_orders=po_date:month",
      "purchase_orders=vendor_name",
      "purchase_orders=_changed_at:year",
    ];
    await exported(warehouse, out, { streams: ["purchase_orders"], partition_by });
    const told = tableIn(await manifestOf(out), "purchase_orders");
    const folder = (number: number) => told.files[number]!.path.split("/").slice(1, -1);
    expect(folder(0)[0]).toBe("company=acme");
    const paths = told.files.map(({ path }) => path).join("\n");
    expect(paths).toMatch(
      /company=acme\/po_date_month=2026-03\/vendor_name=a%2Fb%3Dc%25d é %22x%22\/changed_at_year=\d{4}\//,
    );
    expect(paths).toContain("/po_date_month=__HIVE_DEFAULT_PARTITION__/");
    expect(paths).toContain("/changed_at_year=2025/");
    const wanted = await warehouse.look(view => inWarehouse(view, "purchase_orders", told.columns));
    expect(differing(await byAnother(out, told), wanted)).toEqual([]);
    expect(told.columns.filter(({ stored_in }) => stored_in === "path").map(({ name }) => name)).toEqual([
      "vendor_name",
    ]);
    expect(told.columns.some(({ name }) => name === "po_date")).toBe(true);
    const text = await readFile(join(out, "_manifest.json"), "utf8");
    expect(JSON.parse(text)).toMatchObject({ format_version: 1, options: { partition_by } });
  });

  test.each(name === "duckdb" ? refusals : refusals.slice(-3))(
    "--partition-by %s is refused, and nothing is made",
    async (spec, code, fields) => {
      const out = await lake();
      const asked = exported(warehouse, out, { streams: ["purchase_orders"], partition_by: [spec] });
      await expect(asked).rejects.toMatchObject({ exitCode: 2, code: `export.partition_${code}`, fields });
      expect(await readdir(join(out, ".."))).toEqual([]);
    },
  );
});
