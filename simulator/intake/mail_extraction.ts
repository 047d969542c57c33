import type { Company } from "../company/company.ts";
import { orderKey } from "../company/orders.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWS } from "./draws.ts";
import type { MailFacts } from "./mails.ts";

/** What was read out of a message's text. */
export function extractedFrom(company: Company, facts: MailFacts): Row {
  const v = new Values(hash(company.seed, DRAWS.mailDetail, facts.number, 99));
  const says = (text: string): string | null => (v.chance(0.4) ? v.maybe(text) : null);
  const issue = (text: string): unknown => v.pick<unknown>([null, text, { text, severity: "low" }]);
  return {
    summary: facts.revision > 0 ? `Read again (${facts.revision})` : v.maybe("Die Lieferung kommt später 🚚"),
    tracking_numbers: v.maybe(v.pick([["1Z999"], []])),
    total_amount: v.money(facts.value % 5_000_000),
    amounts_mentioned: v.pick<Row[]>([[], [{ amount: "12,50", currency: facts.vendor.currency }]]),
    attachments_mentioned: v.pick<Row[]>([[], [{ name: "Zeichnung.pdf" }]]),
    response_needed: v.maybe(v.chance(0.5)),
    delivery_update: says("one week later"),
    quantity_update: says("80 statt 100"),
    vendor_questions: v.pick([[], ["Welche Revision gilt?"]]),
    response_deadline: v.chance(0.5) ? v.pick(["2026-03-01", "end of week", "asap"]) : null,
    price_update: says("+3,5 % from 1 Jan"),
    order_status: says("in production"),
    line_item_updates: v.pick<Row[]>([[], [{ line: 10, change: "quantity" }]]),
    quality_issue: issue("Kratzer an 3 Teilen"),
    return_rma: issue("RMA 4711"),
    decision_required: issue("Accept the new price?"),
    insights: says("Vendor is short of steel"),
    lead_time_change: says("6 → 8 weeks"),
    payment_info: says("IBAN unverändert"),
    payment_terms: says("net 30"),
    ship_to_change: says("Werk Süd"),
    shipping_documents: says("CMR attached"),
    customs_info: says("HTS 7318.15"),
    lot_batch_numbers: v.maybe(v.pick([["L-77", "L-78"], []])),
    certifications: v.maybe(v.pick([["ISO 9001"], []])),
    order_links: facts.order === null ? [] : [{ po_number: orderKey(facts.order.number) }],
    portal_reference_without_link: v.maybe(v.chance(0.1)),
    key_contacts: [{ name: facts.vendor.contact }],
    extras: v.pick<Row>([{}, { incoterm: "DAP" }]),
  };
}
