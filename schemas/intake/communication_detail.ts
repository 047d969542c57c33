import { z } from "zod";
import {
  date,
  id,
  inRow,
  json,
  lineId,
  list,
  money,
  personal,
  quantity,
  record,
  score,
  table,
  text,
} from "../fields.ts";
import { communicationFields } from "./communication.ts";
import { communicationExtraction } from "./communication_extraction.ts";

const entityLinks = table("communication_entity_links", "What each message is linked to, such as orders and vendors.", {
  type: text().nullable().describe("Kind of link, as the service names it; values not documented."),
  ref: text().nullable().describe("Reference that the link rests on; null where the service gives none."),
  score: score().nullable().describe("How well the message fits what it is linked to; the scale is not documented."),
  entity_type: text().nullable().describe("Kind of thing that is linked, as the service names it."),
  entity_id: id().nullable().describe("Identifier of the linked thing within its kind; null where it was not found."),
  reference_value: text().nullable().describe("Value that was found in the message and led to the link."),
});

const provenance = table("communication_provenance", "Where the service read what it knows about each message.", {
  fact_id: lineId(id()).describe("Fact that was read, assumed to be communication_facts.fact_id."),
  extraction_run_id: id().nullable().describe("Run of the extraction that read the fact; null where not known."),
  document_id: id().nullable().describe("Document that the fact was read from; null where it was none."),
  evidence_quote: personal(text()).nullable().describe("Words that the fact rests on, quoted from the source."),
  confidence: score().nullable().describe("How sure the service is of the fact; the scale is not documented."),
  fact_fingerprint: text().nullable().describe("Fingerprint of the fact's content, by which equal facts are told."),
  page_start: quantity().nullable().describe("Page on which the quoted passage begins; null where there are no pages."),
  page_end: quantity().nullable().describe("Page on which the quoted passage ends; null where there are no pages."),
  char_start: quantity().nullable().describe("Character at which the quoted passage begins; null where not known."),
  char_end: quantity().nullable().describe("Character at which the quoted passage ends; null where not known."),
});

const attachments = table("communication_attachments", "Documents that came with each message.", {
  doc_id: lineId(id()).describe("Document the attachment became, assumed to be documents.doc_id."),
  doc_type: text().nullable().describe("Kind of document, as the service names it; values not documented."),
  document_number: text().nullable().describe("Number printed on the document; null where none was read."),
  file_name: text().nullable().describe("Name of the attached file; null where it has none."),
  relation: text().nullable().describe("How the document belongs to the message, as the service names it."),
  mime_type: text().nullable().describe("Media type of the file, such as application/pdf; null where not known."),
  size_bytes: quantity().nullable().describe("Size of the file in bytes; null where not known."),
  total_amount: money(inRow("currency")).nullable().describe("Total on the document; null where it has none."),
  currency: text().nullable().describe("Currency of the document's total; null where none was read."),
  payment_terms: text().nullable().describe("Payment terms on the document, as printed; null where it has none."),
  document_date: date().nullable().describe("Date printed on the document; null where none was read."),
});

const unreadAttachments = table("communication_unread_attachments", "Attachments that the service could not read.", {
  filename: text().nullable().describe("Name of the file that was not read; null where it has none."),
  note: text().describe("What the service says about why the file was not read."),
});

/** One message in full: `GET /communications/{id}`. */
export const communicationDetail = record(
  "Each e-mail in full: text, sender, recipients and what the service read out of it.",
  {
    ...communicationFields,
    sender: z.object({
      email: personal(text()).nullable().describe("E-mail address of the sender; null where not known."),
      name: personal(text()).nullable().describe("Name of the sender as the mail gives it; null where it gives none."),
      title: personal(text()).nullable().describe("Position of the sender in the firm; null where not known."),
    }),
    entity_links: entityLinks,
    provenance,
    body_html: personal(text()).nullable().describe("Text of the message as HTML; null where it has none."),
    to_recipients: personal(list()).describe("Who the message was sent to, an array of texts kept as JSON."),
    thread_id: id().nullable().describe("Thread that the message belongs to; null where it stands alone."),
    attachments,
    unread_attachments: unreadAttachments,
    extracted: communicationExtraction,
    sender_source: text().nullable().describe("Where the sender was taken from, as the service names it."),
    forwarded_by: personal(text()).nullable().describe("Who forwarded the message; null where nobody did."),
    link_resolution: json().nullable().describe("How the links came about; content not documented, kept as JSON."),
    linked_po_link_id: id().nullable().describe("Identifier of the link to linked_po; null where there is none."),
  },
);
