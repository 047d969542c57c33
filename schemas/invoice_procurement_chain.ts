import { count, date, id, lineId, money, notGiven, table, text } from "./fields.ts";

/** `procurement_chain[]` of `GET /reconciliation/{doc_id}/line-items`. */
export const invoiceProcurementChain = table(
  "invoice_procurement_chain",
  "Documents of the buying process around each invoice, in the order the service gives them.",
  {
    stage: text().nullable().describe("Step of the chain that the document belongs to; values not documented."),
    doc_type: text().nullable().describe("Kind of document, as the service names it; values not documented."),
    doc_id: lineId(id())
      .nullable()
      .describe("The document at this step, not the invoice's own id; null where there is none."),
    document_number: text().nullable().describe("Number printed on the document; null where none was read."),
    document_date: date().nullable().describe("Calendar date on the document; null where none was read."),
    total_amount: money(notGiven).nullable().describe("Total on the document; null where it has none."),
    vendor_name: text().nullable().describe("Vendor named on the document, as a label; null where none was read."),
    receipt_source: text()
      .nullable()
      .describe("Where the receipt comes from, values not documented; null for other steps."),
    line_count: count().nullable().describe("How many lines the document has; null where that is not known."),
  },
);
