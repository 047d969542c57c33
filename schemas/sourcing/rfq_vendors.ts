import { id, lineId, moment, personal, table, text } from "../fields.ts";

/** `vendors[]` of `GET /rfqs/{id}`. */
export const rfqVendors = table("rfq_vendors", "Vendors that each request was sent to: one row a vendor.", {
  rfq_id: id().nullable().describe("Request that the row names as its own; the same as id where it is given."),
  vendor_id: lineId(id()).describe("Vendor that was asked to quote."),
  vendor_name: text().nullable().describe("Vendor's name as a label; null where unknown, and never to be joined on."),
  contact_email: personal(text())
    .nullable()
    .describe("Address that the request was sent to; null where none is known."),
  contact_name: personal(text()).nullable().describe("Person that the request was sent to; null where none is known."),
  status: text().nullable().describe("How far the vendor's answer is, as the service names it; values not documented."),
  quote_doc_id: id().nullable().describe("Document of the vendor's quotation; null as long as there is none."),
  invited_at: moment().nullable().describe("When the vendor was asked; null before that."),
  responded_at: moment().nullable().describe("When the vendor answered; null before that."),
  workflow_id: id().nullable().describe("Run of the service's workflow that handles the vendor; null without one."),
  scac: text().nullable().describe("Carrier's standard alpha code (SCAC); null for vendors that are no carrier."),
});
