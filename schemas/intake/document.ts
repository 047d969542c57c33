import { id, record, whole } from "../fields.ts";
import { threadFields } from "./thread.ts";

/** A row of `GET /documents`, whose fields the documents don't show. */
export const document = record("Documents that were uploaded or came by e-mail, as the service lists them.", {
  doc_id: id().describe("Identifier of the document; invoices bear the same in invoices.doc_id, by assumption."),
  data: whole().describe("The document's row as the service lists it; its fields are not documented, kept as JSON."),
});

/** `GET /documents/{doc_id}`, whose fields the documents don't show. */
export const documentDetail = record("Each document's own record, its processing state among the rest.", {
  data: whole().describe("The document's record as it came; its fields are not documented, kept as JSON."),
});

/** A row of `GET /documents/{doc_id}/threads`. */
export const documentThread = record("Business threads, such as an order's course, that each document is part of.", {
  ...threadFields,
});
