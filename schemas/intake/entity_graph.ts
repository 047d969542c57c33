import { z } from "zod";
import { id, json, lineId, personal, record, score, table, text } from "../fields.ts";

const node = {
  type: text().describe("Kind of the entity, as the service names it."),
  id: lineId(id()).describe("Identifier of the entity within its kind."),
  display_name: text().nullable().describe("Name of the entity for display; null where it has none."),
  route_key: text().nullable().describe("Key under which a screen shows the entity; null where none does."),
  sender: personal(text()).nullable().describe("Who sent it, for entities that are messages; null for others."),
  relation: text().describe("How the entity is related to the one asked for, as the service names it."),
};

const edges = table("entity_graph_edges", "Relations between the entities of each graph.", {
  from_entity_type: text().describe("Kind of the entity that the relation begins at."),
  from_entity_id: id().describe("Entity that the relation begins at, within its kind."),
  to_entity_type: text().describe("Kind of the entity that the relation leads to."),
  to_entity_id: id().describe("Entity that the relation leads to, within its kind."),
  relationship_type: text().describe("Kind of relation, as the service names it; values not documented."),
  score: score().nullable().describe("How strong or sure the relation is; the scale is not documented."),
  source: text().nullable().describe("Where the relation is known from; null where the service does not say."),
  evidence: json().nullable().describe("What the relation rests on; content not documented, kept as JSON."),
});

const nodes = table("entity_graph_nodes", "Entities that stand in each graph.", node);

/** `GET /entities/{type}/{id}/graph`. */
export const entityGraph = record(
  "What each entity is related to: the graph's centre, its edges and nodes beside it.",
  {
    root: z.object({
      ...node,
      type: text().describe("Kind of the entity in the graph's centre, as the answer names it."),
      id: id().describe("Identifier of the entity in the graph's centre, as the answer names it."),
    }),
    edges,
    nodes,
  },
);
