import { count, id, inRow, moment, money, personal, record, text } from "../fields.ts";

/** What the RFQ list and an RFQ's own endpoint have in common. */
export const rfqFields = {
  id: id().describe("Identifier of the request for quotation."),
  rfq_number: text().nullable().describe("Number of the request as people quote it; null before it has one."),
  title: text().nullable().describe("Headline of the request; null where it has none."),
  rfq_type: text()
    .nullable()
    .describe("What is asked for, goods or transport, as the service names it; values not documented."),
  status: text().nullable().describe("Where the request stands, as the service names it; values not documented."),
  response_deadline: moment().nullable().describe("Until when vendors may answer; null where no deadline is set."),
  budget_target: money(inRow("currency_code"))
    .nullable()
    .describe("What the buyer hopes to spend at most; null where no target is set."),
  currency_code: text().nullable().describe("Currency of the request's amounts; null where the service gives none."),
  notes: text().nullable().describe("Remarks made on the request; null without any."),
  delivery_site_id: id()
    .nullable()
    .describe("Site that the goods go to; assumed to be delivery_sites.site_id, null where none is named."),
  created_by: personal(text()).nullable().describe("Who began the request; null where that is not known."),
  issued_by: personal(text()).nullable().describe("Who sent the request to the vendors; null before that."),
  issued_at: moment().nullable().describe("When the request was sent to the vendors; null before that."),
  awarded_vendor_id: id().nullable().describe("Vendor that was given the award; null before an award."),
  awarded_by: personal(text()).nullable().describe("Who gave the award; null before an award."),
  awarded_at: moment().nullable().describe("When the award was given; null before an award."),
  awarded_pr_id: id()
    .nullable()
    .describe("Requisition that came of the award; assumed to be requisitions.id, null without one."),
  awarded_pr_number: text().nullable().describe("Number of the requisition that came of the award; null without one."),
  awarded_po_number: text()
    .nullable()
    .describe("Order that came of the award; assumed to be purchase_orders.po_number, null without one."),
  awarded_contract_id: id()
    .nullable()
    .describe("Contract that came of the award; assumed to be contracts.contract_id, null without one."),
  award_type: text().nullable().describe("What sort of award it was, as the service names it; values not documented."),
  cancelled_by: personal(text()).nullable().describe("Who cancelled the request; null where nobody has."),
  cancelled_at: moment().nullable().describe("When the request was cancelled; null where it was not."),
  cancelled_reason: text().nullable().describe("Why the request was cancelled, in words; null where it was not."),
  created_at: moment().nullable().describe("When the request was begun; null where the service does not say."),
  vendor_count: count().describe("How many vendors were asked to quote."),
  response_count: count().describe("How many vendors have answered."),
  line_count: count().describe("How many lines of goods the request has."),
  lane_count: count().describe("How many freight lanes the request has."),
};

/** A row of the RFQ list: `GET /rfqs`. */
export const rfq = record("Requests for quotation: one row a request, how many answered and who won.", rfqFields);
