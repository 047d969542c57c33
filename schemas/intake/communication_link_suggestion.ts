import { id, moment, record, text } from "../fields.ts";

/** A row of `GET /communications/{id}/link-suggestions`. */
export const communicationLinkSuggestion = record("Documents that the service suggests linking each message to.", {
  doc_id: id().describe("Document that is suggested, assumed to be documents.doc_id."),
  buyer_po_number: text().nullable().describe("Order number as printed on the document; not meant for joins."),
  vendor_name: text().nullable().describe("Name of the document's vendor, a label and never to be joined on."),
  match_reason: text().nullable().describe("Why the document is suggested, in the service's words."),
  document_type: text().nullable().describe("Kind of document, as the service names it; values not documented."),
  created_at: moment()
    .nullable()
    .describe("When the suggested document was created, as far as its name tells; null where not known."),
});
