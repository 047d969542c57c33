import { DAY_MS, dayOf } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { hash } from "../random.ts";
import { Values } from "../values.ts";
import { type Company, PURPOSE, vendorFor } from "./company.ts";
import { feedTime, rowOfInvoice } from "./feed.ts";
import { itemPrice } from "./items.ts";
import { type OrderFacts, orderFacts, orderKey, orderLine } from "./orders.ts";
import { invoicesOfOrder, orderOfInvoice } from "./relations.ts";
import type { Vendor } from "./vendors.ts";

export type MatchStatus = "matched" | "discrepancy" | "no_po" | "awaiting_po";

/** What an invoice is, apart from how its row and its lines are written. Days count from 1970, money in cents. */
export interface InvoiceFacts {
  readonly number: number;
  readonly revision: number;
  readonly value: number;
  readonly order: OrderFacts | null;
  readonly vendor: Vendor;
  readonly day: number;
  readonly uploadedAt: number;
  readonly status: MatchStatus;
  readonly lines: number;
}

/** One billed line beside what was ordered: quantities in thousandths, prices in ten-thousandths, amount in cents. */
export interface InvoiceLine {
  readonly item: number;
  readonly quantity: number;
  readonly price: number;
  readonly cents: number;
  readonly ordered: { readonly quantity: number; readonly price: number } | null;
}

/** Invoices that take something back. */
export const isCredit = (value: number): boolean => value % 23 === 0;

const APPROVALS = ["actionable_review", "pending_approval", "blocked", "approved", "hold", "rejected"] as const;
const HOLDS = ["Price differs from order", "Receipt missing", "Doppelt eingereicht?"];

export function invoiceKey(number: number): string {
  return `DOC-${number}`;
}

export function invoiceNumber(key: string): number {
  return /^DOC-[1-9]\d{0,14}$/.test(key) ? Number(key.slice(4)) : Number.NaN;
}

export function invoiceFacts(company: Company, entry: Pick<Entry, "number" | "revision" | "insertedAt">): InvoiceFacts {
  const { number, revision } = entry;
  const fresh = entry.insertedAt !== undefined;
  const value = hash(company.seed, PURPOSE.invoiceFacts, number);
  const kind = value % 10;
  const unmatched = fresh || kind < 2 || company.sizes.orders === 0;
  const order = unmatched ? null : baseOrder(company, orderOfInvoice(company, number));
  const uploadedAt = entry.insertedAt ?? arrival(company, number);
  return {
    number,
    revision,
    value,
    order,
    vendor: order?.vendor ?? vendorFor(company, value >>> 4),
    day: dayOf(uploadedAt) - ((value >>> 9) % 6),
    uploadedAt,
    status: order === null ? (kind % 2 === 0 ? "no_po" : "awaiting_po") : kind < 4 ? "discrepancy" : "matched",
    lines: order?.lines ?? company.linesPerOrder ?? 1 + ((value >>> 13) % 3),
  };
}

function baseOrder(company: Company, number: number): OrderFacts {
  return orderFacts(company, { number, revision: 0, insertedAt: undefined });
}

function arrival(company: Company, invoice: number): number {
  const row = rowOfInvoice(company, invoice);
  if (row !== undefined) return feedTime(company, row);
  const { invoices } = company.sizes;
  const age = ((invoices - invoice) * company.historyDays * DAY_MS) / Math.max(1, invoices);
  return Math.floor(company.anchorDay * DAY_MS - age) - 60_000;
}

const signOf = (company: Company, { value }: InvoiceFacts): 1 | -1 =>
  company.vocabulary.linksInvoices && isCredit(value) ? -1 : 1;

/** The invoice that another one names: a credit its forerunner, or each the next one of its order, at last itself. */
function linkedInvoice(company: Company, { number, value, order }: InvoiceFacts): number | null {
  if (!company.vocabulary.linksInvoices) return isCredit(value) && number > 1 ? number - 1 : null;
  if (value % 1000 === 0) return null;
  if (order === null) return value % 3 === 0 ? number : Math.max(1, number - 1);
  const { first, last } = invoicesOfOrder(company, order.number);
  return number < last ? number + 1 : first;
}

/** The line at `index` (0-based): the order's share of this invoice, off by some percent where they disagree. */
export function invoiceLine(company: Company, facts: InvoiceFacts, index: number): InvoiceLine {
  const value = hash(company.seed, PURPOSE.invoiceFacts, facts.number, index + 1);
  const more = index === 0 ? facts.revision : 0;
  const sign = signOf(company, facts);
  if (facts.order === null) {
    const item = 1 + (value % Math.max(1, company.sizes.items));
    const quantity = sign * (1 + ((value >>> 16) % 40) + more) * 1000;
    const price = itemPrice(company, item);
    return { item, quantity, price, cents: Math.round((quantity * price) / 100_000), ordered: null };
  }
  const line = orderLine(company, facts.order, index);
  const parts = Math.max(1, invoicesOfOrder(company, facts.order.number).length);
  const quantity = sign * (Math.max(1000, Math.floor(line.quantity / parts / 1000) * 1000) + more * 1000);
  const off = facts.status === "discrepancy" && (index === 0 || value % 3 === 0) ? 3 + (value % 15) : 0;
  const price = Math.round((line.price * (100 + off)) / 100);
  return {
    item: line.item,
    quantity,
    price,
    cents: Math.round((quantity * price) / 100_000),
    ordered: { quantity: line.quantity, price: line.price },
  };
}

