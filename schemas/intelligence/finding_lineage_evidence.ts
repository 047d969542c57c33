import { anyJson, date, flag, id, json, lineId, money, notGiven, personal, quantity, table, text } from "../fields.ts";

/** `contributors[]` of `GET /lineage/finding/{id}`. */
export const findingLineageContributors = table(
  "finding_lineage_contributors",
  "Document lines that contribute to each finding, with the value seen and the one expected.",
  {
    line_no: id().nullable().describe("Line number on the document, as text; null where it is not about a line."),
    part_number: text().nullable().describe("Number of the part on the line; null where there is none."),
    field: text().nullable().describe("Field whose values are compared; null where it is not about one."),
    observed_value: id().nullable().describe("The value that was seen, as text because field says what it is."),
    expected_value: id().nullable().describe("The value that was expected, as text because field says what it is."),
    quantity: quantity().nullable().describe("Quantity that the line's overcharge is reckoned over; null without one."),
    line_overcharge: money(notGiven).nullable().describe("What the line was charged too much; null where nothing was."),
    fact_id: lineId(id())
      .nullable()
      .describe("Fact on the service's record that the contribution rests on; null without one."),
    evidence_quote: personal(text())
      .nullable()
      .describe("Words of the document that bear it out; null where none are quoted."),
    char_start: quantity()
      .nullable()
      .describe("Where the quoted words begin, counted in characters; null without a quote."),
    char_end: quantity()
      .nullable()
      .describe("Where the quoted words end, counted in characters; null without a quote."),
    walkable: flag().describe("Whether the service can lead from here to the source."),
    resolved: flag().describe("Whether the contribution is resolved; of what it tells is not documented."),
  },
);

/** `evidence_walk[]` of `GET /lineage/finding/{id}`. */
export const findingLineageEvidenceWalk = table(
  "finding_lineage_evidence_walk",
  "Steps through the evidence of each finding, side by side.",
  {
    side: text().describe(
      "Which side of the comparison the step is on, as the service names it; values not documented.",
    ),
    label: text().describe("Name of the step for display."),
    field: text().nullable().describe("Field that the step shows; null where it shows none."),
    value: anyJson()
      .nullable()
      .describe("Value of the field, a text, number or truth value kept as JSON; null without one."),
    doc_id: id().nullable().describe("Document that the step leads to; null where it leads to none."),
    line_no: id().nullable().describe("Line of that document, as text; null where it is not about a line."),
    fact_id: id().nullable().describe("Fact on the service's record behind the step; null where there is none."),
    quote: personal(text())
      .nullable()
      .describe("Words of the document that bear the step out; null where none are quoted."),
    source_kind: text()
      .nullable()
      .describe("What sort of thing was read, by the service's own labels, which are not documented."),
    source_table: text()
      .nullable()
      .describe("The service's own table that the value comes from; null where not given."),
    source_row_key: text()
      .nullable()
      .describe("Which record of source_table the value comes from; null where not given."),
    ref: text().nullable().describe("Reference of the step in the service's own terms; its form is not documented."),
    walkable: flag().describe("Whether the service can lead from the step to its source."),
  },
);

/** `triggering_facts[]` of `GET /lineage/finding/{id}`. */
export const findingLineageTriggeringFacts = table(
  "finding_lineage_triggering_facts",
  "Facts that triggered each finding, with the words of the document they were read from.",
  {
    fact_id: lineId(id()).describe("Fact on the service's record, which fact_lineage traces."),
    evidence_quote: personal(text())
      .nullable()
      .describe("Words of the document that state the fact; null where none are quoted."),
    doc_id: id().nullable().describe("Document that states the fact; null where there is none."),
    page_start: quantity().nullable().describe("Page on which the quoted words begin; null where that is not known."),
    page_end: quantity().nullable().describe("Page on which the quoted words end; null where that is not known."),
    char_start: quantity()
      .nullable()
      .describe("Character at which the quoted words begin; null where that is not known."),
    char_end: quantity().nullable().describe("Character at which the quoted words end; null where that is not known."),
    parser_version: text()
      .nullable()
      .describe("Version of the service's parser that read the fact; null where not given."),
  },
);

/** `timeline[]` of `GET /lineage/finding/{id}`. */
export const findingLineageTimeline = table(
  "finding_lineage_timeline",
  "Documents, mails and contracts around each finding, in their order of time.",
  {
    kind: text().describe("Kind of entry, as the service names it; values not documented."),
    date: date().describe("Calendar date of the entry."),
    contract_id: id().nullable().describe("Contract that the entry is about; null where it is about none."),
    contract_number: text()
      .nullable()
      .describe("What is written on the contract as its number; null for entries that are about none."),
    expiration_date: date().nullable().describe("Day on which that contract expires; null where none is known."),
    po_number: id().nullable().describe("Order that the entry is about, assumed to be purchase_orders.po_number."),
    doc_id: id().nullable().describe("Document that the entry is; null where it is none."),
    doc_type: text().nullable().describe("Kind of that document, as the service names it; values not documented."),
    primary: flag().describe("Whether the entry is the one that the finding mainly rests on."),
    label: text().nullable().describe("Name of the entry for display; null where it has none."),
    communication_id: id().nullable().describe("Communication that the entry is; null where it is none."),
    subject: personal(text()).nullable().describe("Subject line of that communication; null where there is none."),
    specifics: json().nullable().describe("Particulars of the entry; content not documented, kept as JSON."),
  },
);
