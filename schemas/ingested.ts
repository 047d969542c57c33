import { count, flag, id, inRow, list, moment, money, personal, quantity, record, text } from "./fields.ts";

/** A row of the intake feed: `GET /ingested`. */
export const ingestedItem = record("Everything that came in: documents, e-mails and data imports in one feed.", {
  row_type: text().describe("What the row is, a document, an e-mail or an import; with id it identifies the row."),
  id: id().describe("Identifier within its row_type; for documents assumed to be the doc_id of other tables."),
  source: text().describe("Which way it came in, as the service names it; values not documented."),
  type: text().describe("Kind of document, mail or import, as the service names it; values not documented."),
  party: text().nullable().describe("Who it is from or about, as a label; null where that is not known."),
  title: text().nullable().describe("Headline of the row for display; null where it has none."),
  ts: moment().nullable().describe("The row's point in time, by which the feed is read; null for rows that give none."),
  status: text().nullable().describe("Where its processing stands, as the service names it; values not documented."),
  size_bytes: quantity().nullable().describe("Size of the file in bytes; null for rows without a file."),
  page_count: count().nullable().describe("How many pages the document has; null for rows without pages."),
  parent_email_id: id().nullable().describe("E-mail that it came with; null where it came another way."),
  subject: personal(text()).nullable().describe("Subject line of the e-mail; null for rows that are none."),
  sender_email: personal(text())
    .nullable()
    .describe("Address that the e-mail was sent from; null for rows that are none."),
  body_preview: personal(text()).nullable().describe("Beginning of the e-mail's text; null for rows that are none."),
  summary: text().nullable().describe("What it says in short, by the service's account; null without a summary."),
  vendor_id: id().nullable().describe("Vendor the service resolved it to; null where it resolved none."),
  vendor_name: text().nullable().describe("Vendor's name as a label; null where unknown, and never to be joined on."),
  vendor_resolved: flag()
    .nullable()
    .describe("Whether the service could tell which vendor it is; null where it has not tried."),
  vendor_website: text().nullable().describe("Vendor's web address; null where the service knows none."),
  document_number: text().nullable().describe("Number printed on the document; null where none was read."),
  buyer_po_number: text().nullable().describe("Order number as printed on the document; not meant for joins."),
  total_amount: money(inRow("currency_code"))
    .nullable()
    .describe("Total on the document; amount_basis says what it is, null where it has none."),
  currency_code: text()
    .nullable()
    .describe("Currency of total_amount, and by an assumed join of the invoice's amounts; null where not known."),
  amount_basis: text().describe("What total_amount rests on, as the service names it; values not documented."),
  email_direction: text()
    .nullable()
    .describe("Whether the e-mail came in or went out; null for rows that are no e-mail."),
  email_class: text().nullable().describe("Class the service sorted the e-mail into; values not documented."),
  filed_reason: text().nullable().describe("Why the mail was filed away as noise; null where it was not."),
  filed_summary: personal(text()).nullable().describe("Short account of the filed mail; null where it was not filed."),
  thread_message_count: count()
    .nullable()
    .describe("How many messages the e-mail's thread has; null for rows that are no e-mail."),
  attachments: list().describe("What the e-mail carried along, a list whose content is not documented, kept as JSON."),
  sheet_count: count().nullable().describe("How many sheets the workbook has; null for rows that are none."),
  import_rows_total: count().nullable().describe("How many rows the import held; null for rows that are no import."),
  import_rows_inserted: quantity()
    .nullable()
    .describe("How many rows the import added; null for rows that are no import."),
  import_rows_errored: quantity()
    .nullable()
    .describe("How many rows of the import failed; null for rows that are no import."),
});
