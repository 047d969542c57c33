import { gone, huge, inFeed, profile } from "./rows.ts";
import type { Row } from "./warehouse.ts";

const invoice = (doc_id: string, more: Row = {}): Row => ({
  doc_id,
  vendor_id: "V1",
  vendor_name: "Vogel",
  document_number: "R-1",
  matched_po_number: "PO-1",
  ...more,
});
const line = (doc_id: string, _index: number, more: Row = {}): Row => ({ doc_id, _index, ...more });
/** Quantities and prices of the order, the receipt and the invoice. */
const sides = (po_qty: string | null, received_qty: string | null, invoice_qty: string | null): Row => ({
  po_qty,
  received_qty,
  invoice_qty,
});
const prices = (po_unit_price: string | null, invoice_unit_price: string | null): Row => ({
  po_unit_price,
  invoice_unit_price,
});

/** Invoices of two companies with their lines; today is 2026-03-15. */
export const invoiceRows = {
  company_profile: [profile("SEK")],
  ingested: [inFeed("I-1", "EUR")],
  invoices: [
    invoice("I-1", {
      document_date: "2026-02-13",
      due_date: "2026-03-20",
      total_amount: "1000",
      hold_reason: "price",
      failed_checks: ["tax"],
      anomaly_count: 3,
      critical_anomaly_count: 1,
      open_findings_count: 2,
      final_status: "a",
      match_status: "b",
      payment_status: "c",
      settlement_state: "d",
      current_status: "e",
    }),
    invoice("I-2", { total_amount: "1000.5", matched_po_number: null, failed_checks: { tax: false } }),
    invoice("I-3", {
      vendor_id: null,
      hold_reason: " ",
      failed_checks: {},
      anomaly_count: 1,
      critical_anomaly_count: 1,
    }),
    invoice("I-4", { vendor_id: "V2", failed_checks: [], anomaly_count: 0, open_findings_count: 0 }),
    invoice("credit", { linked_invoice_number: "R-1", total_amount: "-5" }),
    invoice("I-5", { _deleted_at: gone, hold_reason: "deleted" }),
    invoice("I-1", { _company: "beta", hold_reason: "other company", total_amount: huge }),
  ],
  invoice_matches: [
    { doc_id: "I-1", po_qty_label: "ordered", match_status: "discrepancy", match_verdict: "check" },
    { doc_id: "I-2", po_qty_label: "released" },
    { doc_id: "I-1", _company: "beta", po_qty_label: "beta's" },
  ],
  invoice_line_items: [
    line("I-1", 0, {
      ...sides("10", "10", "10"),
      ...prices("5", "5"),
      line_no: "1",
      line_total: "50",
      description: "Bolts",
      buyer_part_number: "B-1",
      vendor_part_number: "VP-1",
      manufacturer_part_number: "MP-1",
      uom: "box",
      status: "ok",
    }),
    line("I-1", 1, { ...sides("10", "8", "9"), ...prices("100", "110"), line_total: "985" }),
    line("I-1", 2, { ...sides("3", "5", "4"), ...prices("2.5", "2"), line_total: "8" }),
    line("I-1", 3, { ...sides("2", "1", "3"), ...prices("7", "7") }),
    line("I-1", 4, { ...sides("1", "1", "9"), ...prices("1", "9"), _deleted_at: gone }),
    line("I-2", 0, { ...sides(null, null, "1"), ...prices(null, "10") }),
    line("I-2", 1, { ...sides("1", null, "1"), ...prices("10", "10") }),
    line("I-2", 2, { ...sides("1", "1", null), ...prices("10", "10") }),
    line("I-2", 3, { ...sides("1", "1", "1"), ...prices("10", null) }),
    line("I-2", 4, { ...sides("5", "5", "2"), ...prices("0", "0.333333333") }),
    line("I-2", 5, { ...sides("1", "1", huge), ...prices(huge, huge) }),
    line("I-2", 6, { ...sides("1", "1", "1"), ...prices(null, "10") }),
    line("I-2", 7, { ...sides("1", "1", "1"), ...prices("3", "2") }),
    line("I-2", 8, { ...sides("1", "1", "-1"), ...prices("3", "3") }),
    line("I-1", 0, { _company: "beta", ...sides("1", "0", "1"), ...prices("1", "1") }),
  ],
} satisfies Record<string, Row[]>;
