import { DAY_MS } from "../calendar.ts";
import type { Collection, Entry } from "../collection.ts";
import { hash } from "../random.ts";
import { Values } from "../values.ts";
import { type Company, PURPOSE, vendorFor } from "./company.ts";
import { invoiceFacts, invoiceKey } from "./invoices.ts";
import { orderFacts, orderKey } from "./orders.ts";
import { invoicesOfOrder, orderOfFinding } from "./relations.ts";
import type { Vendor } from "./vendors.ts";

/** The buyer-facing categories in the order of the grouped list, with their share of the findings in percent. */
export const CATEGORIES = [
  { name: "billing", label: "Billing", share: 35, types: ["price_variance", "duplicate_invoice", "tax_mismatch"] },
  { name: "contracts", label: "Contracts", share: 15, types: ["off_contract_price", "nte_exceeded"] },
  { name: "payments", label: "Payments", share: 15, types: ["missed_discount", "early_payment"] },
  { name: "receiving", label: "Receiving", share: 18, types: ["short_receipt", "late_delivery"] },
  { name: "documents", label: "Documents", share: 13, types: ["missing_confirmation", "unreadable_page"] },
  { name: null, label: null, share: 4, types: ["unclassified"] },
] as const;

export type Category = (typeof CATEGORIES)[number];

const TOP_CENTS = 25_000_000;
/** Of each category's findings, the last part has no declared amount. */
const DECLARED = 0.8;
const STATUSES = ["open", "in_review", "open", "resolved", "open", "dismissed"] as const;

/** Whether a finding counts as resolved; one without a status counts as open. */
export function isClosed(status: string | null): boolean {
  return status === "resolved" || status === "dismissed";
}

/** What a finding is, apart from how its row is written. */
export interface FindingFacts {
  readonly number: number;
  readonly value: number;
  readonly category: Category;
  /** Cents; null where no amount is declared. Falls strictly along the list within a category. */
  readonly cents: number | null;
  readonly status: string | null;
  readonly waitingOn: "you" | "vendor" | null;
  readonly vendor: Vendor;
  readonly order: string | null;
  readonly document: string | null;
  readonly createdAt: number;
}

export function findingKey(number: number): string {
  return `FND-${number}`;
}

export function findingNumber(key: string): number {
  return /^FND-[1-9]\d{0,14}$/.test(key) ? Number(key.slice(4)) : Number.NaN;
}

/** The finding_id of a row of the list, which that row shows now and then as null. */
export function findingIdOf(company: Company, number: number): string {
  return `fid-${hash(company.seed, PURPOSE.findingFacts, number).toString(16)}`;
}

function blockOf(size: number, rank: number): { category: Category; share: number } {
  let before = 0;
  for (const category of CATEGORIES) {
    const start = Math.floor((size * before) / 100);
    const end = Math.floor((size * (before + category.share)) / 100);
    if (rank < end) return { category, share: (rank - start) / Math.max(1, end - start) };
    before += category.share;
  }
  return { category: CATEGORIES[5], share: 1 };
}

/** Ranks for new findings: anywhere between two base rows, where their amount puts them. */
export function findingRanks(company: Company, count: number, collection: Collection): number[] {
  const { size } = collection;
  return Array.from({ length: count }, (_, i) => {
    const nth = collection.insertions + i + 1;
    if (size === 0) return nth;
    return (hash(company.seed, PURPOSE.findingList, nth) % size) + 0.95 + 0.05 * (1 - 1 / (nth + 1));
  });
}

export function findingFacts(company: Company, entry: Entry): FindingFacts {
  const { number, revision, rank } = entry;
  const fresh = entry.insertedAt !== undefined;
  const value = hash(company.seed, PURPOSE.findingFacts, number);
  const { category, share } = blockOf(company.sizes.findings, rank);
  const order = company.sizes.orders === 0 || fresh ? null : orderOfFinding(company, number);
  const orderEntry = order === null ? null : { number: order, revision: 0, insertedAt: undefined };
  const facts = orderEntry === null ? null : orderFacts(company, orderEntry);
  const invoices = order === null ? null : invoicesOfOrder(company, order);
  const cited = invoices !== null && invoices.length > 0 && value % 4 !== 0 ? invoices.last : null;
  const status = value % 29 === 7 ? null : (STATUSES[(value + revision) % STATUSES.length] ?? "open");
  const depth = Math.max(1, Math.min(400, company.anchorDay - (facts?.day ?? company.anchorDay - 400))) * DAY_MS;
  const recent = (hash(company.seed, PURPOSE.findingFacts, number, 1) / 4294967296) ** 2;
  return {
    number,
    value,
    category,
    cents: share < DECLARED ? amountAt(share, company.sizes.findings, fresh ? 0 : value) : null,
    status,
    waitingOn: value % 5 === 0 ? null : value % 3 === 0 ? "vendor" : "you",
    vendor: facts?.vendor ?? vendorFor(company, value >>> 4),
    order: order === null ? null : orderKey(order),
    document: cited === null ? null : documentOf(company, cited),
    createdAt: entry.insertedAt ?? Math.floor(company.anchorDay * DAY_MS - recent * depth) - 1000,
  };
}

