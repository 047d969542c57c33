import { describe, expect, test } from "vitest";
import { passing } from "../../support/warehouse.ts";
import { gone, huge } from "../rows.ts";
import { toldTo } from "../tellings.ts";
import { modelWarehouses, type Row, suiteWarehouse } from "../warehouse.ts";

const order = (po_number: string, vendor_id: string | null, po_date: string | null, more: Row = {}): Row => ({
  po_number,
  is_open: true,
  vendor_id,
  po_date,
  list_currency_code: "EUR",
  ...more,
});
const line = (po_number: string, _index: number, more: Row): Row => ({ po_number, _index, ...more });
const contract = (contract_id: string, vendor_id: string, more: Row): Row => ({
  contract_id,
  vendor_id,
  usage_complete: true,
  ...more,
});
const requisition = (id: string, generated_po_number: string, more: Row = {}): Row => ({
  id,
  pr_number: id,
  title: "Bolts",
  status: "approved",
  llm_parsed: false,
  generated_po_number,
  ...more,
});
const asked = (id: string, _index: number, more: Row): Row => ({
  id,
  _index,
  id_: `${id}/${_index}`,
  requisition_id: id,
  line_no: String(_index),
  description: "Bolt",
  unit: "pc",
  ...more,
});

const rows = {
  purchase_orders: [
    order("P1", "V1", "2026-01-10", { total_amount: "1000" }),
    order("P2", "V1", "2026-01-15"),
    order("P3", "V1", "2026-01-31", { total_amount: "70" }),
    order("P4", "V1", "2025-12-31"),
    order("P5", "V2", "2026-02-01"),
    order("P6", "V3", "2026-02-01"),
    order("P7", "V4", "2026-02-01"),
    order("P8", null, "2026-01-05"),
    order("P9", "V1", null),
    order("P10", "V5", "2026-03-01"),
    order("P1", "V1", "2026-01-10", { _company: "beta" }),
  ],
  purchase_order_line_items: [
    line("P1", 0, { line_total: "100", amount: "99", contract_price: "5" }),
    line("P1", 1, { quantity: "2", unit_price: "10" }),
    line("P1", 2, { quantity: "2" }),
    line("P1", 3, { line_total: "7", _deleted_at: gone }),
    line("P2", 0, { amount: "50" }),
    line("P4", 0, { line_total: "30" }),
    line("P5", 0, { line_total: "40" }),
    line("P6", 0, { line_total: "45" }),
    line("P7", 0, { line_total: "60" }),
    line("P8", 0, { line_total: "9" }),
    line("P9", 0, { line_total: "8" }),
    line("P10", 0, { line_total: huge }),
    line("P10", 1, { line_total: "3" }),
    line("P1", 0, { _company: "beta", line_total: "11" }),
  ],
  contracts: [
    contract("C1", "V1", { effective_date: "2026-01-01", expiration_date: "2026-12-31", scope_category: "MRO" }),
    contract("C2", "V1", { effective_date: "2024-01-01", expiration_date: "2024-12-31", scope_category: "old" }),
    contract("C3", "V2", { effective_date: "2025-01-01" }),
    contract("C4", "V3", { effective_date: "2025-02-01", expiration_date: "2026-01-31", auto_renewal: true }),
    contract("C5", "V4", { effective_date: "2025-02-01", expiration_date: "2026-01-31", auto_renewal: false }),
    contract("C6", "V5", { effective_date: "2025-02-01", expiration_date: "2026-03-01", scope_category: "IT" }),
    contract("C7", "V5", { effective_date: "2026-03-01", expiration_date: "2026-06-30", scope_category: "Freight" }),
    contract("C8", "V4", { effective_date: "2025-02-01", expiration_date: "2027-01-31", _deleted_at: gone }),
  ],
  requisitions: [
    requisition("R1", "P2"),
    requisition("R2", "P4"),
    requisition("R3", "P1", { _company: "beta", _deleted_at: gone }),
  ],
  requisition_details: [],
  requisition_lines: [
    asked("R1", 0, {}),
    asked("R1", 1, { contract_id: "C1" }),
    asked("R1", 2, { contract_unit_price: "3" }),
    asked("R2", 0, { contract_id: "" }),
    asked("R3", 0, { _company: "beta", contract_id: "C1" }),
  ],
} satisfies Record<string, Row[]>;

