import { z } from "zod";
import { count, date, flag, id, lineId, quantity, record, table, text } from "../fields.ts";

const contributors = table("aggregation_lineage_contributors", "The values that each aggregate is made of.", {
  table: text().describe("The service's own table that the contributing value stands in."),
  row_id: lineId(id()).describe("Identifier of the contributing row within the service's own table."),
  value: quantity().nullable().describe("What the row contributes to the aggregate; null where it has no value."),
  doc_type: text().nullable().describe("Kind of document the value comes from; null where it is none."),
  doc_number: text().nullable().describe("Number printed on the document; null where none was read."),
  doc_date: date().nullable().describe("Date of the document the value comes from; null where none was read."),
  doc_id: id().describe("Document that the value comes from, assumed to be documents.doc_id."),
  has_lineage: flag().describe("Whether the service can tell where the value was read."),
});

/** `GET /lineage/aggregation`, whose query parameters the documents don't show. */
export const aggregationLineage = record(
  "Where the service's totals come from, those that the configuration asks for.",
  {
    aggregate: z.object({
      table: text().describe("The service's own table that the total stands in."),
      row_id: id().describe("Identifier of the total's row within the service's own table."),
      column: text().describe("Column of the service's own table that the total stands in."),
      value: quantity().nullable().describe("The total itself; null where it has no value."),
    }),
    agg_function: text().describe("How the contributions are combined, as the service names it."),
    contributor_count: count().describe("How many values contribute to the total."),
    contributors,
  },
);
