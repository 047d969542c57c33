import { date, id, inRow, list, moment, money, record, text } from "../fields.ts";

const fields = {
  id: id().describe("Identifier of the claim."),
  claim_number: text().nullable().describe("Number under which the claim is filed; null before it has one."),
  vendor_id: id().nullable().describe("Vendor that the claim is made against; null where it was not resolved."),
  vendor_name: text().nullable().describe("Vendor's name as a label; null where unknown, and never to be joined on."),
  claim_type: text()
    .nullable()
    .describe("What happened to the shipment, by the service's own labels, which are not documented."),
  status: text()
    .nullable()
    .describe("Where the claim stands; open, resolved, recovered and denied are counted by the service."),
  pro_number: text().nullable().describe("Carrier's progressive number of the shipment; null where it is not known."),
  tracking_number: text().nullable().describe("Number to track the shipment by; null where it is not known."),
  shipment_doc_id: id().nullable().describe("Document of the shipment that the claim is about; null without one."),
  invoice_doc_id: id()
    .nullable()
    .describe("Freight invoice that the claim is about; assumed to be invoices.doc_id, null without one."),
  amount_claimed: money(inRow("currency_code"))
    .nullable()
    .describe("What is claimed; null where no amount is put to it."),
  amount_approved: money(inRow("currency_code"))
    .nullable()
    .describe("What the carrier has agreed to; null as long as nothing is agreed."),
  amount_recovered: money(inRow("currency_code"))
    .nullable()
    .describe("What has come back in the end; null as long as nothing has."),
  currency_code: text().nullable().describe("Currency of the claim's amounts; null where the service gives none."),
  description: text().nullable().describe("What happened to the shipment, in words; null where nothing is said."),
  notes: text().nullable().describe("Remarks made on the claim; null without any."),
  evidence_doc_ids: list().nullable().describe("Documents that prove the claim, a list of their ids kept as JSON."),
  filed_date: date().nullable().describe("Day on which the claim was filed; null before that."),
  acknowledged_date: date().nullable().describe("Day on which the carrier acknowledged the claim; null before that."),
  resolved_date: date().nullable().describe("Day on which the claim was settled; null before that."),
  created_at: moment().nullable().describe("When the service first recorded the claim; null where it does not say."),
};

/** A row of the claim list: `GET /freight-claims`. */
export const freightClaim = record(
  "Claims against carriers: one row a claim, what is asked and what came of it.",
  fields,
);

/** One claim: `GET /freight-claims/{id}`. */
export const freightClaimDetail = record(
  "Each freight claim as its own endpoint shows it, with the list's fields.",
  fields,
);
