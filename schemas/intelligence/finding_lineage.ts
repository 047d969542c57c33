import { flag, id, inName, json, lineId, moment, money, notGiven, personal, record, table, text } from "../fields.ts";
import {
  findingLineageContributors,
  findingLineageEvidenceWalk,
  findingLineageTimeline,
  findingLineageTriggeringFacts,
} from "./finding_lineage_evidence.ts";

const relatedEntities = table(
  "finding_lineage_related_entities",
  "Vendors, orders, documents and other things that each finding touches.",
  {
    kind: text().describe("Kind of thing, as the service names it; values not documented."),
    id: lineId(id()).describe("Identifier of the thing within its kind."),
    label: text().nullable().describe("Name of the thing for display; null where it has none."),
  },
);

const sourceDocs = table("finding_lineage_source_docs", "Documents that each finding was drawn from.", {
  doc_id: lineId(id()).describe(
    "Document that the finding was drawn from; for invoices assumed to be invoices.doc_id.",
  ),
  doc_title: text().nullable().describe("Title of the document; null where it has none."),
  filename: text().nullable().describe("Name of the document's file; null where there is none."),
  document_number: text().nullable().describe("Number printed on the document; null where none was read."),
  source_kind: text()
    .nullable()
    .describe("What sort of thing was read, by the service's own labels, which are not documented."),
  primary: flag().describe("Whether it is the document that the finding mainly rests on."),
});

/** Where one finding comes from: `GET /lineage/finding/{id}`. */
export const findingLineage = record(
  "What each finding rests on: its claim, the values compared, and how it was settled.",
  {
    finding_id: id().describe("The finding, the same as findings.finding_id."),
    finding_type: text().describe("What was found, by the service's own labels, which are not documented."),
    category: text().nullable().describe("Area of purchasing that the finding belongs to; null where it has none."),
    title: text().nullable().describe("Headline of the finding, in words; null where it has none."),
    summary: text().nullable().describe("What was found, in a few words; null where nothing is said."),
    claim: json().nullable().describe("The claim that the finding makes; content not documented, kept as JSON."),
    verification_status: text().nullable().describe("Whether the finding has been verified; values not documented."),
    verified_amount: money(notGiven).nullable().describe("Amount that was verified; null while none is."),
    severity: text().nullable().describe("How severe the finding is, as the service names it; values not documented."),
    status: text().nullable().describe("Where the finding stands, as the service names it; values not documented."),
    resolved_at: moment().nullable().describe("When the finding was resolved; null until it is."),
    resolution_notes: text().nullable().describe("Remarks made when the finding was resolved; null until then."),
    dismiss_reason: text().nullable().describe("Why the finding was dismissed; null where it was not."),
    dismissed_at: moment().nullable().describe("When the finding was dismissed; null where it was not."),
    resolved_by: personal(text()).nullable().describe("Who resolved the finding; null until somebody did."),
    superseded_by_finding_id: id().nullable().describe("Finding that took this one's place; null where none did."),
    assigned_to: personal(text()).nullable().describe("Who the finding is assigned to; null while it is nobody's."),
    field_name: text().nullable().describe("Field whose values are compared; null where the finding is not about one."),
    current_value: id().nullable().describe("The value as it stands, as text because field_name says what it is."),
    expected_value: id()
      .nullable()
      .describe("The value that was expected, as text because field_name says what it is."),
    doc_id: id().nullable().describe("Document behind the finding; for invoices assumed to be invoices.doc_id."),
    vendor_id: id().nullable().describe("Vendor that the finding is about; null where the service resolved none."),
    po_number: id().nullable().describe("Order that the finding is about, assumed to be purchase_orders.po_number."),
    invoice_number: text()
      .nullable()
      .describe("Number printed on the invoice behind the finding; null where there is none."),
    contract_id: id().nullable().describe("Contract that the finding is about; null where it is about none."),
    potential_savings_usd: money(inName)
      .nullable()
      .describe("Savings that the finding could bring, in US dollars; null where none are put to it."),
    details: json().nullable().describe("Particulars of the finding; content not documented, kept as JSON."),
    related_entities: relatedEntities,
    contributors: findingLineageContributors,
    evidence_walk: findingLineageEvidenceWalk,
    aggregate: json()
      .nullable()
      .describe("Figures taken together over the contributors; content not documented, kept as JSON."),
    comparison: json().nullable().describe("The comparison behind the finding; content not documented, kept as JSON."),
    payment: json().nullable().describe("The payment that the finding concerns; content not documented, kept as JSON."),
    triggering_facts: findingLineageTriggeringFacts,
    source_docs: sourceDocs,
    timeline: findingLineageTimeline,
    reference: json().nullable().describe("What the finding refers to; content not documented, kept as JSON."),
    recovery: json()
      .nullable()
      .describe("How money is recovered on the finding; content not documented, kept as JSON."),
    source_fact_id: id()
      .nullable()
      .describe("Fact on the service's record that the finding rests on; null without one."),
    source_comm_id: id().nullable().describe("Communication that the finding rests on; null where there is none."),
  },
);
