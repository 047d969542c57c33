import { z } from "zod";
import { id, json, lineId, quantity, record, table, text } from "../fields.ts";

const sheets = table("document_workbook_sheets", "The sheets of each workbook and what became of them.", {
  sheet_index: quantity().nullable().describe("Place of the sheet in its workbook, as the service counts."),
  sheet_name: lineId(text()).nullable().describe("Name of the sheet as the workbook gives it; null where it has none."),
  kind: text().describe("What the sheet holds, as the service names it; values not documented."),
  child_doc_id: id()
    .nullable()
    .describe("Document that the sheet became, assumed to be documents.doc_id; null where it became none."),
  doc_type: text().nullable().describe("Kind of document that the sheet became; null where it became none."),
  document_number: text().nullable().describe("Document number found on the sheet; null where there is none."),
  processing_status: text().nullable().describe("Where the sheet's processing stands; values not documented."),
  import: json().nullable().describe("What was imported from the sheet; content not documented, kept as JSON."),
  grid: json().nullable().describe("Cells of the sheet; content not documented, kept as JSON."),
});

/** `GET /documents/{doc_id}/workbook`. */
export const documentWorkbook = record("Each document as a workbook, with its sheets in document_workbook_sheets.", {
  workbook: z.object({
    doc_id: id().describe("Document that the workbook is, as the workbook's own record names it."),
    file_name: text()
      .nullable()
      .describe("What the spreadsheet was called when it came in; null where that is not known."),
    source: text().nullable().describe("Way the workbook came in, as the service names it."),
    mime_type: text().nullable().describe("Media type of the workbook's file; null where not known."),
    doc_type: text().nullable().describe("Kind of document the workbook is, as the service names it."),
    processing_status: text().nullable().describe("Where the workbook's processing stands; values not documented."),
    origin: json().describe("Where the workbook comes from; content not documented, kept as JSON."),
  }),
  sheets,
});
