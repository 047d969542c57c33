import { id, moment, personal, quantity, record, score, text } from "../fields.ts";

/** A row of `chain[]` of `GET /lineage/fact/{id}`. */
export const factLink = record("The chain of records that each fact comes from, from stored row to source.", {
  table: text().describe("The service's own table that the record stands in."),
  row_id: id().describe("Identifier of the record within the service's own table."),
  evidence_quote: personal(text()).nullable().describe("Words that the fact rests on, quoted from the source."),
  source_doc_id: id().nullable().describe("Document that the fact was read from; null where it was none."),
  page_start: quantity().nullable().describe("Page on which the quoted passage begins; null where there are no pages."),
  page_end: quantity().nullable().describe("Page on which the quoted passage ends; null where there are no pages."),
  char_start: quantity().nullable().describe("Character at which the quoted passage begins; null where not known."),
  char_end: quantity().nullable().describe("Character at which the quoted passage ends; null where not known."),
  parser_version: text().nullable().describe("Version of the parser that read the source; null where not known."),
  extraction_run_id: id().nullable().describe("Run of the extraction that read the fact; null where not known."),
  llm_call_id: id().nullable().describe("Call of a language model that read the fact; null where none did."),
  fact_kind: text()
    .nullable()
    .describe("What sort of statement it is, by the service's own labels, which are not documented."),
  confidence: score().nullable().describe("How sure the service is of the record; the scale is not documented."),
  verification_status: text().nullable().describe("Whether the fact was verified; values not documented."),
  source_segment_id: id().nullable().describe("Segment of the source that holds the passage; null where not known."),
  source_segment_type: text().nullable().describe("Kind of the segment of the source; values not documented."),
  schema_version: text().nullable().describe("Version of the schema that the fact was read by; null where not known."),
  prompt_version: text().nullable().describe("Version of the prompt that the model was given; null where none was."),
  model: text().nullable().describe("Language model that read the fact; null where none did."),
  schema_id: id().nullable().describe("Schema that the fact was read by; null where not known."),
  canonical_text_sha256: text().nullable().describe("SHA-256 of the source's text in canonical form; null for none."),
  source_channel: text().nullable().describe("Way the source came in, as the service names it."),
  received_at: moment().nullable().describe("When the source came in; null where that is not known."),
  filename: text().nullable().describe("Name of the source's file; null where it has none."),
  document_type: text().nullable().describe("Kind of document the source is; null where it is none."),
  source_kind: text()
    .nullable()
    .describe("What sort of thing was read, by the service's own labels, which are not documented."),
  section_tag: text().nullable().describe("Section of the source that holds the passage; null where it has none."),
  from_type: text().nullable().describe("Kind of thing a link of the chain begins at; null where it is no link."),
  from_id: id().nullable().describe("Thing a link of the chain begins at; null where it is no link."),
  to_type: text().nullable().describe("Kind of thing a link of the chain leads to; null where it is no link."),
  to_id: id().nullable().describe("Thing a link of the chain leads to; null where it is no link."),
  link_type: text().nullable().describe("Kind of link, as the service names it; null where it is no link."),
  match_method: text().nullable().describe("How the link was found, as the service names it."),
  action: text().nullable().describe("What a user or the service did at this record; null where nothing was done."),
  reason: text().nullable().describe("Why it was done at this record; null where no reason is given."),
  user_id: personal(id()).nullable().describe("User who did it at this record; null where no user did."),
  created_at: moment().nullable().describe("When the record was made; null where that is not known."),
});
