import { id, lineId, money, notGiven, table, text } from "./fields.ts";

/** `money_documents[]` of `GET /reconciliation/{doc_id}/line-items`. */
export const invoiceMoneyDocuments = table(
  "invoice_money_documents",
  "Further documents about money that the service connects with each invoice, and how they relate to it.",
  {
    doc_id: lineId(id())
      .nullable()
      .describe("The related document, not the invoice's own id; null where the service names none."),
    doc_type: text().nullable().describe("Kind of document, as the service names it; values not documented."),
    document_number: text().nullable().describe("Number printed on the document; null where none was read."),
    relationship: text().nullable().describe("How the document relates to the invoice; values not documented."),
    total_amount: money(notGiven).nullable().describe("Total on the document; null where it has none."),
  },
);
