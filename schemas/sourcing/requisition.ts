import { count, date, flag, id, inRow, moment, money, personal, record, text, volatile } from "../fields.ts";

/** What the requisition list and a requisition's own endpoint have in common. */
export const requisitionFields = {
  id: id().describe("Identifier of the requisition."),
  company_id: id().nullable().describe("The service's identifier of the company whose requisition it is."),
  pr_number: text().describe("Number of the requisition as people quote it."),
  requester_email: personal(text())
    .nullable()
    .describe("E-mail address of who asks for the goods; null where it is not known."),
  requester_name: personal(text()).nullable().describe("Name of who asks for the goods; null where it is not known."),
  title: text().describe("Headline of the requisition."),
  justification: text().nullable().describe("Why the goods are needed, in words; null where nothing is said."),
  vendor_id: id().nullable().describe("Vendor that is asked for; null where none was chosen or resolved."),
  vendor_name_freetext: text().nullable().describe("Vendor as the requester wrote it; null where none was written."),
  vendor_canonical_name: text()
    .nullable()
    .describe("Vendor's name as the service keeps it, a label and never to be joined on; null without a vendor."),
  delivery_site_id: id()
    .nullable()
    .describe("Site that the goods go to; assumed to be delivery_sites.site_id, null where none was chosen."),
  delivery_site_name: text().nullable().describe("Name of the site that the goods go to; null where none was chosen."),
  needed_by_date: date().nullable().describe("Day by which the goods are needed; null where none is given."),
  total_estimated_amount: money(inRow("currency_code"))
    .nullable()
    .describe("Estimated value of all lines; null where there is no estimate."),
  currency_code: text()
    .nullable()
    .describe("Currency of the requisition's amounts; null where the service gives none."),
  status: text().describe(
    "Where the requisition stands; the service counts drafts, pending, approved, rejected and others.",
  ),
  original_freetext: personal(text())
    .nullable()
    .describe("The request in the requester's own words; null where it was not written as free text."),
  llm_parsed: flag().describe("Whether a language model turned free text into the requisition."),
  submitted_at: moment().nullable().describe("When it was submitted for approval; null before that."),
  approved_by: personal(text()).nullable().describe("Who approved it; null as long as nobody has."),
  approved_at: moment().nullable().describe("When it was approved; null as long as it is not."),
  rejected_by: personal(text()).nullable().describe("Who rejected it; null as long as nobody has."),
  rejected_at: moment().nullable().describe("When it was rejected; null as long as it is not."),
  rejection_reason: text().nullable().describe("Why it was rejected, in words; null where it was not."),
  changes_requested_by: personal(text()).nullable().describe("Who asked for changes; null where nobody has."),
  changes_requested_at: moment()
    .nullable()
    .describe("When an approver sent it back to be reworked; null where nobody did."),
  changes_requested_reason: text().nullable().describe("Which changes were asked for and why; null where none were."),
  generated_po_doc_id: id().nullable().describe("Document of the order made from it; null before there is one."),
  generated_po_number: text()
    .nullable()
    .describe("Number of the order made from it; assumed to be purchase_orders.po_number, null before there is one."),
  created_at: moment().nullable().describe("When the requisition was begun; null where the service does not say."),
  updated_at: moment().nullable().describe("When the requisition was last changed; null where it does not say."),
  // Every row repeats it: without the mark one new requisition would change all of them.
  filtered_total: volatile(count())
    .nullable()
    .describe("How many requisitions the answer as a whole counts; it says nothing about the row it stands in."),
  line_count: count().nullable().describe("How many lines the requisition has; null where it is not counted."),
};

/** A row of the requisition list: `GET /requisitions`. */
export const requisition = record(
  "Requests to buy: one row a requisition, who asks, and how far it has come.",
  requisitionFields,
);
