import { describe, expect, test } from "vitest";
import { passing } from "../../support/warehouse.ts";
import { gone } from "../rows.ts";
import { toldTo } from "../tellings.ts";
import { modelWarehouses, type Row, suiteWarehouse } from "../warehouse.ts";

const requisition = (id: string, more: Row): Row => ({
  id,
  pr_number: id,
  title: "Bolts",
  status: "approved",
  llm_parsed: false,
  vendor_id: "V1",
  ...more,
});
const order = (po_number: string, more: Row): Row => ({ po_number, is_open: true, vendor_id: "V1", ...more });
const detail = (po_number: string, more: Row): Row => ({ po_number, is_open: true, ...more });
const line = (po_number: string, _index: number, more: Row): Row => ({ po_number, _index, ...more });
const invoice = (doc_id: string, matched_po_number: string, document_date: string, more: Row = {}): Row => ({
  doc_id,
  matched_po_number,
  document_date,
  doc_type: "Invoice",
  vendor_id: "V1",
  ...more,
});

const rows = {
  requisitions: [
    requisition("R1", {
      created_at: "2026-01-01T08:00:00Z",
      // Half past one on the 4th in UTC.
      submitted_at: "2026-01-03T23:30:00-02:00",
      approved_at: "2026-01-06T10:00:00Z",
      generated_po_number: "P1",
    }),
    requisition("R2", {
      created_at: "2026-01-02T08:00:00Z",
      submitted_at: "2026-01-02T09:00:00Z",
      approved_at: "2026-01-12T09:00:00Z",
      generated_po_number: "P2",
    }),
    requisition("R3", { created_at: "2026-01-05T08:00:00Z", submitted_at: "2026-01-05T09:00:00Z" }),
    requisition("R4", {
      vendor_id: null,
      submitted_at: "2026-02-01T09:00:00Z",
      approved_at: "2026-02-02T09:00:00Z",
      generated_po_number: "nobody's",
    }),
    requisition("R5", { created_at: "2026-01-05T08:00:00Z", _deleted_at: gone }),
    requisition("R1", { _company: "beta", created_at: "2026-01-01T08:00:00Z" }),
  ],
  purchase_orders: [
    order("P1", { po_date: "2026-01-08" }),
    order("P2", { vendor_id: "V2" }),
    order("P3", { po_date: "2026-01-15" }),
    order("P4", { vendor_id: null }),
    order("P5", { po_date: "2026-01-15", _deleted_at: gone }),
  ],
  purchase_order_details: [
    detail("P1", { confirmation_received_date: "2026-01-10", order_date: "2025-01-01" }),
    detail("P2", { order_date: "2026-01-10", order_placed_date: "2026-01-11" }),
    detail("P4", { confirmation_received_date: "2026-03-01" }),
    detail("P5", { confirmation_received_date: "2026-03-01" }),
  ],
  purchase_order_line_items: [
    line("P1", 0, { actual_delivery_date: "2026-01-20", actual_date: "2026-01-25" }),
    line("P1", 1, { actual_date: "2026-01-09" }),
    line("P1", 2, {}),
    line("P1", 3, { carrier_delivered_date: "2026-01-09" }),
    line("P2", 0, { actual_date: "2026-02-01" }),
    line("P2", 1, { actual_date: "2026-02-01", _deleted_at: gone }),
  ],
  invoices: [
    invoice("I1", "P1", "2026-01-30"),
    invoice("I2", "P1", "2026-01-05", { doc_type: "Credit memo" }),
    invoice("I3", "P1", "2026-02-15"),
    invoice("I4", "P1", "2026-01-06", { _deleted_at: gone }),
    invoice("I5", "P4", "2026-03-05"),
    invoice("I6", "P1", "2026-01-06", { _company: "beta" }),
  ],
} satisfies Record<string, Row[]>;

const columns = `_company, step_number, vendor_id, month, row_count, pair_count, negative_count, begin_only_count,
  end_only_count, undated_count, other_date_count, median_days, p90_days, shortest_days, longest_days`;
const order_by = "_company, step_number, vendor_id, month";

