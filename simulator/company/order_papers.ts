import { DAY_MS } from "../calendar.ts";
import type { Values } from "../values.ts";
import type { Company } from "./company.ts";
import { invoiceAmounts, invoiceFacts, invoiceKey } from "./invoices.ts";
import { type OrderFacts, orderCents, orderDocument, orderKey, orderLine } from "./orders.ts";
import { invoicesOfOrder } from "./relations.ts";

export const CARRIERS = ["DHL Freight", "UPS", "Kühne + Nagel", "Old Dominion", "佐川急便"];
/** An order names so many of its invoices at most, so that one order's answer stays small whatever the sizes. */
const INVOICES = 20;

/** Receipts (R), bills of lading (B) and proofs of delivery (D) of an order. */
export function documentId(facts: OrderFacts, kind: "R" | "B" | "D"): string {
  return `DOC-${kind}${facts.number}`;
}

export function trackingNumber(facts: OrderFacts): string {
  return `1Z${String(facts.value).padStart(10, "0")}`;
}

/** The order itself, its receipt, and the invoices written for it. */
export function linkedDocuments(company: Company, facts: OrderFacts, v: Values): Record<string, unknown>[] {
  const documents = [
    document(facts, v, orderDocument(facts.number), "purchase_order", facts.day, orderCents(company, facts)),
  ];
  if (facts.received > 0) {
    documents.push(
      document(facts, v, documentId(facts, "R"), "goods_receipt", facts.deliveredDay ?? facts.promisedDay, null),
    );
  }
  if (facts.fresh) return documents;
  const { first, last } = invoicesOfOrder(company, facts.number);
  for (let number = last; number >= first && number > last - INVOICES; number -= 1) {
    const invoice = invoiceFacts(company, { number, revision: 0, insertedAt: undefined });
    if (invoice.order === null) continue;
    const { total } = invoiceAmounts(company, invoice);
    documents.push(document(facts, v, invoiceKey(number), "invoice", invoice.day, total));
  }
  return documents;
}

function document(
  facts: OrderFacts,
  v: Values,
  id: string,
  type: string,
  day: number,
  cents: number | null,
): Record<string, unknown> {
  const mailed = v.chance(0.5);
  return {
    doc_id: id,
    doc_type: v.maybe(type),
    document_number: v.maybe(type === "purchase_order" ? orderKey(facts.number) : id.slice(4)),
    document_date: v.date(day),
    total_amount: v.money(cents),
    file_name: v.maybe(`${type} „${facts.number}“.pdf`),
    processing_status: v.maybe(v.pick(["processed", "processed", "review"])),
    requested_delivery_date: type === "purchase_order" ? v.date(facts.requestedDay) : null,
    email_ingest_id: mailed ? v.maybe(`EML-${facts.number}-1`) : null,
    email_context: mailed ? v.maybe({ subject: `Order ${facts.number}`, direction: "inbound" }) : null,
  };
}

/** One parcel or truck for orders that were sent. */
export function shipmentTracking(facts: OrderFacts, v: Values): Record<string, unknown>[] {
  if (facts.received === 0 && facts.state !== "in_transit") return [];
  return Array.from({ length: 1 + (facts.value % 2) }, (_, i) => ({
    tracking_number: v.maybe(i === 0 ? trackingNumber(facts) : `${trackingNumber(facts)}-${i + 1}`),
    carrier_name: v.maybe(CARRIERS[facts.value % CARRIERS.length] ?? null),
    status: v.maybe(facts.deliveredDay === null ? "in_transit" : "delivered"),
    ship_date: v.date(facts.promisedDay - 4),
    eta: v.date(facts.promisedDay),
    delivered_date: v.date(facts.deliveredDay),
  }));
}

/** The mails that tell the order's story; a change of the order adds one. */
export function narrativeComms(facts: OrderFacts, v: Values): Record<string, unknown>[] {
  const count = Math.min(12, (facts.value % 4) + facts.revision);
  return Array.from({ length: count }, (_, i) => {
    const filed = (facts.value >>> i) % 8 === 0;
    return {
      id: `EML-${facts.number}-${i + 1}`,
      types: v.pick([["confirmation"], ["delivery_update", "price_change"], []]),
      date: v.maybe(v.moment((facts.day + i) * DAY_MS + (facts.value % DAY_MS))),
      subject: v.maybe(`Re: ${orderKey(facts.number)} – Liefertermin, "final"`),
      summary: v.maybe(`The vendor moves delivery by ${i + 1} days;\nLieferung kommt später 🚚`),
      sender: v.maybe(facts.vendor.contact),
      sender_email: v.maybe(`verkauf@${facts.vendor.domain}`),
      urgency: v.maybe(v.pick(["low", "normal", "high"])),
      provenance: i === 0 ? [{ fact_id: `fact-${facts.value % 100_000}`, confidence: 0.93 }] : [],
      filed,
      email_class: v.maybe(filed ? "auto_reply" : "vendor_message"),
      filed_reason: filed ? v.maybe("Automatic reply") : null,
      filed_summary: filed ? v.maybe("Abwesenheit") : null,
      email_ingest_id: v.maybe(`EML-${facts.number}-${i + 1}`),
    };
  });
}

/** Prices the vendor moved after the order was placed. */
export function priceMoves(company: Company, facts: OrderFacts, v: Values): Record<string, unknown>[] {
  if (facts.value % 3 !== 0) return [];
  return Array.from({ length: Math.min(2, facts.lines) }, (_, i) => {
    const { item, price } = orderLine(company, facts, i);
    const before = Math.round(price * 0.95);
    return {
      part_number: v.maybe(`B-${item}`),
      scope: v.maybe(v.pick(["line", "order"])),
      prior_price: v.maybe((before / 10_000).toFixed(4)),
      price: (price / 10_000).toFixed(4),
      currency: v.maybe(facts.vendor.currency),
      change_pct: v.maybe((((price - before) * 100) / before).toFixed(2)),
      effective_date: v.date(facts.day + 3),
      fact_id: v.maybe(`fact-${facts.value % 100_000}-${i}`),
      comm_id: v.maybe(`EML-${facts.number}-1`),
    };
  });
}
