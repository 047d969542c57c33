import { date, id, json, moment, named, record, text } from "../fields.ts";

/** `amendments[]` of `GET /invoices/{invoice_number}/amendments`. */
export const invoiceAmendment = record(
  "Changes that were made to invoices after they came in, one row a changed field.",
  {
    id: id().describe("The service's identifier of the change."),
    doc_id: id().nullable().describe("Document that was changed; for invoices assumed to be invoices.doc_id."),
    invoice_number: named("invoice_number_", text()).describe(
      "Number of the changed invoice as the row itself gives it; invoice_number is the one asked for.",
    ),
    vendor_id: id().nullable().describe("Vendor of the invoice; null where the service resolved none."),
    amendment_type: text().describe(
      "What is changed on the invoice, by the service's own labels, which are not documented.",
    ),
    line_number: id()
      .nullable()
      .describe("Line that was changed, as text; null where the change is to the whole invoice."),
    field_name: text().describe("Field that was changed, as the service names it."),
    old_value: text().nullable().describe("The value before the change, as text; null where there was none."),
    new_value: text().describe("The value after the change, as text."),
    effective_date: date().nullable().describe("Day from which the change applies; null where none is given."),
    source: text().describe("Where the change comes from, as the service names it; values not documented."),
    source_detail: text().nullable().describe("More about where the change comes from; null where nothing is said."),
    created_at: moment().describe("When the change was put on record."),
    updated_at: moment().describe("When the record of the change was last touched."),
    provenance: json().nullable().describe("Where the change's facts come from; content not documented, kept as JSON."),
  },
);