/** The answers, worked out by hand from the rows above. */
describe.each(modelWarehouses)("contract leakage in $name", ({ name, make }) => {
  const columns = `_company, vendor_id, month, contract_standing, contract_scope, line_count, ordered_amount, without_amount_count,
    line_signed_count, line_signed_amount, requisition_signed_count, requisition_signed_amount, unsigned_count, unsigned_amount,
    unclear_count, unclear_amount, unsigned_share`;
  const order_by = "_company, vendor_id, month, contract_standing";

  const warehouse = suiteWarehouse(() => make(toldTo(name, rows)));

  test("what bears no sign of a contract stands beside what does, by what is known of contracts", async () => {
    const none = [0, "0", 0, "0"];
    expect(await warehouse.lines("contract_leakage", order_by, columns)).toEqual([
      ["acme", "V1", "2025-12-01", "none", null, 1, "30", 0, ...none, 1, "30", 0, "0", "1"],
      // 100 with a contract price, 2 * 10 without, one without an amount, 50 from a requisition with a contract, 70 of no lines
      ["acme", "V1", "2026-01-01", "running", "MRO", 5, "240", 1, 1, "100", 1, "50", 2, "20", 1, "70", "0.0833"],
      ["acme", "V1", null, "not known", null, 1, "8", 0, ...none, 1, "8", 0, "0", "1"],
      // without a last day, and past the last day of one that renews itself
      ["acme", "V2", "2026-02-01", "not known", null, 1, "40", 0, ...none, 1, "40", 0, "0", "1"],
      ["acme", "V3", "2026-02-01", "not known", null, 1, "45", 0, ...none, 1, "45", 0, "0", "1"],
      ["acme", "V4", "2026-02-01", "none", null, 1, "60", 0, ...none, 1, "60", 0, "0", "1"],
      // the last day of one contract is the first of another; an amount beyond all measure is none
      ["acme", "V5", "2026-03-01", "running", null, 2, "3", 1, ...none, 2, "3", 0, "0", "1"],
      ["acme", null, "2026-01-01", "not known", null, 1, "9", 0, ...none, 1, "9", 0, "0", "1"],
      ["beta", "V1", "2026-01-01", "none", null, 1, "11", 0, ...none, 1, "11", 0, "0", "1"],
    ]);
  });

  test("amounts are in the order's currency", async () => {
    const found = await warehouse.model("contract_leakage", "currency_code", "distinct currency_code, currency_source");
    expect(found.map(Object.values)).toEqual([["EUR", "list"]]);
  });

  test("amounts are converted by the rate of the order's date, and what has none is counted", async () => {
    const { purchase_orders, purchase_order_line_items, contracts } = rows;
    const rates = "date,currency,rate\n2026-01-08,EUR,0.5\n2026-01-15,EUR,0.8\n2026-03-01,EUR,1";
    const currency = { report: "USD", rates };
    const warehouse = await passing(
      make({ rows: { purchase_orders, purchase_order_line_items, contracts }, currency }),
    );
    const reported = `vendor_id, month, ordered_amount_reported, line_signed_amount_reported, requisition_signed_amount_reported,
      unsigned_amount_reported, unclear_amount_reported, unconverted_count`;
    const found = await warehouse.lines("contract_leakage", order_by, reported);
    expect(found.filter(([vendor_id]) => vendor_id === "V1" || vendor_id === "V5")).toEqual([
      ["V1", "2025-12-01", null, null, null, null, null, 1],
      // 120 / 0.5 + 50 / 0.8; the rate of the 15th is too old for the 70 of the 31st
      ["V1", "2026-01-01", "302.5", "200", null, "102.5", null, 1],
      ["V1", null, null, null, null, null, null, 1],
      ["V5", "2026-03-01", "3", null, null, "3", null, 0],
      // beta's: 11 / 0.5
      ["V1", "2026-01-01", "22", null, null, "22", null, 0],
    ]);
  });

  test("without requisitions the sign is the order line's alone", async () => {
    const { requisitions: _, requisition_details: __, requisition_lines: ___, ...others } = rows;
    const warehouse = await passing(make({ rows: others }));
    const signed = "unsigned_count, requisition_signed_count";
    const [, running] = await warehouse.model("contract_leakage", order_by, signed);
    expect(Object.values(running!)).toEqual([3, 0]);
  });
});
