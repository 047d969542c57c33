import { id, json, list, moment, personal, record, text } from "../fields.ts";

/** A row of `GET /entities/{type}/{id}/timeline`. */
export const entityEvent = record("What happened to each entity that is asked for, event by event.", {
  event_id: id().describe("Identifier of the event on the entity's timeline."),
  event_type: text().describe("Kind of event, as the service names it; values not documented."),
  event_subtype: text().describe("Finer kind of the event, as the service names it; values not documented."),
  event_data: json().nullable().describe("What the event carries; content not documented, kept as JSON."),
  source_type: text().nullable().describe("Kind of source the event comes from; null where not known."),
  source_id: id().nullable().describe("Source the event comes from; null where not known."),
  event_time: moment().describe("When the event happened, by the service's account."),
  evidence_quote: personal(text()).nullable().describe("Words that the event rests on, quoted from its source."),
  chunk_citations: list().nullable().describe("Passages that the event cites; content not documented, kept as JSON."),
});
