import { gone, inFeed } from "./rows.ts";
import type { Row } from "./warehouse.ts";

const bill = (
  doc_id: string,
  document_date: string | null,
  total_amount: string | null,
  due_date: string | null,
  more: Row = {},
): Row => ({ doc_id, vendor_id: "V1", document_date, total_amount, due_date, payment_status: "open", ...more });

/** Invoices of two companies; today is Sunday, 2026-03-15, so this week began on 2026-03-09. */
export const spendRows = {
  invoices: [
    // A link makes no credit, nor does one to itself.
    bill("a1", "2026-01-05", "100", "2026-03-14", {
      ...{ vendor_name: "Vogel", tax_amount: "20", shipping_amount: "5", discount_capturable_amount: "2" },
      ...{ linked_invoice_doc_id: "a2", credit_memo_match_method: "number" },
    }),
    bill("a2", "2026-01-31", "50.5", "2026-03-15", {
      ...{ vendor_name: " Vogel GmbH ", vendor_website: "vogel.example", linked_invoice_doc_id: "a2" },
    }),
    bill("a3", "2026-02-01", "70", "2026-03-16", {
      ...{ vendor_name: "Vogel", hold_reason: "price", discount_capturable_amount: "1.4" },
    }),
    bill("in the order's currency", "2026-01-10", "10", "2026-03-22", { matched_po_number: "PO1" }),
    bill("in no known currency", "2026-01-11", "7", "2026-03-16"),
    bill("in dollars", "2026-01-12", "9", "2026-03-22"),
    bill("without a total", "2026-01-13", null, "2026-03-01", { doc_type: "Invoice" }),
    bill("nobody says what", "2026-01-14", null, "2026-03-01"),
    bill("credit by its type", "2026-01-21", "8", "2026-02-21", { doc_type: " CREDIT Memo " }),
    bill("credit", "2026-01-20", "-30", "2026-02-20", { linked_invoice_number: "1" }),
    bill("vendor not resolved", "2026-01-15", "11", null, {
      ...{ vendor_id: null, vendor_name: "Vogel", payment_status: "paid", settlement_state: "settled" },
    }),
    bill("vendor blank", "2026-01-16", "12", null, { vendor_id: "", vendor_name: "Vogel", payment_status: null }),
    bill("without dates", null, "3", null, { vendor_id: "V2", payment_status: null }),
    bill("no longer listed", "2026-01-05", "1000", "2026-03-14", { _deleted_at: gone }),
    bill("a1", "2026-01-05", "200", "2026-03-30", { _company: "beta", vendor_name: "Otter", payment_status: null }),
  ],
  ingested: [
    ...[
      "a1",
      "a2",
      "a3",
      "without a total",
      "nobody says what",
      "credit",
      "credit by its type",
      "vendor not resolved",
      "vendor blank",
      "without dates",
      "no longer listed",
    ].map(id => inFeed(id, "EUR")),
    inFeed("in dollars", "USD"),
    inFeed("a1", "EUR", { _company: "beta" }),
  ],
  purchase_orders: [
    { po_number: "PO1", is_open: true, vendor_id: "V1", vendor_name: "Vogel GmbH", vendor_website: "vogel.example" },
    { po_number: "PO2", is_open: true, vendor_id: "V1", vendor_name: "Vogel GmbH", vendor_website: "old.example" },
    { po_number: "PO3", is_open: true, vendor_name: "Nobody" },
    { po_number: "PO4", is_open: true, vendor_id: "V9", vendor_name: "Gone", _deleted_at: gone },
  ],
  purchase_order_details: [{ po_number: "PO1", is_open: true, currency_code: "EUR" }],
  contracts: [
    { contract_id: "c1", vendor_id: "V3", vendor_name: "Zander", _changed_at: "2026-03-01T00:00:00Z" },
    { contract_id: "c2", vendor_id: "V3", vendor_name: "Zander AG", _changed_at: "2026-03-02T00:00:00Z" },
  ],
  rate_cards: [
    {
      rate_card_id: "r",
      carrier_vendor_id: "V4",
      carrier_name: "Spedition",
      mode: "LTL",
      status: "s",
      company_id: "1",
    },
  ],
  rfqs: [{ id: "q", awarded_vendor_id: "V2" }],
};
