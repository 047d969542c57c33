import { flag, id, json, list, moment, personal, record, score, text } from "../fields.ts";

/** A row of `GET /communications/{id}/facts`. */
export const communicationFact = record("Facts that the service read out of each message, superseded ones included.", {
  fact_id: id().describe("Identifier of the fact, by which fact_lineage tells where it comes from."),
  kind: text().describe("What sort of statement it is, by the service's own labels, which are not documented."),
  stated: json().nullable().describe("What the message states; content not documented, kept as JSON."),
  act: text().nullable().describe("What the speaker does by saying it, as the service names it."),
  topic: text().nullable().describe("Subject matter of the fact, as the service names it."),
  speaker: text().nullable().describe("Person or firm that says it in the message; null where that is not known."),
  addressee: text().nullable().describe("Person or firm that the speaker turns to; null where that is not known."),
  subject_ref: text().nullable().describe("What the fact is about, as a reference; null where there is none."),
  in_reply_to: text().nullable().describe("What the fact answers, as the service refers to it; null for nothing."),
  valid_from: moment().nullable().describe("From when on the fact holds; null where the message gives no time."),
  condition: json().nullable().describe("Condition that the fact depends on; content not documented, kept as JSON."),
  superseded: flag().describe("Whether a later fact has taken this one's place."),
  superseded_by_fact_id: id().nullable().describe("Fact that has taken this one's place; null where none has."),
  confidence: score().nullable().describe("How sure the service is of the fact; the scale is not documented."),
  evidence_quote: personal(text()).nullable().describe("Words of the message that the fact rests on."),
  display: text().nullable().describe("The fact as a line for display; null where the service gives none."),
  po_number: id()
    .nullable()
    .describe("Order that the fact is about, assumed to be purchase_orders.po_number; null where there is none."),
  payload: json().nullable().describe("The fact's own data; content not documented, kept as JSON."),
  attachment_check: json()
    .nullable()
    .describe("Comparison of the fact with what was attached; content not documented, kept as JSON."),
  display_fields: list().describe("Fields of the fact for display; content not documented, kept as JSON."),
});
