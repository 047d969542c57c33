import { date, id, json, lineId, money, notGiven, personal, table, text } from "./fields.ts";

/** `linked_documents[]` of `GET /po/{po_number}`. */
export const purchaseOrderLinkedDocuments = table(
  "purchase_order_linked_documents",
  "Documents the service has linked to each purchase order, invoices among them.",
  {
    doc_id: lineId(id()).describe("The linked document; for invoices assumed to be invoices.doc_id."),
    doc_type: text().nullable().describe("Kind of document, as the service names it; values not documented."),
    document_number: text().nullable().describe("Number printed on the document; null where none was read."),
    document_date: date().nullable().describe("Calendar date on the document; null where none was read."),
    total_amount: money(notGiven).nullable().describe("Total on the document; null where it has none."),
    file_name: text().nullable().describe("Name of the file that the document arrived as; null where it has none."),
    processing_status: text()
      .nullable()
      .describe("How far the service has processed the document; values not documented."),
    requested_delivery_date: date()
      .nullable()
      .describe("Delivery day that the document asks for; null where it names none."),
    email_ingest_id: id().nullable().describe("The e-mail that brought the document; null if it came another way."),
    email_context: personal(json())
      .nullable()
      .describe("About the e-mail that brought it; content not documented, kept as JSON."),
  },
);
