import { id, lineId, list, moment, record, table, text } from "../fields.ts";

const sourceDocs = table("vendor_credential_lineage_source_docs", "Documents that each credential was read from.", {
  doc_id: lineId(id()).describe("Document that shows the credential, assumed to be documents.doc_id."),
  title: text().nullable().describe("Title of the document; null where it has none."),
  doc_type: text().nullable().describe("Kind of document, as the service names it; values not documented."),
  source_kind: text()
    .nullable()
    .describe("What sort of thing was read, by the service's own labels, which are not documented."),
  received_at: moment().nullable().describe("When the document came in; null where that is not known."),
});

/** `GET /lineage/vendor-credential/{vendor_id}/{label}`. */
export const vendorCredentialLineage = record("Where the service knows a vendor's credentials from.", {
  vendor_id: id().describe("Vendor who holds the credential, assumed to be the vendor_id of other tables."),
  label: text().describe("Name of the credential, as it was asked for."),
  category: text().describe("Kind of credential, as the service names it; values not documented."),
  source: text().describe("Where the credential is known from, as the service names it."),
  triggering_facts: list().describe("Facts that the credential rests on; content not documented, kept as JSON."),
  source_docs: sourceDocs,
  evidence_url: text().nullable().describe("Web address that proves the credential; null where there is none."),
  first_seen_at: moment().nullable().describe("When the credential was seen first; null where that is not known."),
  last_seen_at: moment().nullable().describe("When the credential was seen last; null where that is not known."),
});
