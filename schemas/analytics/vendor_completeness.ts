import { count, id, lineId, percent, quantity, record, score, table, text } from "../fields.ts";

/** `GET /completeness/vendors/{vendorId}`. */
export const vendorCompleteness = record("How completely the service could read each vendor's documents.", {
  vendor_id: id().describe("Vendor whose documents were audited."),
  vendor_name: text().describe("Vendor's name as a label, never to be joined on."),
  doc_count: count().describe("How many documents of the vendor there are."),
  avg_completeness_score: score().nullable().describe("Average score of what was read; the scale is not documented."),
  docs_with_audit: quantity().describe("How many documents have been audited."),
  docs_without_audit: quantity().describe("How many documents have not been audited."),
  missed_labels: table("vendor_missed_labels", "Labels on a vendor's documents that the service could not place.", {
    label_text: lineId(text()).describe("The label as printed on the documents."),
    suggested_canonical_key: text().describe("Field that the service suggests for the label."),
    category: text().describe("What kind of label it is, as the service names it; values not documented."),
    miss_count: count().describe("How often the label was missed."),
    doc_count_seen: count().describe("How many documents bear the label."),
    miss_rate: percent().describe("Share of the documents with the label that missed it; the unit is not documented."),
  }),
});
