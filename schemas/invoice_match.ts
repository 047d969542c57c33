import { json, list, record, score, text } from "./fields.ts";
import { invoiceCommunicationHints } from "./invoice_communication_hints.ts";
import { invoiceLineItems } from "./invoice_line_items.ts";
import { invoiceMoneyDocuments } from "./invoice_money_documents.ts";
import { invoiceProcurementChain } from "./invoice_procurement_chain.ts";

/** One invoice's match: `GET /reconciliation/{doc_id}/line-items`. The answer does not carry doc_id. */
export const invoiceMatch = record(
  "How each invoice matches its order and receipts: the verdict for the invoice as a whole.",
  {
    line_items: invoiceLineItems,
    po_qty_label: text().describe("What the service calls the quantity in invoice_line_items.po_qty."),
    match_status: text()
      .nullable()
      .describe("Outcome of matching the invoice, as the service names it; values not documented."),
    match_verdict: text().nullable().describe("The service's conclusion from the match; values not documented."),
    match_confidence: score().nullable().describe("How sure the service is of the match; the scale is not documented."),
    payability: json().nullable().describe("Whether the invoice can be paid; content not documented, kept as JSON."),
    five_way_match: json().nullable().describe("Result of the five-way match; content not documented, kept as JSON."),
    order_coverage: json()
      .nullable()
      .describe("How far orders cover the invoice; content not documented, kept as JSON."),
    match_reasons: list()
      .nullable()
      .describe("Why the match came out so, a list whose content is not documented, kept as JSON."),
    procurement_chain: invoiceProcurementChain,
    chain_order_ref: json()
      .nullable()
      .describe("The order that the chain hangs on; content not documented, kept as JSON."),
    order_confirmations: json()
      .nullable()
      .describe("What the vendor confirmed of the order behind the invoice; content not documented, kept as JSON."),
    communication_hints: invoiceCommunicationHints,
    money_documents: invoiceMoneyDocuments,
    counterparty_position: json()
      .nullable()
      .describe("Where the vendor stands on the invoice, going by the name; content not documented, kept as JSON."),
  },
);
