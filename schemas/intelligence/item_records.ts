import { count, date, id, inRow, json, list, moment, money, quantity, record, score, text } from "../fields.ts";

const inOwnCurrency = inRow("currency_code");

/** `history[]` of `GET /items/{item_id}/price-history`; the currency stands beside the rows. */
export const itemPricePoint = record("Prices of each item over time, one row a point in its history.", {
  date: date().nullable().describe("Calendar date that the prices are of; null where none is given."),
  avg_price: money(inOwnCurrency).nullable().describe("Average price of one unit at that date."),
  min_price: money(inOwnCurrency).nullable().describe("Lowest price of one unit at that date."),
  max_price: money(inOwnCurrency).nullable().describe("Highest price of one unit at that date."),
  transaction_count: count().nullable().describe("How many purchases the prices rest on."),
  total_spend: money(inOwnCurrency).nullable().describe("Money spent on the item in those purchases."),
});

/** `transactions[]` of `GET /items/{item_id}/transactions`. */
export const itemTransaction = record("Document lines on which each item was ordered or billed, one row a line.", {
  line_item_id: id().nullable().describe("The service's identifier of the document line; null where it has none."),
  doc_id: id().nullable().describe("Document that the line stands on; for invoices assumed to be invoices.doc_id."),
  document_number: text().nullable().describe("Number printed on the document; null where none was read."),
  doc_type: text().nullable().describe("Kind of document, as the service names it; values not documented."),
  date: date().nullable().describe("Calendar date of the document; null where none was read."),
  vendor_name: text().nullable().describe("Vendor's name as a label; null where unknown, and never to be joined on."),
  vendor_id: id().nullable().describe("Vendor of the document; null where the service resolved none."),
  quantity: quantity().nullable().describe("Quantity on the line, in its unit of measure; null where none was read."),
  unit_price: money(inOwnCurrency).nullable().describe("Price of one unit on the line; null where none was read."),
  line_total: money(inOwnCurrency).nullable().describe("Total of the line; null where none was read."),
  uom: text().nullable().describe("Unit of measure of the line's quantity; null where it is not given."),
  currency_code: text().nullable().describe("Currency of the line's amounts; null where it is not known."),
  po_number: id().nullable().describe("Order that the line belongs to, assumed to be purchase_orders.po_number."),
  invoice_number: text().nullable().describe("Number of the invoice that bills the line; null where there is none."),
});

/** `po_invoice_rollup[]` of `GET /items/{item_id}/transactions`. */
export const itemInvoiceRollup = record(
  "How many invoices each order of an item has; whether an order may come twice is not documented.",
  {
    po_number: id().describe("Order on which the item stands, never null and assumed to be purchase_orders.po_number."),
    invoice_count: count().describe("How many invoices bill the item on that order."),
  },
);

/** `linked_documents[]` of `GET /items/{item_id}/linked-documents`; `documents[]` holds the same rows again. */
export const itemLinkedDocument = record(
  "Documents linked to each item: drawings, certificates, quotes and the like.",
  {
    doc_id: id().describe("The linked document; for invoices assumed to be invoices.doc_id."),
    link_type: text().nullable().describe("How the document relates to the item; values not documented."),
    match_method: text().nullable().describe("How the link was found, as the service names it; values not documented."),
    confidence: score().nullable().describe("How sure the service is of the link; the scale is not documented."),
    linked_at: moment().nullable().describe("When the link was made; null where that is not known."),
    file_name: text().nullable().describe("Name of the document's file; null where there is none."),
    doc_type: text().nullable().describe("Kind of document, as the service names it; values not documented."),
    processing_status: text().nullable().describe("How far the document is processed; values not documented."),
    uploaded_at: moment().nullable().describe("When the document came in; null where that is not known."),
    generic_type: text()
      .nullable()
      .describe("Broader kind of document, as the service names it; values not documented."),
    extracted_fields: json()
      .nullable()
      .describe("What was read from the document; content not documented, kept as JSON."),
    tables: list().describe("Names of the tables that the document holds, a list kept as JSON."),
  },
);

/** `GET /items/{item_id}/intelligence`. */
export const itemIntelligence = record("The service's account of each item, where it has made one.", {
  intelligence: json()
    .nullable()
    .describe("The account itself; content not documented, kept as JSON, null where there is none."),
  generated_at: moment().nullable().describe("When the account was made; null where there is none."),
});
