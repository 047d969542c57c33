import { count, flag, id, json, lineId, moment, quantity, record, table, text } from "../fields.ts";

const schema = table("entity_schema", "Which fields each entity's kind has, as the service defines them.", {
  field_path: lineId(text()).describe("Place of the field within the entity, as a path."),
  field_type: text().describe(
    "What sort of value the entity has there, by the service's own labels, which are not documented.",
  ),
  is_summable: flag().describe("Whether the field's values can be added up."),
  is_filterable: flag().describe("Whether entities can be filtered by the field."),
  description: text().nullable().describe("What the field means, in the service's words; null where it says nothing."),
  canonical_entity_type: text().nullable().describe("Kind of entity that the field refers to; null where to none."),
  ui_order: quantity().nullable().describe("Place of the field among others on a screen; null where it has none."),
  ui_format: text().nullable().describe("How a screen shows the field; null where nothing is said."),
});

const observations = table("entity_observations", "What was observed about each entity, fact by fact.", {
  fact_id: lineId(id()).describe("Identifier of the observed fact."),
  kind: text().describe("Kind of observation, as the service names it; values not documented."),
  payload: json().nullable().describe("What was observed; content not documented, kept as JSON."),
  source_type: text().nullable().describe("Kind of source the observation comes from; null where not known."),
  source_id: id().nullable().describe("Source the observation comes from; null where not known."),
  created_at: moment().describe("When the observation was recorded."),
});

/** `GET /entities/{type}/{id}`. */
export const entity = record(
  "Things the service keeps track of, such as vendors and orders, those that are asked for.",
  {
    entity: json().describe("The entity itself; its fields depend on its kind and are not documented, kept as JSON."),
    schema,
    observations,
    provenance: json().nullable().describe("Where the service read it; content not documented, kept as JSON."),
    related_count: count().nullable().describe("How many other entities it is related to; null where not counted."),
    timeline_count: count().nullable().describe("How many events its timeline has; null where not counted."),
  },
);
