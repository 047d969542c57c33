import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { verifyReport } from "../../../src/cli/terminal/verify_report.ts";
import { type StillClock, stillClock } from "../../support/clock.ts";
import { core } from "../../support/core.ts";
import { type Bench, bench, plain } from "../../support/run.ts";
import { contents, difference } from "../../support/tables.ts";
import { duckdbWarehouse, postgresWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { hundred, meddle, wrongIn } from "./planting.ts";

const makers = { duckdb: () => duckdbWarehouse(), postgres: () => postgresWarehouse(inject("postgresUrl")) };
const sizes = { orders: 50, invoices: 40, items: 25, findings: 12, ingested: 20 };

describe.each(Object.entries(makers))("%s", (_name, make) => {
  let clock: StillClock;
  let simulator: Simulator;
  let warehouse: Warehouse;
  let runs: Bench;

  beforeAll(async () => {
    clock = stillClock();
    simulator = await startSimulator({ sizes, now: clock.date });
    warehouse = await make();
    // What is hardest to keep as it came, and a field that gets a column of its own.
    simulator.patch("purchase_orders", "PO-3", {
      po_date: "soon",
      total_amount: JSON.rawJSON("-12345678901234567890123.1234567895"),
      vendor_name: 'a "b",\n\tc\u2028é😀',
      match_status: "",
      planted: { b: [JSON.rawJSON("0.1000000000000000055511151231257827"), 1e21, "\0"], a: null },
    });
    simulator.patch("items", "ITM-000002", { colour: "blue", supply_risk_score: 1e-7, last_enriched_at: "0001-01-01" });
    const settings = { items: { unknown_fields: "column" }, purchase_orders: { unknown_fields: "keep" } };
    runs = bench({ simulator, warehouse, clock, config: { streams: { settings } } });
    expect(await runs.sync()).toMatchObject({ exit_code: 0 });
    expect(await runs.sync({ names: ["items"] })).toMatchObject({ exit_code: 0 });
  });
  afterAll(async () => {
    await simulator.close();
    await warehouse.drop();
  });

  test("a clean warehouse has no difference, and none of its tables is touched", async () => {
    const before = await contents(warehouse, core);
    const report = await runs.verify();
    expect(report.differences).toEqual([]);
    expect(report).toMatchObject({ status: "equal", exit_code: 0, warnings: [], errors: [] });
    const checked = Object.fromEntries(report.streams.map(line => [line.stream, [line.rows_checked, line.rows_equal]]));
    const all = (rows: number) => [rows, rows];
    expect(checked).toEqual({
      purchase_orders: all(50),
      purchase_order_details: all(50),
      invoices: all(40),
      invoice_matches: all(40),
      items: all(25),
      findings: all(12),
      findings_summary: all(1),
      ingested: all(20),
    });
    const told = "select _problems is not null and _extra is not null as told from procurement.purchase_orders";
    expect(await warehouse.query(`${told} where po_number = 'PO-3'`)).toEqual([{ told: true }]);
    expect(await warehouse.query("select colour from procurement.items where colour is not null")).toHaveLength(1);
    expect(difference(before, await contents(warehouse, core))).toEqual([]);
    const kept = await warehouse.query<{ status: string }>("select * from _tributary.verifications");
    expect(kept).toHaveLength(core.length);
    expect(new Set(kept.map(row => row.status))).toEqual(new Set(["equal"]));
  });

  test("a column that a killed run wrote down and did not make is not looked for", async () => {
    const row = "stream, table_name, 'not_yet', 'not_yet', kind, added_at";
    const added = "_tributary.added_columns";
    await meddle(warehouse, [`insert into ${added} select ${row} from ${added} where column_name = 'colour'`]);
    expect(await runs.verify({ names: ["items"] })).toMatchObject({ status: "equal", differences: [] });
    await meddle(warehouse, [`delete from ${added} where column_name = 'not_yet'`]);
  });

  test("what the service changed since is no fault, and gone after the next sync", async () => {
    const [changed] = simulator.update("purchase_orders", 1);
    const [arrived] = simulator.insert("items", 1);
    const [left] = simulator.delete("invoices", 1);
    const report = await runs.verify();
    expect(report).toMatchObject({ status: "equal", exit_code: 0 });
    const told = report.differences.map(({ table_name, key, kind }) => [table_name, key, kind]);
    expect(told).toEqual(
      expect.arrayContaining([
        ["purchase_orders", `po_number=${changed}`, "changed_since"],
        ["items", `item_id=${arrived}`, "changed_since"],
        ["invoices", `doc_id=${left}`, "changed_since"],
        ["invoice_matches", `doc_id=${left}`, "changed_since"],
      ]),
    );
    expect(new Set(report.differences.map(({ kind }) => kind))).toEqual(new Set(["changed_since"]));
    clock.advance(3_600_000);
    await runs.sync({ names: ["preset:core"], full: true });
    expect((await runs.verify()).differences).toEqual([]);
  });

  test("where not one row is equal nothing could be compared: a word and an exit code of its own, a note beside equal streams", async () => {
    const keys = [...simulator.truth.rows("items")].map(row => String(row["item_id"]));
    simulator.update("items", keys);
    const alone = await runs.verify({ names: ["items"] });
    expect(alone).toMatchObject({ status: "incomparable", exit_code: 1, incomparable: ["items"] });
    expect(alone.errors).toMatchObject([{ code: "verify.nothing_comparable", fields: { rows: keys.length } }]);
    expect(alone.streams).toMatchObject([{ status: "incomparable", rows_equal: 0 }]);
    expect(verifyReport(alone, "_tributary", plain)).not.toContain("No difference");
    const beside = await runs.verify({ names: ["items", "findings"] });
    expect(beside).toMatchObject({ status: "equal", exit_code: 0, incomparable: ["items"], errors: [] });
    expect(beside.warnings).toMatchObject([{ code: "verify.nothing_comparable" }]);
    clock.advance(3_600_000);
    await runs.sync({ names: ["items"] });
  });

  test("a seed chooses the details: the same ones again, and no request more", async () => {
    const names = ["purchase_order_details", "invoice_matches"];
    const asked: string[][] = [];
    for (const seed of ["a", "a", "b"]) {
      simulator.requests.clear();
      const report = await runs.verify({ names, sample: 5, seed });
      expect(report.streams.map(line => [line.stream, line.rows_checked, line.requests])).toEqual([
        ["purchase_order_details", 5, 5],
        ["invoice_matches", 5, 5],
      ]);
      asked.push(simulator.requests.entries.map(entry => entry.path).sort());
    }
    const [first, again, other] = asked;
    expect(first).toHaveLength(11);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test("at a limit of requests what was compared is told, with 5, and a stream that was never loaded is left out", async () => {
    const stopped = await runs.verify({ names: ["items", "purchase_order_details"], maxRequests: 9, sample: 20 });
    expect(stopped).toMatchObject({ status: "incomplete", exit_code: 5 });
    expect(stopped.streams.map(line => line.status)).toContain("incomplete");
    const rows = stopped.streams.reduce((sum, line) => sum + line.rows_checked, 0);
    expect(rows).toBeGreaterThan(5);
    const unread = await runs.verify({ names: ["contracts"] });
    expect(unread).toMatchObject({ exit_code: 0, streams: [{ stream: "contracts", status: "skipped", requests: 0 }] });
    await expect(runs.verify({ company: "other" })).rejects.toThrow(/--company: expected one of acme/);
  });

  test("every one of a hundred planted differences is found, and nothing else", async () => {
    const plants = await hundred(warehouse);
    const told = plants.flatMap(plant => plant.told);
    expect(told).toHaveLength(100);
    await meddle(
      warehouse,
      plants.map(plant => plant.statement),
    );
    const report = await runs.verify();
    expect(wrongIn(report)).toEqual(told.toSorted());
    expect(report).toMatchObject({ status: "different", exit_code: 1 });
    expect(report.streams.reduce((sum, line) => sum + line.differences, 0)).toBe(100);
    const [{ n = 0 } = {}] = await warehouse.query<{ n: number }>(
      `select count(*) as n from _tributary.verification_differences where run_id = '${report.run_id}'`,
    );
    expect(Number(n)).toBe(100);
  });
});