/** The answers, worked out by hand from the rows above. */
describe.each(modelWarehouses)("cycle times in $name", ({ name, make }) => {
  const warehouse = suiteWarehouse(() => make(toldTo(name, rows)));

  test("each step has its pairs in days, and what is no pair is counted apart", async () => {
    expect(await warehouse.lines("cycle_times", order_by, columns)).toEqual([
      // 3, 0 and 0 days; 0.9 of the way from the first to the third: 0 + 0.8 * 3
      ["acme", 1, "V1", "2026-01-01", 3, 3, 0, 0, 0, 0, 0, "0", "2.4", 0, 3],
      ["acme", 1, null, null, 1, 0, 0, 0, 1, 0, 0, null, null, null, null],
      // 2 and 10 days; one is not approved
      ["acme", 2, "V1", "2026-01-01", 3, 2, 0, 1, 0, 0, 0, "6", "9.2", 2, 10],
      ["acme", 2, null, "2026-02-01", 1, 1, 0, 0, 0, 0, 0, "1", "1", 1, 1],
      // the 6th to the 8th
      ["acme", 3, "V1", "2026-01-01", 1, 1, 0, 0, 0, 0, 0, "2", "2", 2, 2],
      ["acme", 3, "V1", null, 1, 0, 0, 0, 0, 1, 0, null, null, null, null],
      // ordered on the 10th, approved on the 12th; the vendor is the order's, its date another than po_date
      ["acme", 3, "V2", "2026-01-01", 1, 0, 1, 0, 0, 0, 1, null, null, -2, -2],
      // its order is in no list
      ["acme", 3, null, "2026-02-01", 1, 0, 0, 1, 0, 0, 0, null, null, null, null],
      ["acme", 4, "V1", "2026-01-01", 1, 1, 0, 0, 0, 0, 0, "2", "2", 2, 2],
      ["acme", 4, "V2", "2026-01-01", 1, 0, 0, 1, 0, 0, 1, null, null, null, null],
      ["acme", 4, null, null, 1, 0, 0, 0, 1, 0, 0, null, null, null, null],
      // from the 10th: 10 days, -1, and two lines that are not there yet, whatever the carrier says
      ["acme", 5, "V1", "2026-01-01", 4, 1, 1, 2, 0, 0, 0, "10", "10", -1, 10],
      ["acme", 5, "V2", null, 1, 0, 0, 0, 1, 0, 0, null, null, null, null],
      // from the 8th: 12 days and 1; 1 + 0.9 * 11
      ["acme", 6, "V1", "2026-01-01", 4, 2, 0, 2, 0, 0, 0, "6.5", "10.9", 1, 12],
      ["acme", 6, "V2", "2026-01-01", 1, 1, 0, 0, 0, 0, 1, "22", "22", 22, 22],
      // the first receipt on the 9th, the first invoice on the 30th; the credit came before
      ["acme", 7, "V1", "2026-01-01", 1, 1, 0, 0, 0, 0, 0, "21", "21", 21, 21],
      ["acme", 7, "V2", "2026-02-01", 1, 0, 0, 1, 0, 0, 0, null, null, null, null],
      ["acme", 7, null, null, 1, 0, 0, 0, 1, 0, 0, null, null, null, null],
      ["beta", 1, "V1", "2026-01-01", 1, 0, 0, 1, 0, 0, 0, null, null, null, null],
      ["beta", 2, "V1", null, 1, 0, 0, 0, 0, 1, 0, null, null, null, null],
      ["beta", 3, "V1", null, 1, 0, 0, 0, 0, 1, 0, null, null, null, null],
    ]);
  });

  test("steps whose tables are not there are missing", async () => {
    const warehouse = await passing(
      make({ rows: { purchase_orders: rows.purchase_orders, requisitions: rows.requisitions } }),
    );
    const steps = "distinct step_number, step";
    expect(await warehouse.lines("cycle_times", "step_number", steps)).toEqual([
      [1, "draft to requisition"],
      [2, "requisition to approval"],
      [3, "approval to order"],
    ]);
  });
});
