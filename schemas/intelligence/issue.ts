import { z } from "zod";
import { count, id, inTable, list, moment, money, personal, quantity, record, score, text } from "../fields.ts";

const inDocumentCurrency = inTable("ingested", "currency_code", "id = doc_id, an assumed join");

/** A row of the issues list: `GET /issues`. */
export const issue = record("Issues the service has raised about documents and their data, one row an issue.", {
  id: id().describe("The service's identifier of the row; the key of this table."),
  issue_id: id().describe("A second identifier of the issue; how it differs from id is not documented."),
  source: text().describe("What raised the issue, as the service names it; values not documented."),
  type: text().describe("Type of issue, as the service names it; values not documented."),
  severity: text().describe("How severe the issue is, as the service names it; values not documented."),
  affected_count: count().describe("How many things the issue affects; what is counted is not documented."),
  affected_fields: list().describe("Names of the fields that the issue affects, a list kept as JSON."),
  current_value: text().nullable().describe("The value as it stands, as text; null where the issue is not about one."),
  expected_value: text()
    .nullable()
    .describe("What the affected field should hold in the service's judgement, as text; null where it expected none."),
  deviation_score: score()
    .nullable()
    .describe("How far the value is from the expected one; the scale is not documented."),
  description: text().nullable().describe("What the issue is, in words; null where nothing is said."),
  status: text().describe("Where the issue stands: active, dismissed and resolved are the states the service counts."),
  actioned_by: personal(text()).nullable().describe("Who dealt with the issue; null until somebody did."),
  actioned_at: moment().nullable().describe("When the issue was dealt with; null until it was."),
  resolution_notes: text()
    .nullable()
    .describe("Remarks made when the issue was dealt with; null where there are none."),
  created_at: moment()
    .nullable()
    .describe("When the issue was raised, by which the list is read; null where not known."),
  doc_id: id()
    .nullable()
    .describe(
      "Document that the issue is about; for invoices assumed to be invoices.doc_id, null where there is none.",
    ),
  file_name: text().nullable().describe("Name of the document's file; null where there is no document."),
  document_number: text().nullable().describe("Number printed on the document; null where none was read."),
  total_amount: money(inDocumentCurrency).nullable().describe("Total on the document; null where it has none."),
  vendor_name: text().nullable().describe("Vendor's name as a label; null where unknown, and never to be joined on."),
  vendor_id: id().nullable().describe("Vendor that the issue is about; null where the service resolved none."),
});

/** What stands beside the rows of `GET /issues`, taken from an unfiltered answer. */
export const issuesSummary = record("How many issues there are in each state, measured once a day.", {
  counts: z.object({
    active: quantity().describe("How many issues need an action."),
    dismissed: quantity().describe("How many issues were set aside."),
    resolved: quantity().describe("How many issues are settled."),
    total: count().describe("How many issues there are in all states."),
  }),
});
