import { anyJson, id, moment, personal, record, score, text } from "../fields.ts";

/** A row of `GET /as-of/{entity_type}/{entity_id}`. */
export const entityFact = record("Facts about entities as they stood at the moments that the configuration names.", {
  kind: text().describe("What sort of statement it is, by the service's own labels, which are not documented."),
  value: anyJson().nullable().describe("What the fact says, any JSON value."),
  effective_at: moment().nullable().describe("From when on the fact held; null where that is not known."),
  fact_id: id().describe("Identifier of the fact about the entity."),
  evidence_quote: personal(text()).nullable().describe("Words that the fact rests on, quoted from the source."),
  verification_status: text().nullable().describe("Whether the fact was verified; values not documented."),
  confidence: score().nullable().describe("How sure the service is of the fact; the scale is not documented."),
});
