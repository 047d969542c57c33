import { DAY_MS, dayOf } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import { orderKey } from "../company/orders.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWS } from "./draws.ts";
import { factId, factsOf } from "./mail_facts.ts";
import { type MailFacts, mailKey } from "./mails.ts";

export const STATES = ["open", "resolved", "snoozed"] as const;
const TYPES = [["delivery_update"], ["confirmation", "price_change"], ["question"], []];
const URGENCIES = ["low", "normal", "high", "urgent"] as const;
const TITLES = ["Vertriebsleiter", "Sales, EMEA", "購買担当", "Accounts receivable"] as const;
const USERS = ["j.doe", "Zoë Čapková", "einkauf@example.com"] as const;

/** Where a message stands; each change moves it on. */
export function stateOf(facts: MailFacts): (typeof STATES)[number] {
  return STATES[(facts.value + facts.revision) % STATES.length] ?? "open";
}

/** What a message is linked to: its order, its vendor. */
export function entityLinks(facts: MailFacts): Row[] {
  const v = new Values(hash(facts.value, DRAWS.mailRow, 1));
  const link = (type: string, reference: string): Row => ({
    type: v.maybe(type === "vendor" ? "sender" : "mentioned"),
    ref: v.maybe(reference),
    score: v.decimal(5000 + v.below(5001), 4),
    entity_type: v.maybe(type),
    entity_id: v.maybe(reference),
    reference_value: v.maybe(reference.toLowerCase()),
  });
  const links = facts.feed.filed ? [] : [link("vendor", facts.vendor.id)];
  return facts.order === null ? links : [link("purchase_order", orderKey(facts.order.number)), ...links];
}

/** Where the facts of a message were read. */
export function provenanceOf(company: Company, facts: MailFacts): Row[] {
  const v = new Values(hash(company.seed, DRAWS.mailRow, facts.number, 2));
  return Array.from({ length: factsOf(facts) }, (_, i) => {
    const from = v.below(400);
    return {
      fact_id: factId(facts.number, i),
      extraction_run_id: v.maybe(`run-${facts.value % 1000}`),
      document_id: v.maybe(facts.feed.id),
      evidence_quote: v.maybe(`„Lieferung in KW ${1 + v.below(52)}“`),
      confidence: v.decimal(v.below(10_001), 4),
      fact_fingerprint: v.maybe(hash(facts.value, DRAWS.mailFact, i).toString(16)),
      page_start: v.maybe(1),
      page_end: v.maybe(1 + v.below(2)),
      char_start: v.maybe(from),
      char_end: v.maybe(from + 20),
    };
  });
}

/** Who sent a message, with as much as its mail tells. */
export function senderOf(facts: MailFacts): Row {
  const v = new Values(hash(facts.value, DRAWS.mailRow, 3));
  return {
    email: v.maybe(`verkauf@${facts.vendor.domain}`),
    name: v.maybe(facts.vendor.contact),
    title: v.maybe(v.pick(TITLES)),
  };
}

/** The fields that the list and a message's own answer show alike. */
export function mailFields(company: Company, facts: MailFacts): Row {
  const { number, value, revision, vendor, order, feed, came } = facts;
  const v = new Values(hash(company.seed, DRAWS.mailRow, number));
  const state = stateOf(facts);
  const subject = came["subject"];
  return {
    id: facts.id,
    email_ingest_id: v.maybe(feed.id),
    communication_types: TYPES[value % TYPES.length] ?? [],
    action_required: !feed.filed && state === "open" && value % 3 !== 1,
    urgency: v.maybe(v.pick(URGENCIES)),
    communication_date: v.date(dayOf(feed.at)),
    subject,
    received_at: came["ts"],
    cc_recipients: value % 5 === 0 ? ["einkauf@example.com", { email: "ap@example.com", name: 'A "P"' }] : [],
    linked_po: order === null ? null : orderKey(order.number),
    linked_vendor_name: feed.filed ? null : v.maybe(vendor.name),
    primary_match_score: order === null ? null : v.decimal(value % 10_001, 4),
    body_text: v.maybe(`${String(came["body_preview"] ?? "")}\nMit freundlichen Grüßen\n${vendor.contact}`),
    email_direction: came["email_direction"],
    sender_domain: v.maybe(vendor.domain),
    subject_normalized: typeof subject === "string" ? v.maybe(subject.replace(/^(AW|Re): ?/i, "").toLowerCase()) : null,
    in_reply_to: value % 5 === 1 && number > 1 ? v.maybe(mailKey(number - 1)) : null,
    has_documents: facts.attachment !== null,
    status: v.maybe(state),
    snoozed_until: state === "snoozed" ? v.maybe(v.moment(feed.at + (3 + (value % 30)) * DAY_MS)) : null,
    resolved_at: state === "resolved" ? v.maybe(v.moment(feed.at + (value % (2 * DAY_MS)))) : null,
    resolved_by: state === "resolved" ? v.maybe(v.pick(USERS)) : null,
    email_class: came["email_class"],
    filed_reason: came["filed_reason"],
    filed_summary: came["filed_summary"],
    key_info: revision > 0 ? { edits: revision, state } : v.pick<unknown>([null, "Liefertermin", { eta: "KW 12" }]),
    amounts: v.pick<unknown>([[], null, [{ amount: "1.250,00", currency: vendor.currency }], 1250.5]),
    dates: v.pick<unknown>([[], null, ["2026-03-01", "next Tuesday"]]),
    people: v.pick<unknown>([[{ name: vendor.contact }], null, []]),
    references: order === null ? v.pick<unknown>([null, []]) : [{ kind: "po", value: orderKey(order.number) }],
  };
}

/** One row of the message list, all documented fields present. */
export function mailRow(company: Company, facts: MailFacts): Row {
  return {
    ...mailFields(company, facts),
    sender: senderOf(facts),
    entity_links: entityLinks(facts),
    provenance: provenanceOf(company, facts),
  };
}
