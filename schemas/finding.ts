import { count, date, flag, id, inName, json, moment, money, named, personal, record, text } from "./fields.ts";

/** A row of the findings list: `GET /findings`. */
export const finding = record(
  "Findings: what the service thinks is wrong, owed or worth acting on, one row a finding.",
  {
    item_id: named("finding_item_id", id()).describe(
      "The row's own identifier; it has nothing to do with items.item_id.",
    ),
    kind: text().describe(
      "What the entry stands for among the findings, by the service's own labels, which are not documented.",
    ),
    waiting_on: text()
      .nullable()
      .describe("Whose move it is, for example yours or the vendor's; values not documented."),
    target: json().nullable().describe("What the finding points at; content not documented, kept as JSON."),
    finding_id: id()
      .nullable()
      .describe("The finding itself, which drafts and lineage refer to; null where a row has none."),
    finding_type: text().nullable().describe("What was found, by the service's own labels, which are not documented."),
    category: text().nullable().describe("Area of purchasing: billing, contracts, payments, receiving or documents."),
    severity: text().nullable().describe("How severe the finding is, as the service names it; values not documented."),
    title: text().nullable().describe("Headline of the finding, in words; null where it has none."),
    summary: text().nullable().describe("What was found, in a few words; null where nothing is said."),
    status: text().nullable().describe("Where the finding stands, as the service names it; values not documented."),
    verification_status: text().nullable().describe("Whether the finding has been verified; values not documented."),
    resolution_notes: text().nullable().describe("Remarks made when the finding was resolved; null until then."),
    dismiss_reason: text().nullable().describe("Why the finding was dismissed; null where it was not."),
    resolved_by: personal(text()).nullable().describe("Who resolved the finding; null until somebody did."),
    surfaceable_savings_usd: money(inName)
      .nullable()
      .describe("Savings that the finding could bring, in US dollars; null where none are put to it."),
    source_document_date: date()
      .nullable()
      .describe("Calendar date of the document that the finding rests on; null where not known."),
    next_step: text().nullable().describe("What the service suggests to do next; null where it suggests nothing."),
    metric_backing: json().nullable().describe("What the figures rest on; content not documented, kept as JSON."),
    vendor_id: id().nullable().describe("Vendor that the finding is about; null where the service resolved none."),
    vendor_name: text().nullable().describe("Vendor's name as a label; null where unknown, and never to be joined on."),
    vendor_website: text().nullable().describe("Vendor's web address; null where the service knows none."),
    document_label: text()
      .nullable()
      .describe("How the service labels the document behind the finding; document_label_kind says what the label is."),
    document_label_kind: text().nullable().describe("What sort of label document_label is; values not documented."),
    document_type: text().nullable().describe("Kind of document behind the finding; values not documented."),
    additional_source_count: count()
      .nullable()
      .describe("How many further sources the finding has beside the named document."),
    doc_id: id()
      .nullable()
      .describe("Document behind the finding; for invoices assumed to be invoices.doc_id, null where there is none."),
    recurrence_count: count()
      .nullable()
      .describe("How often the same thing has come up; null where the service does not count it."),
    created_at: moment().nullable().describe("When the service made the finding; null for rows that give no time."),
    po_number: id()
      .nullable()
      .describe("Order that the finding is about, assumed to be purchase_orders.po_number; null where there is none."),
    source_fact_id: id()
      .nullable()
      .describe("The fact on the service's record that the finding rests on; null where none is named."),
    source_comm_id: id().nullable().describe("The communication that the finding rests on; null where there is none."),
    claim: json().nullable().describe("The claim that the finding makes; content not documented, kept as JSON."),
    amount: json().nullable().describe("Amount at stake; an object whose content is not documented, kept as JSON."),
    amount_declared: flag().describe("Whether the amount at stake was declared; by whom is not documented."),
  },
);
