import { gone, huge, inFeed } from "./rows.ts";
import type { Row } from "./warehouse.ts";

const invoice = (doc_id: string, document_date: string | null, more: Row = {}): Row => ({
  doc_id,
  document_date,
  vendor_id: "V1",
  vendor_name: "Vogel",
  ...more,
});
const bolt = (
  doc_id: string,
  _index: number,
  invoice_qty: string | null,
  invoice_unit_price: string | null,
  more: Row = {},
): Row => ({
  doc_id,
  _index,
  buyer_part_number: "B-1",
  vendor_part_number: "V-1",
  description: "Bolt",
  uom: "pc",
  invoice_qty,
  invoice_unit_price,
  ...more,
});
const euros = (id: string, more: Row = {}): Row => inFeed(id, "EUR", more);
const bought = (_index: number, date: string | null, quantity: string, unit_price: string, more: Row = {}): Row => ({
  item_id: "I1",
  _index,
  date,
  quantity,
  unit_price,
  vendor_id: "V1",
  doc_type: "invoice",
  uom: "pc",
  currency_code: "EUR",
  ...more,
});
const priced = (_index: number, date: string | null, avg_price: string | null, more: Row = {}): Row => ({
  item_id: "I1",
  _index,
  date,
  avg_price,
  currency_code: "EUR",
  ...more,
});

export const priceRows = {
  invoices: [
    invoice("i1", "2026-01-10"),
    invoice("i2", "2026-02-10"),
    invoice("i3", "2026-03-10"),
    invoice("undated", null),
    invoice("credit", "2026-02-20", { linked_invoice_doc_id: "i1", doc_type: "credit note" }),
    invoice("in no known currency", "2026-01-10"),
    invoice("no vendor", "2026-01-10", { vendor_id: null }),
    invoice("hostile", "2026-01-10", { vendor_id: "V2", vendor_name: "Zander" }),
    invoice("i1", "2026-01-11", { _company: "beta", vendor_name: "Otter" }),
  ],
  ingested: [
    ...["i1", "i2", "i3", "undated", "credit", "no vendor", "hostile"].map(id => euros(id)),
    euros("i1", { _company: "beta" }),
  ],
  invoice_line_items: [
    bolt("i1", 0, "10", "2", { po_unit_price: "1.5", expected_price: "1.8", expected_price_currency: "eur" }),
    bolt("i1", 1, "30", "4", { po_unit_price: "4", expected_price: "1", expected_price_currency: "USD" }),
    bolt("i1", 2, null, "9", { po_unit_price: "1" }),
    bolt("i1", 3, "10", null, { po_unit_price: "1" }),
    bolt("i1", 4, "10", "8", { uom: "box", description: null }),
    bolt("i2", 0, "20", "3", { po_unit_price: "4", expected_price: "3.2", expected_price_currency: "EUR" }),
    bolt("i2", 1, "5", "1", { buyer_part_number: " ", description: "Bolt, by the vendor's number" }),
    bolt("i2", 2, "1", "7", { buyer_part_number: null, vendor_part_number: "", description: null }),
    bolt("i2", 3, "100", "100", { _deleted_at: gone }),
    bolt("i3", 0, "-2", "5"),
    bolt("undated", 0, "1", "6"),
    bolt("credit", 0, "10", "2"),
    bolt("in no known currency", 0, "10", "2", { expected_price: "1" }),
    bolt("no vendor", 0, "10", "0", { po_unit_price: "0" }),
    bolt("hostile", 0, huge, "2", { po_unit_price: huge }),
    bolt("hostile", 1, "1", huge),
    bolt("i1", 0, "10", "2", { _company: "beta" }),
  ],
  items: [
    { item_id: "I1", description: "Bolt M8", category: "fasteners", uom: "pc", currency_code: "EUR" },
    { item_id: "I1", description: "Other", currency_code: "USD", _company: "beta" },
  ],
  item_transactions: [
    bought(0, "2026-01-01", "10", "1"),
    bought(1, "2026-01-02", "10", "1.1"),
    bought(2, "2026-01-02", "5", "5", { doc_type: "order" }),
    bought(3, "2026-01-03", "5", "2", { currency_code: "USD" }),
    bought(4, "2026-01-03", "5", "2", { currency_code: null }),
    bought(0, "2026-01-03", "5", "2", { _company: "beta", vendor_id: null }),
  ],
  item_price_history: [
    priced(0, "2025-03-31", "2", { transaction_count: 1, total_spend: "20", min_price: "1", max_price: "3" }),
    priced(1, "2026-01-01", "3", { transaction_count: 3, total_spend: "30", min_price: "2.5", max_price: "3.5" }),
    priced(2, "2026-01-20", "5", { transaction_count: 1, total_spend: "10", min_price: "5", max_price: "5" }),
    priced(3, "2026-03-05", "4"),
    priced(4, "2026-03-05", "100", { currency_code: "USD" }),
    priced(5, "2026-04-05", "100", { currency_code: null }),
    priced(6, null, "77"),
    priced(7, "2026-03-05", null),
    priced(8, "2026-03-05", huge, { transaction_count: 7 }),
    priced(9, "2026-03-05", "77", { _deleted_at: gone }),
    priced(0, "2026-03-05", "0", { _company: "beta", currency_code: "USD" }),
    priced(1, "2026-04-05", "1", { _company: "beta", currency_code: "USD" }),
  ],
};
