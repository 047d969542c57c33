import { DAY_MS } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import { invoiceFacts, invoiceKey } from "../company/invoices.ts";
import { orderKey } from "../company/orders.ts";
import { invoicesOfOrder } from "../company/relations.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWS } from "./draws.ts";
import { extractedFrom } from "./mail_extraction.ts";
import { entityLinks, mailFields, provenanceOf, senderOf } from "./mail_rows.ts";
import { attachedDocument, type MailFacts } from "./mails.ts";
import { threadRow } from "./threads.ts";

/** One message in full. */
export function mailDetail(company: Company, facts: MailFacts): Row {
  const v = new Values(hash(company.seed, DRAWS.mailDetail, facts.number));
  const linked = facts.order !== null;
  return {
    ...mailFields(company, facts),
    sender: senderOf(facts),
    entity_links: entityLinks(facts),
    provenance: provenanceOf(company, facts),
    body_html: v.maybe(`<p>Sehr geehrte Damen und Herren,</p><p>Mail ${facts.number} &amp; Anlage</p>`),
    to_recipients: v.pick([["einkauf@example.com"], ["ap@example.com", "orders@example.com"], []]),
    thread_id: v.maybe(`THR-C${facts.number}`),
    attachments: attachments(company, facts, v),
    unread_attachments: v.chance(0.2) ? [{ filename: v.maybe("image001.png"), note: "not a document" }] : [],
    extracted: extractedFrom(company, facts),
    sender_source: v.maybe(v.pick(["header", "signature"])),
    forwarded_by: v.chance(0.2) ? "kollege@example.com" : null,
    link_resolution: linked ? v.maybe({ method: "po_number", tries: 1 }) : null,
    linked_po_link_id: linked ? v.maybe(`LNK-${facts.number}`) : null,
  };
}

function attachments(company: Company, facts: MailFacts, v: Values): Row[] {
  const document = attachedDocument(company, facts);
  if (document === null) return [];
  return [
    {
      doc_id: document["id"],
      doc_type: v.maybe(document["type"]),
      document_number: document["document_number"],
      file_name: document["title"],
      relation: v.maybe("attached"),
      mime_type: v.maybe("application/pdf"),
      size_bytes: v.maybe(1000 + (facts.value % 900_000)),
      total_amount: document["total_amount"],
      currency: document["currency_code"],
      payment_terms: v.maybe("2/10 net 30"),
      document_date: v.date(Math.floor(facts.feed.at / DAY_MS)),
    },
  ];
}

/** What was done about a message; each change of it is one more action. */
export function mailActions(company: Company, facts: MailFacts): Row[] {
  return Array.from({ length: (facts.value % 3) + facts.revision }, (_, i) => {
    const v = new Values(hash(company.seed, DRAWS.mailAction, facts.number, i));
    const type = v.pick(["note", "snooze", "link", "resolve"]);
    return {
      id: `ACT-${facts.number}-${i + 1}`,
      action_type: v.maybe(type),
      notes: v.maybe('Kollege ruft an, "morgen"'),
      snooze_until: type === "snooze" ? v.moment(facts.feed.at + (i + 2) * DAY_MS) : null,
      link_po_number: type === "link" && facts.order !== null ? orderKey(facts.order.number) : null,
      created_by: v.maybe("j.doe"),
      created_at: v.maybe(v.moment(facts.feed.at + (i + 1) * 3_600_000)),
    };
  });
}

/** Invoices of the message's order that it could be linked to; now and then one of them for two reasons. */
export function linkSuggestions(company: Company, facts: MailFacts): Row[] {
  if (facts.order === null) return [];
  const { first, last } = invoicesOfOrder(company, facts.order.number);
  const numbers = Array.from({ length: Math.max(0, Math.min(3, last - first + 1)) }, (_, i) => last - i);
  const twice = facts.value % 5 === 0 ? numbers.slice(0, 1) : [];
  return [...numbers, ...twice].map((number, i) => {
    const v = new Values(hash(company.seed, DRAWS.mailDetail, facts.number, i + 1));
    const invoice = invoiceFacts(company, { number, revision: 0, insertedAt: undefined });
    return {
      doc_id: invoiceKey(number),
      buyer_po_number: v.maybe(orderKey(invoice.order?.number ?? number)),
      vendor_name: v.maybe(invoice.vendor.name),
      match_reason: v.maybe(i < numbers.length ? "same order" : "same vendor"),
      document_type: v.maybe("invoice"),
      created_at: v.maybe(v.moment(invoice.uploadedAt)),
    };
  });
}

/** The messages that lead up to this one, and itself. */
export function mailThread(company: Company, facts: MailFacts): Row[] {
  const before = facts.value % 4;
  return Array.from({ length: before + 1 }, (_, i) => {
    const v = new Values(hash(company.seed, DRAWS.mailThread, facts.number, i));
    const own = i === before;
    const id = (place: number): string => (place === before ? facts.id : `${facts.id}-${place + 1}`);
    return {
      id: id(i),
      communication_types: v.pick([["question"], ["confirmation"], []]),
      action_required: own && facts.revision % 2 === 0 && v.chance(0.3),
      urgency: v.maybe(v.pick(["low", "normal", "high"])),
      sender: v.pick<Row>([{ email: `verkauf@${facts.vendor.domain}` }, { name: facts.vendor.contact, email: null }]),
      subject: own ? facts.came["subject"] : v.maybe(`Re: ${facts.number}`),
      received_at: own ? facts.came["ts"] : v.maybe(v.moment(facts.feed.at - (before - i) * DAY_MS)),
      direction: v.maybe(i % 2 === 0 ? "inbound" : "outbound"),
      in_reply_to: i > 0 ? v.maybe(id(i - 1)) : null,
      summary: own && facts.revision > 0 ? `Read again (${facts.revision})` : v.maybe("Rückfrage zum Termin"),
      to_recipients: v.pick([["einkauf@example.com"], []]),
      cc_recipients: v.pick([[], ["ap@example.com"], ["ap@example.com", "lager@example.com"]]),
      sender_domain: v.maybe(facts.vendor.domain),
      body_text: v.maybe("Guten Tag,\nwann kommt die Ware?"),
      body_html: v.maybe("<p>Guten Tag</p>"),
      extracted: v.maybe({ summary: "Wann kommt die Ware?" }),
      provenance: v.pick<Row[]>([[], [{ fact_id: `FCT-${facts.number}-0`, page_start: 1 }]]),
    };
  });
}

/** The business threads that a message is part of. */
export function mailThreads(company: Company, facts: MailFacts): Row[] {
  const { number, order, revision } = facts;
  const own = facts.value % 3 === 0 ? [threadRow(company.seed, number, null, revision)] : [];
  return order === null ? own : [threadRow(company.seed, number, order, revision), ...own];
}
