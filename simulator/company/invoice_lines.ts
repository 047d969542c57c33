import { DAY_MS, dayText } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { hash } from "../random.ts";
import { Values } from "../values.ts";
import { type Company, PURPOSE } from "./company.ts";
import { type InvoiceFacts, invoiceAmounts, invoiceFacts, invoiceKey, invoiceLine, invoiceRow } from "./invoices.ts";
import { itemFacts, manufacturerPart } from "./items.ts";
import { orderCents, orderDocument, orderKey } from "./orders.ts";

/** How one invoice was matched: its lines beside the order's, the chain of documents, hints from mails. */
export function invoiceMatch(company: Company, entry: Entry): Record<string, unknown> {
  const facts = invoiceFacts(company, entry);
  const v = new Values(hash(company.seed, PURPOSE.invoiceDetail, facts.number));
  const row = invoiceRow(company, entry);
  const matched = facts.status === "matched";
  return {
    line_items: Array.from({ length: facts.lines }, (_, i) => line(company, facts, v, i)),
    po_qty_label: facts.order?.state === "closed" ? "Ordered" : "Open on order",
    match_status: row["match_status"],
    match_verdict: v.maybe(matched ? "approve" : "review"),
    match_confidence: v.decimal(5000 + (facts.value % 5001), 4),
    payability: v.maybe({ payable: matched, blockers: matched ? [] : ["price"] }),
    five_way_match: v.maybe({ order: facts.order !== null, confirmation: true, receipt: matched, invoice: true }),
    order_coverage: facts.order === null ? null : v.maybe({ lines: facts.lines, covered: facts.lines }),
    match_reasons: v.chance(0.1) ? null : [{ code: matched ? "all_lines_match" : facts.status, weight: 0.75 }],
    procurement_chain: chain(company, facts, v),
    chain_order_ref: facts.order === null ? null : v.maybe({ po_number: orderKey(facts.order.number) }),
    order_confirmations: facts.order === null ? null : v.maybe({ count: 1, last: dayText(facts.order.day + 2) }),
    communication_hints: Array.from({ length: facts.value % 3 }, (_, i) => hint(facts, v, i)),
    money_documents: moneyDocuments(company, facts, v),
    counterparty_position: v.maybe({ balance: 0, vendor_id: facts.vendor.id }),
  };
}

function line(company: Company, facts: InvoiceFacts, v: Values, index: number): Record<string, unknown> {
  const billed = invoiceLine(company, facts, index);
  const item = itemFacts(company, billed.item);
  const { ordered } = billed;
  const received = ordered === null ? null : Math.round((ordered.quantity * (facts.order?.received ?? 0)) / 100);
  const coded = v.chance(0.7);
  const id = facts.number * 1000 + index;
  const expected = v.chance(0.6) ? (ordered?.price ?? null) : null;
  const off = expected === null ? 0 : Math.round(((billed.price - expected) * 10_000) / expected);
  return {
    id: v.count(id),
    line_id: v.count(id),
    line_no: v.count(index + 1),
    description: v.maybe(item.description),
    buyer_part_number: v.maybe(`B-${billed.item}`),
    vendor_part_number: v.maybe(`${facts.vendor.id}-${item.value % 10000}`),
    manufacturer_part_number: v.maybe(manufacturerPart(item.value)),
    uom: v.maybe(item.uom),
    po_qty: v.decimal(ordered?.quantity ?? null, 3),
    invoice_qty: index === 0 && facts.revision > 0 ? billed.quantity / 1000 : v.decimal(billed.quantity, 3),
    received_qty: v.decimal(received, 3),
    po_unit_price: v.decimal(ordered?.price ?? null, 4),
    invoice_unit_price: v.decimal(billed.price, 4),
    line_total: v.money(billed.cents),
    status: v.maybe(ordered === null ? "unmatched" : ordered.price === billed.price ? "matched" : "price_mismatch"),
    gl_account_code: coded ? v.maybe(`6${item.value % 1000}`) : null,
    gl_cost_center: coded ? v.maybe(`CC-${item.value % 40}`) : null,
    gl_confidence: coded ? v.decimal(item.value % 101, 2) : null,
    gl_coded_by: coded ? v.maybe(v.pick(["model", "Zoë Čapková"])) : null,
    gl_coded_at: coded ? v.maybe(v.moment(facts.uploadedAt + 3_600_000 + v.below(DAY_MS))) : null,
    expected_price: v.decimal(expected, 4),
    expected_price_source: expected === null ? null : v.maybe("purchase_order"),
    expected_price_effective_date: expected === null ? null : v.date(facts.order?.day ?? facts.day),
    expected_price_currency: expected === null ? null : v.maybe(facts.vendor.currency),
    price_vs_expected_pct: expected === null ? null : v.decimal(off, 2),
  };
}

function chain(company: Company, facts: InvoiceFacts, v: Values): Record<string, unknown>[] {
  const { order } = facts;
  const stages: Record<string, unknown>[] = [];
  const add = (
    stage: string,
    doc: string | null,
    day: number | null,
    cents: number | null,
    source: string | null,
  ): void => {
    stages.push({
      stage: v.maybe(stage),
      doc_type: v.maybe(stage),
      doc_id: doc,
      document_number: v.maybe(doc),
      document_date: v.date(day),
      total_amount: v.money(cents),
      vendor_name: v.maybe(facts.vendor.name),
      receipt_source: source,
      line_count: v.count(facts.lines),
    });
  };
  if (order !== null) {
    add("purchase_order", orderDocument(order.number), order.day, orderCents(company, order), null);
    if (order.received > 0) add("goods_receipt", null, order.deliveredDay, null, v.maybe("packing_slip"));
  }
  add("invoice", invoiceKey(facts.number), facts.day, invoiceAmounts(company, facts).total, null);
  return stages;
}

function hint(facts: InvoiceFacts, v: Values, index: number): Record<string, unknown> {
  return {
    id: v.maybe(`EML-${facts.number}-${index}`),
    types: v.pick([["price_change"], ["delivery_update", "quantity_change"], []]),
    date: v.maybe(v.moment(facts.uploadedAt - (index + 1) * DAY_MS)),
    subject: v.maybe(`Re: Rechnung ${facts.number}, "Preisanpassung"`),
    sender: v.maybe(facts.vendor.contact),
    price_update: v.pick([null, { from: "10.00", to: 10.5 }, "up 5 %"]),
    quantity_update: v.pick([null, { line: 1, quantity: 20 }, 12]),
    line_item_updates: v.pick([null, [], [{ line: 1, note: "backorder" }]]),
  };
}

function moneyDocuments(company: Company, facts: InvoiceFacts, v: Values): Record<string, unknown>[] {
  if (facts.value % 4 !== 0) return [];
  const { total, discount } = invoiceAmounts(company, facts);
  return [
    { kind: "payment", cents: total },
    { kind: "credit_memo", cents: -discount },
  ].map(({ kind, cents }, i) => ({
    doc_id: v.maybe(`DOC-M${facts.number}-${i + 1}`),
    doc_type: v.maybe(kind),
    document_number: v.maybe(`${kind === "payment" ? "ZA" : "GS"}-${facts.number}`),
    relationship: v.maybe(kind === "payment" ? "pays" : "reduces"),
    total_amount: v.money(cents),
  }));
}
