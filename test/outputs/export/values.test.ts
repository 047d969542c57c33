import { readdir } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { streams } from "../../../streams/index.ts";
import { meddle } from "../../operations/verify/planting.ts";
import { bench } from "../../support/run.ts";
import { duckdbWarehouse, postgresWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { exported } from "./exporting.ts";
import { lake } from "./lake.ts";
import { byAnother, byDuckdb, differing, inWarehouse, manifestOf, tableIn } from "./parquet.ts";

const makers = { duckdb: () => duckdbWarehouse(), postgres: () => postgresWarehouse(inject("postgresUrl")) };
const sizes = { orders: 40, invoices: 20, items: 30, findings: 8, ingested: 20 };
const items = streams.find(({ name }) => name === "items")!.tables.main;

describe.each(Object.entries(makers))("%s", (_name, make) => {
  let simulator: Simulator;
  let warehouse: Warehouse;

  beforeAll(async () => {
    simulator = await startSimulator({ sizes });
    warehouse = await make();
    simulator.patch("purchase_orders", "PO-3", {
      total_amount: JSON.rawJSON("-12345678901234567890123456789.123456789"),
      vendor_name: 'a "b",\n\r\tc\u2028é😀\\.',
      po_date: "soon",
      planted: { b: [1, "\0"], a: null },
    });
    const settings = { purchase_orders: { history: true } };
    const runs = bench({ simulator, warehouse, config: { streams: { settings } } });
    expect(await runs.sync()).toMatchObject({ exit_code: 0 });
  });
  afterAll(async () => {
    await simulator.close();
    await warehouse.drop();
  });

  const expectEqual = async (out: string, table: string, where?: string): Promise<void> => {
    const told = tableIn(await manifestOf(out), table);
    const wanted = await warehouse.look(view => inWarehouse(view, table, told.columns, where));
    expect(differing(await byDuckdb(out, told), wanted), `${table}, read by DuckDB`).toEqual([]);
    expect(differing(await byAnother(out, told), wanted), `${table}, read by hyparquet`).toEqual([]);
    expect(told.rows).toBe(wanted.length);
    expect(told.files.reduce((sum, file) => sum + file.rows, 0)).toBe(wanted.length);
  };

  test("every value of every table is the warehouse's, by two readers", async () => {
    const out = await lake();
    const report = await exported(warehouse, out);
    expect(report).toMatchObject({ removed: [], missing: [] });
    const tables = report.tables.map(({ table }) => table);
    expect(tables).toEqual(expect.arrayContaining(["purchase_orders", "purchase_orders_versions", "findings_summary"]));
    expect(tables.filter(name => name.startsWith("rows_"))).toEqual([]);
    for (const table of tables) await expectEqual(out, table);
    expect((await readdir(out)).sort()).toEqual([...tables, "_manifest.json"].sort());
    expect(report.tables.every(({ files }) => files === 1)).toBe(true);
  });

  test("types are exact, and told", async () => {
    const out = await lake();
    await exported(warehouse, out, { streams: ["purchase_orders"] });
    const told = tableIn(await manifestOf(out), "purchase_orders");
    const types = Object.fromEntries(told.columns.map(({ name, parquet_type }) => [name, parquet_type]));
    expect(types).toMatchObject({
      _company: "STRING",
      total_amount: "DECIMAL(38,9)",
      po_date: "DATE",
      is_open: "BOOLEAN",
      _extra: "STRING",
      _changed_at: "TIMESTAMP(MICROS,UTC)",
    });
    expect(told.columns.find(({ name }) => name === "total_amount")).toMatchObject({
      kind: "money",
      sql_type: "numeric(38,9)",
      nullable: true,
      description: expect.stringContaining("API: "),
    });
    await expectEqual(out, "purchase_orders");
  });

  test("whatever a column can hold comes back as it was", async () => {
    const text = fc.oneof(
      fc.constantFrom(
        "",
        " ",
        '"',
        '""',
        "\\.",
        "\\N",
        "NULL",
        ",",
        "\n",
        "\r\n",
        "\ufeff",
        "0",
        "__HIVE_DEFAULT_PARTITION__",
        "%41",
      ),
      fc.string({ unit: "grapheme" }).map(value => value.replaceAll("\0", "")),
    );
    const digits = (most: number) => fc.bigInt({ min: 0n, max: 10n ** BigInt(most) - 1n });
    const decimal = fc.oneof(
      fc.constantFrom(
        "0",
        "0.000000001",
        "-0.0000005",
        "999999999999.999999",
        "1000000000000.000001",
        "-99999999999999999999999999999.999999999",
      ),
      fc
        .tuple(fc.constantFrom("", "-"), digits(29), digits(9))
        .map(([sign, whole, part]) => `${sign}${whole}.${part.toString().padStart(9, "0")}`),
      fc
        .tuple(fc.constantFrom("", "-"), digits(12), digits(2))
        .map(([sign, whole, part]) => `${sign}${whole}.${part.toString().padStart(2, "0")}`),
    );
    const year = fc.integer({ min: 1, max: 9999 }).map(value => String(value).padStart(4, "0"));
    const date = fc.oneof(
      fc.constantFrom("0001-01-01", "9999-12-31", "1582-10-10", "1969-12-31"),
      year.map(value => `${value}-02-28`),
    );
    const moment = fc
      .tuple(date, fc.integer({ min: 0, max: 999_999 }))
      .map(([day, micros]) => `${day} 23:59:59.${String(micros).padStart(6, "0")}+00`);
    const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => String(value + 0));
    const json = fc
      .jsonValue({ maxDepth: 2 })
      .map(value => JSON.stringify(value).replaceAll("\\u0000", "").replaceAll("-0", "0"));
    const of: Readonly<Record<string, fc.Arbitrary<string>>> = {
      ...{ text, money: decimal, quantity: decimal, percent: decimal, date, moment, json, score: double },
      count: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
      flag: fc.boolean().map(String),
    };
    const columns = items.columns.filter(({ name, kind }) => !items.key.includes(name) && Object.hasOwn(of, kind));
    expect(new Set(columns.map(({ kind }) => kind)).size).toBeGreaterThan(4);
    const row = fc.tuple(...columns.map(({ kind }) => fc.option(of[kind]!, { freq: 4 })));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 5, maxLength: 30, size: "max" }), async rows => {
        const literal = (value: string | null) => (value === null ? "null" : `'${value.replaceAll("'", "''")}'`);
        const tuples = rows.map((values, at) => `('acme', 'P${at}', ${values.map(literal).join(", ")}, now(), now())`);
        await meddle(warehouse, [
          "delete from procurement.items",
          `insert into procurement.items (_company, item_id, ${columns.map(({ name }) => `"${name}"`).join(", ")}, _first_seen_at, _changed_at) values ${tuples.join(", ")}`,
        ]);
        const out = await lake();
        await exported(warehouse, out, { streams: ["items"] });
        await expectEqual(out, "items");
        const name = columns.find(({ kind }) => kind === "text")!.name;
        await exported(warehouse, out, { streams: ["items"], partition_by: [`items=${name}`] });
        const told = tableIn(await manifestOf(out), "items");
        // Neither has a folder of its own in Hive's layout: there they are NULL.
        const nobody = `in ('', '__HIVE_DEFAULT_PARTITION__')`;
        await meddle(warehouse, [`update procurement.items set "${name}" = null where "${name}" ${nobody}`]);
        const wanted = await warehouse.look(view => inWarehouse(view, "items", told.columns));
        expect(differing(await byAnother(out, told), wanted)).toEqual([]);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });

  test("columns are those of the table, in its order", async () => {
    const out = await lake();
    await exported(warehouse, out, { streams: ["invoices"] });
    const names = tableIn(await manifestOf(out), "invoices").columns.map(({ name }) => name);
    const there = await warehouse.query<{ name: string }>(
      "select column_name as name from information_schema.columns where table_schema = 'procurement' and table_name = 'invoices' order by ordinal_position",
    );
    expect(names).toEqual(there.map(({ name }) => name));
  });

  test("a company's rows, and live ones, alone", async () => {
    const out = await lake();
    await meddle(warehouse, [
      "update procurement.findings set _deleted_at = now() where finding_item_id in (select min(finding_item_id) from procurement.findings)",
    ]);
    const live = await exported(warehouse, out, { streams: ["findings"], live: true });
    expect(live.tables.find(({ table }) => table === "findings")!.rows).toBe(7);
    await expectEqual(out, "findings", "_deleted_at is null");
    const nobody = await exported(warehouse, out, { streams: ["findings"], company: "other" });
    expect(nobody.tables.map(({ rows, files }) => [rows, files])).toEqual(nobody.tables.map(() => [0, 1]));
    await expectEqual(out, "findings", "false");
    await exported(warehouse, out, { streams: ["findings"], company: "other", partition_by: ["_company"] });
    await expectEqual(out, "findings", "false");
    expect(await readdir(join(out, "findings"))).toEqual(["company=__HIVE_DEFAULT_PARTITION__"]);
  });
});
