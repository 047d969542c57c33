import { z } from "zod";
import { id, lineId, moment, record, score, table, text } from "../fields.ts";

const aliases = table("identity_aliases", "Other names and numbers by which each identity is known.", {
  value: text().describe("The other name or number, as it was met."),
  type: text().describe("Kind of alias, as the service names it; values not documented."),
});

const mergedFrom = table(
  "identity_merged_from",
  "Duplicates whose records became part of each identity, with the id and name they had before.",
  {
    id: lineId(id()).describe("Identifier that the merged identity had."),
    former_name: text().nullable().describe("Name that the merged identity had; null where it had none."),
    merged_at: moment().nullable().describe("When the identity was merged; null where that is not known."),
  },
);

/** `GET /identity/{type}/{id}`. */
export const identity = record("Who or what an identifier stands for after duplicates were merged.", {
  canonical: z.object({
    id: id().describe("Identifier that stands for all of the merged ones."),
    display_name: text().nullable().describe("Name of the identity for display; null where it has none."),
    type: text().describe("Kind of the identity, as the answer names it."),
  }),
  aliases,
  merged_from: mergedFrom,
  decided: z.object({
    tier: text().nullable().describe("Level on which the identity was decided; values not documented."),
    method: text().nullable().describe("How the identity was decided, as the service names it."),
    confidence: score().nullable().describe("How sure the decision is; the scale is not documented."),
    source_doc_id: id().nullable().describe("Document that the decision rests on; null where it was none."),
    decided_at: moment().nullable().describe("When the identity was decided; null where that is not known."),
  }),
});