/** Sum of the lines, tax, freight and discount, all in cents; total = subtotal + tax + shipping - discount. */
export function invoiceAmounts(company: Company, facts: InvoiceFacts) {
  let subtotal = 0;
  for (let i = 0; i < facts.lines; i += 1) subtotal += invoiceLine(company, facts, i).cents;
  const rate = [0, 700, 1900, 825][facts.value % 4] ?? 0;
  const tax = Math.round((subtotal * rate) / 10_000);
  const shipping = facts.value % 3 === 0 ? signOf(company, facts) * (1500 + (facts.value % 9000)) : 0;
  const discount = facts.value % 7 === 0 ? Math.round(subtotal * 0.02) : 0;
  return { subtotal, rate, tax, shipping, discount, total: subtotal + tax + shipping - discount };
}

/** One row of the invoice list, all documented fields present. */
export function invoiceRow(company: Company, entry: Entry): Record<string, unknown> {
  const facts = invoiceFacts(company, entry);
  const { value, vendor, order, status, revision } = facts;
  const v = new Values(hash(company.seed, PURPOSE.invoiceRow, facts.number));
  const sums = invoiceAmounts(company, facts);
  const today = company.today();
  const netDays = [14, 30, 45, 60][(value >>> 7) % 4] ?? 30;
  const due = facts.day + netDays;
  const paid = due < company.anchorDay - 10;
  const discounted = sums.discount > 0;
  const deadline = facts.day + 10;
  const resolved = v.chance(0.92);
  const state = paid ? "approved" : (APPROVALS[(value + revision) % APPROVALS.length] ?? "approved");
  const anomalies = status === "matched" ? 0 : 1 + (value % 3);
  const key = order === null ? null : orderKey(order.number);
  const total = v.money(sums.total);
  const credit = isCredit(value);
  const linked = linkedInvoice(company, facts);
  const isNamed = credit && !(company.vocabulary.linksInvoices && value % 2 === 0);
  return {
    doc_id: invoiceKey(facts.number),
    file_name: v.maybe(`Rechnung ${facts.number} – ${vendor.domain}.pdf`),
    doc_type: v.maybe(isNamed ? "credit_memo" : "invoice"),
    vendor_id: resolved ? vendor.id : null,
    vendor_name: v.maybe(vendor.name),
    vendor_resolved: v.maybe(resolved),
    vendor_name_raw: v.maybe(vendor.name.toUpperCase()),
    vendor_website: v.maybe(vendor.website),
    document_number: v.maybe(`RE-${facts.number}/${value % 100}`),
    total_amount: revision > 0 ? sums.total / 100 : total,
    subtotal: v.money(sums.subtotal),
    tax_amount: v.money(sums.tax),
    tax_rate: v.decimal(sums.rate, 2),
    shipping_amount: v.money(sums.shipping),
    discount_amount: v.money(sums.discount),
    discount_percent: v.decimal(discounted ? 200 : 0, 2),
    discount_deadline: discounted ? v.date(deadline) : null,
    discount_days_left: discounted ? v.count(Math.max(0, deadline - today)) : null,
    discount_capturable_amount: discounted ? v.money(sums.discount) : null,
    discount_status: discounted ? v.maybe(paid ? "captured" : "available") : null,
    document_date: v.date(facts.day),
    uploaded_at: v.maybe(v.moment(facts.uploadedAt)),
    due_date: v.date(due),
    due_in_days: v.count(due - today),
    pay_urgency: v.decimal(Math.max(0, 1000 - Math.max(0, due - today) * 10), 3),
    net_days: v.count(netDays),
    net_days_basis: v.maybe("invoice_date"),
    terms_anchor_date: v.date(facts.day),
    payment_terms: v.maybe(discounted ? `2/10 net ${netDays}` : `Net ${netDays}`),
    final_status: v.maybe(state),
    match:
      status === "matched"
        ? { verdict: "match", lines: facts.lines }
        : v.maybe({ verdict: status, tolerance_pct: 2.5 }),
    match_status: v.maybe(status),
    payability: v.pick<unknown>([{ payable: paid, reasons: [] }, "payable", true, null]),
    matched_po_number: key,
    buyer_po_number:
      key === null ? (status === "awaiting_po" ? `4500${value % 100000}` : null) : v.maybe(key.toLowerCase()),
    anomaly_count: v.count(anomalies),
    critical_anomaly_count: v.count(anomalies > 2 ? 1 : 0),
    high_anomaly_count: v.count(anomalies > 1 ? 1 : 0),
    open_findings_count: v.count(anomalies),
    payment_status: v.maybe(paid ? "paid" : "unpaid"),
    settlement_state: v.maybe(paid ? "settled" : "open"),
    current_status: revision > 0 ? `${state} (${revision})` : v.maybe(state),
    risk_score: v.decimal(value % 10001, 4),
    sanctions_status: v.maybe("clear"),
    baseline_total: order === null ? null : v.money(sums.subtotal),
    previously_invoiced: order === null ? null : v.money(0),
    hold_reason: state === "hold" ? v.maybe(HOLDS[value % HOLDS.length] ?? null) : null,
    failed_checks: anomalies === 0 ? [] : [{ check: "price", lines: [1] }, "receipt"].slice(0, anomalies),
    related_documents: key === null ? null : [{ doc_id: `DOC-P${order?.number}`, relation: "order" }],
    five_way_match: v.maybe({ order: key !== null, receipt: status === "matched" }),
    credits: credit ? [{ amount: sums.discount / 100 }] : [],
    linked_invoice_doc_id: linked === null ? null : invoiceKey(linked),
    linked_invoice_number: linked === null ? null : `RE-${linked}`,
    credit_memo_match_method: credit ? v.maybe("document_number") : linked === null ? null : "document_number",
  };
}