function documentOf(company: Company, number: number): string | null {
  const facts = invoiceFacts(company, { number, revision: 0, insertedAt: undefined });
  return facts.order === null ? null : invoiceKey(number);
}

/** Money along a category falls as a parabola; the jitter stays inside a row's own step, so the order holds. */
function amountAt(share: number, size: number, value: number): number {
  const place = share + (((value >>> 8) % 900) / 1000) * (1 / (size + 1));
  const rest = Math.max(0, 1 - place / (DECLARED + 0.01));
  return Math.round(TOP_CENTS * rest * rest);
}

/** One row of the findings list, all documented fields present. */
export function findingRow(company: Company, entry: Entry): Record<string, unknown> {
  const facts = findingFacts(company, entry);
  const { number, value, category, cents, vendor } = facts;
  const { revision } = entry;
  const v = new Values(hash(company.seed, PURPOSE.findingRow, number));
  const closed = isClosed(facts.status);
  const type = category.types[value % category.types.length] ?? "unclassified";
  const currency = company.currency ?? "USD";
  const resolved = v.chance(0.9);
  const summary = v.maybe(`${type}: "${vendor.name}" – order ${facts.order ?? "unknown"},\nsee the document`);
  return {
    item_id: findingKey(number),
    kind: value % 9 === 0 ? "situation" : "finding",
    waiting_on: facts.waitingOn,
    target: v.maybe({ type: facts.document === null ? "order" : "document", id: facts.document ?? facts.order }),
    finding_id: v.maybe(findingIdOf(company, number)),
    finding_type: v.maybe(type),
    category: category.name,
    severity: v.maybe(["critical", "high", "medium", "low"][value % 4] ?? null),
    title: v.maybe(`${type.replaceAll("_", " ")} at ${vendor.name} ⚠️`),
    summary: revision > 0 ? `Looked at again (${revision}): ${type}` : summary,
    status: facts.status,
    verification_status: v.maybe(v.pick(["verified", "unverified"])),
    resolution_notes: closed ? v.maybe("Gutschrift erhalten, erledigt") : null,
    dismiss_reason: facts.status === "dismissed" ? v.maybe("not material") : null,
    resolved_by: closed ? v.maybe(v.pick(["ana@buyer.example", "system"])) : null,
    surfaceable_savings_usd: v.money(cents),
    source_document_date: v.date(Math.floor(facts.createdAt / DAY_MS) - (value % 20)),
    next_step: v.maybe(v.pick(["Ask for a credit memo", "Confirm the receipt", "Prüfen & freigeben"])),
    metric_backing: v.maybe({ rows: 1 + (value % 4), basis: "document" }),
    vendor_id: resolved ? vendor.id : null,
    vendor_name: v.maybe(vendor.name),
    vendor_website: resolved ? v.maybe(vendor.website) : null,
    document_label: v.maybe(facts.document === null ? null : `Invoice ${facts.document}`),
    document_label_kind: v.maybe("invoice_number"),
    document_type: v.maybe(facts.document === null ? "purchase_order" : "invoice"),
    additional_source_count: v.count(value % 4),
    doc_id: facts.document,
    recurrence_count: v.count(1 + (value % 5) + revision),
    created_at: v.maybe(v.moment(facts.createdAt)),
    po_number: v.maybe(facts.order),
    source_fact_id: v.maybe(`fact-${value % 100_000}`),
    source_comm_id: value % 3 === 0 ? v.maybe(`EML-${value % 1000}`) : null,
    claim: v.maybe({ stated: type, expected: cents === null ? null : cents / 100 }),
    amount: cents === null ? null : { value: cents / 100, currency_code: currency },
    amount_declared: cents !== null,
  };
}
