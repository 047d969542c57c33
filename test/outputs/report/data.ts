import { inFeed } from "../../models/rows.ts";
import type { Row } from "../../models/warehouse.ts";

/** Names as vendors, and whoever types them in, really write them; some as nobody should. */
export const hostile = {
  markup: `<script>alert(1)</script> & "Sons" <b onclick='x'>`,
  rightToLeft: "شركة الخليج للتوريدات الصناعية المحدودة",
  emoji: "Family 👨‍👩‍👧‍👦 Bolts 🔩 and a name that is far too long to stand beside a bar, whatever its size",
  turned: "Evil \u202egnp.exe\u202c\u2066 Ltd.\nsecond line",
  word: "W".repeat(400),
} as const;

const currencies = ["EUR", "USD", null, "JPY"];
const names = [hostile.markup, hostile.rightToLeft, hostile.emoji, hostile.turned, hostile.word, null, ""];
const statuses = ["paid", "unpaid", null, "<i>odd</i>"];
const each = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));
const two = (value: number) => String(value).padStart(2, "0");
/** The month so many before March 2026. */
const monthBefore = (months: number) => {
  const at = 2026 * 12 + 2 - months;
  return `${Math.floor(at / 12)}-${two((at % 12) + 1)}`;
};
const vendor = (index: number): Row => ({
  vendor_id: index % 13 === 12 ? null : `V${two(index % 23)}`,
  vendor_name: names[index % 23] === undefined ? `Vendor ${index % 23}` : names[index % 23]!,
});
const of = (_company: string, rows: readonly Row[]): Row[] => rows.map(row => ({ ...row, _company }));

const invoices = each(120, index => ({
  doc_id: `D${index}`,
  ...vendor(index),
  document_number: `INV-${index}`,
  document_date: index % 17 === 16 ? null : `${monthBefore(index % 30)}-${two((index % 14) + 1)}`,
  due_date: index % 5 === 4 ? null : `2026-${two((index % 6) + 1)}-15`,
  total_amount: index % 19 === 18 ? null : `${(index * 7919) % 90_000}.${two(index % 100)}5`,
  hold_reason: index % 11 === 3 ? "<em>wrong</em> price" : null,
  payment_status: statuses[index % 4]!,
  settlement_state: index % 2 === 0 ? "open" : null,
  matched_po_number: index % 3 === 0 ? `PO-${index % 40}` : null,
  linked_invoice_doc_id: index % 3 === 0 ? "D1" : null,
  doc_type: index % 29 === 28 ? "Credit memo" : "Invoice",
}));
const lines = each(160, index => ({
  doc_id: `D${index % 80}`,
  _index: Math.floor(index / 80),
  buyer_part_number: `B-${index % 9}`,
  description: names[index % 7] ?? null,
  uom: "PCS",
  po_qty: "10",
  received_qty: index % 4 === 0 ? "8" : "10",
  invoice_qty: "10",
  po_unit_price: "2.5",
  invoice_unit_price: `2.${5 + (index % 4)}`,
  line_total: "25",
}));
const orders = each(40, index => ({
  po_number: `PO-${index}`,
  ...vendor(index),
  is_open: index % 3 !== 2,
  po_date: `${monthBefore(1 + (index % 12))}-05`,
  next_expected_date: index % 7 === 6 ? null : `2026-${two(1 + (index % 4))}-${two(1 + (index % 28))}`,
  delivery_site_name: index % 2 === 0 ? "Dock <4>" : null,
  total_amount: `${1_000 + index}.5`,
  list_currency_code: currencies[index % 4]!,
}));
const orderLines = each(60, index => ({
  po_number: `PO-${index % 40}`,
  _index: Math.floor(index / 40),
  on_time: index % 5 === 0 ? null : index % 3 !== 0,
  in_full: index % 4 !== 0,
  qty_ordered: "10",
  qty_received: index % 2 === 0 ? "10" : "4",
  qty_invoiced: index % 3 === 0 ? null : "1.5",
  unit_price: "12.25",
  expected_date: "2026-02-01",
  actual_date: `2026-02-${two(1 + (index % 20))}`,
}));
const findings = each(60, index => ({
  finding_item_id: `F${index}`,
  kind: "finding",
  amount_declared: true,
  ...vendor(index),
  title: index % 9 === 8 ? hostile.markup : `Finding ${index}`,
  category: ["billing", "contracts", null, "payments"][index % 4]!,
  created_at: index % 10 === 9 ? null : `${monthBefore(index % 26)}-${two((index % 14) + 1)}T10:00:00Z`,
  surfaceable_savings_usd: index % 6 === 5 ? null : `${index * 137}.25`,
  resolved_by: index % 3 === 0 ? "somebody" : null,
}));
const items = each(16, index => ({
  item_id: `I${index}`,
  description: names[index % 7] ?? `Item ${index}`,
  uom: "PCS",
  currency_code: currencies[index % 4]!,
}));
const history = each(16, item =>
  each(10, index => ({
    item_id: `I${item}`,
    _index: index,
    date: `${monthBefore(index + 1)}-10`,
    avg_price: `${(2 + item + ((item * (index + 3)) % 7) / 4).toFixed(4)}`,
    transaction_count: index + 1,
    currency_code: currencies[item % 4]!,
  })),
).flat();
const contracts = each(5, index => ({
  contract_id: `C${index}`,
  contract_number: index === 2 ? null : `K-${index}`,
  ...vendor(index),
  effective_date: "2025-06-01",
  expiration_date: "2026-12-31",
  total_value_limit: "1000",
  cumulative_spend: `${index * 300}`,
}));

/** Two companies, three currencies and one that nobody knows; the second company has little. */
export const reportRows: Readonly<Record<string, readonly Row[]>> = {
  invoices: [...invoices, ...of("beta & <sons>", invoices.slice(0, 9))],
  ingested: [
    ...each(120, index => inFeed(`D${index}`, currencies[index % 4] ?? "")),
    ...each(9, index => inFeed(`D${index}`, "CHF", { _company: "beta & <sons>" })),
  ].filter(row => row["currency_code"] !== ""),
  invoice_matches: [],
  invoice_line_items: lines,
  purchase_orders: [...orders, ...of("beta & <sons>", orders.slice(0, 3))],
  purchase_order_details: [],
  purchase_order_line_items: orderLines,
  findings: [...findings, ...of("beta & <sons>", findings.slice(0, 4))],
  items,
  item_price_history: history,
  contracts,
};

export const companies = ["acme", "beta & <sons>"] as const;
