import { anyJson, count, flag, id, json, lineId, moment, personal, quantity, record, table, text } from "../fields.ts";

/** `GET /negotiations/stats`. */
export const negotiationStats = record("How many negotiations there are and how they stand, measured once a day.", {
  total: count().describe("How many negotiations there are in all."),
  active: quantity().describe("How many negotiations are under way."),
  agreed: quantity().describe("How many negotiations ended in an agreement."),
  stalled: quantity().describe("How many negotiations have come to a standstill."),
});

const subjects = table("negotiation_subjects", "What each negotiation is about, one row a subject.", {
  id: lineId(id()).describe("The service's identifier of the subject."),
  term_scope: text().describe("What the term covers, as the service names it; values not documented."),
  subject_key: text().describe("The service's own key for the subject; its form is not documented."),
  status: text().describe("Where the subject stands, as the service names it; values not documented."),
  current_offer: json()
    .nullable()
    .describe("What was last put on the table for the subject; content not documented, kept as JSON."),
  target_terms: json().nullable().describe("Terms the buyer wants to reach; content not documented, kept as JSON."),
  item_id: id()
    .nullable()
    .describe("Item that the subject is about, assumed to be items.item_id; null where it is none."),
  part_number: text().nullable().describe("Number of the part that the subject is about; null where there is none."),
  normalized_part_number: text()
    .nullable()
    .describe("The part number as the service compares it; null where there is none."),
  item_description: text().nullable().describe("What the item is, in words; null where it is about none."),
  last_event_at: moment().describe("When something last happened on the subject."),
});

const events = table("negotiation_events", "What happened in each negotiation, one row an event.", {
  id: lineId(id()).describe("The service's identifier of the event."),
  event_type: text().describe(
    "What happened between the parties, by the service's own labels, which are not documented.",
  ),
  actor: personal(text()).describe("Who acted, as the service names it; values not documented."),
  event_data: anyJson().nullable().describe("Particulars of the event; any JSON value, content not documented."),
  event_at: moment().describe("When the event happened."),
  created_at: moment().describe("When the service put the event on record."),
  thread_canonical_id: id()
    .nullable()
    .describe("Thread of mails that the event comes from; null where it comes from none."),
  transition_reason: text().nullable().describe("Why the negotiation changed its state; null where it did not."),
  low_confidence: flag().describe("Whether the service is unsure of the event."),
  match_tier: text().nullable().describe("How firmly the event was matched to the negotiation; values not documented."),
  content_hash: text().nullable().describe("The service's fingerprint of the event's content; null where it has none."),
  source: json().describe("Where the event comes from; content not documented, kept as JSON."),
});

/** One negotiation: `GET /negotiations/{id}`. */
export const negotiationDetail = record(
  "Negotiations named in the configuration: with whom, about what, and how they stand.",
  {
    id: id().describe("The service's identifier of the negotiation."),
    vendor_id: id().describe("Vendor that is negotiated with."),
    subject: text().describe("What the negotiation is about, in words."),
    status: text().describe(
      "How the negotiation stands: active, agreed and stalled are the states the service counts.",
    ),
    current_offer: anyJson()
      .nullable()
      .describe("What was last put on the table; any JSON value, content not documented."),
    target_terms: anyJson()
      .nullable()
      .describe("Terms the buyer wants to reach; any JSON value, content not documented."),
    initiated_at: moment().nullable().describe("When the negotiation began; null where that is not known."),
    closed_at: moment().nullable().describe("When the negotiation was closed; null while it is open."),
    closed_reason: text().nullable().describe("Why the negotiation was closed; null while it is open."),
    last_activity_at: moment()
      .nullable()
      .describe("When something last happened in the negotiation; null where nothing has."),
    created_at: moment().nullable().describe("When the service put the negotiation on record; null where not known."),
    vendor_name: text().nullable().describe("Vendor's name as a label; null where unknown, and never to be joined on."),
    event_count: count()
      .nullable()
      .describe("How many events the negotiation has seen; null where they are not counted."),
    thread_count: count().describe("How many threads of mails belong to the negotiation."),
    last_event_actor: personal(text())
      .nullable()
      .describe("Who acted last, as the service names it; null where nobody has."),
    contract_id: id().nullable().describe("Contract that is negotiated; null where it is about none."),
    item_id: id()
      .nullable()
      .describe("Item that is negotiated, assumed to be items.item_id; null where it is about none."),
    updated_at: moment()
      .nullable()
      .describe("When the service's record of the negotiation last changed; null where not known."),
    subjects,
    events,
    negotiated_savings: json()
      .nullable()
      .describe("Savings the negotiation brought; content not documented, kept as JSON."),
    terms_unacknowledged: json()
      .nullable()
      .describe("Terms that have not been acknowledged yet; content not documented, kept as JSON."),
  },
);
