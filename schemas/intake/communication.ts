import { anyJson, date, flag, id, json, list, moment, personal, record, score, text } from "../fields.ts";

/** What a mail's row in the list and its own answer have in common, but for the fields that the latter shows in full. */
export const communicationFields = {
  id: id().describe("Identifier of the message; the key that the other communication_ tables share."),
  email_ingest_id: id()
    .nullable()
    .describe("E-mail intake record it was made from, assumed to be ingested.id; null where there is none."),
  communication_types: list().describe("Kinds of message that the service sees in it, an array of texts kept as JSON."),
  action_required: flag().describe("Whether somebody has to act on the message."),
  urgency: text().nullable().describe("How pressing it is, as the service names it; values not documented."),
  communication_date: date().nullable().describe("Calendar day the message is dated; null where it gives none."),
  subject: personal(text()).nullable().describe("Subject line of the message as it came; null where it has none."),
  received_at: moment()
    .nullable()
    .describe("When the message came in, by which the feed is read; null where that is not known."),
  cc_recipients: personal(list()).describe("Who got a copy, an array whose content is not documented, kept as JSON."),
  linked_po: id()
    .nullable()
    .describe("Order that the message is linked to, assumed to be purchase_orders.po_number; null where unlinked."),
  linked_vendor_name: text()
    .nullable()
    .describe("Name of the vendor the message is linked to, a label and never to be joined on."),
  primary_match_score: score()
    .nullable()
    .describe("How well the message fits what it is linked to; the scale is not documented."),
  body_text: personal(text()).nullable().describe("Plain text of the message; null where it has none."),
  email_direction: text().nullable().describe("Whether the mail came in or went out; values not documented."),
  sender_domain: text().nullable().describe("Internet domain the mail was sent from; null where not known."),
  subject_normalized: personal(text())
    .nullable()
    .describe("Subject line brought into a uniform form by the service; null where there is none."),
  in_reply_to: text().nullable().describe("Message that this one answers, as the service refers to it; null for none."),
  has_documents: flag().describe("Whether documents came with the message."),
  status: text()
    .nullable()
    .describe("State of the message, such as open, resolved or snoozed; null where it has none."),
  snoozed_until: moment().nullable().describe("When a snoozed message comes up again; null where it is not snoozed."),
  resolved_at: moment().nullable().describe("When the message was resolved; null where it is not."),
  resolved_by: personal(text()).nullable().describe("Who resolved the message; null where nobody has."),
  email_class: text().nullable().describe("Class the mail was sorted into, some of which are filed away as noise."),
  filed_reason: text().nullable().describe("Why the mail was filed away as noise; null where it was not."),
  filed_summary: personal(text()).nullable().describe("Short account of the filed mail; null where it was not filed."),
  key_info: anyJson().nullable().describe("What matters in the message; content not documented, kept as JSON."),
  amounts: anyJson().nullable().describe("Amounts found in the message; content not documented, kept as JSON."),
  dates: anyJson().nullable().describe("Dates found in the message; content not documented, kept as JSON."),
  people: anyJson().nullable().describe("People found in the message; content not documented, kept as JSON."),
  references: anyJson()
    .nullable()
    .describe("References found in the message, such as numbers of documents; content not documented, kept as JSON."),
};

/** A row of the message list: `GET /communications`. */
export const communication = record("E-mails with vendors and others, those filed away as noise included.", {
  ...communicationFields,
  sender: personal(json()).describe(
    "Who sent the message, an object kept as JSON; communication_details has its parts.",
  ),
  entity_links: list().describe("What the message is linked to, kept as JSON; see communication_entity_links."),
  provenance: list().describe("Where the service read what it knows, kept as JSON; see communication_provenance."),
});
