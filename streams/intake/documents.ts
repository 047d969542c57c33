import { document, documentDetail, documentThread } from "../../schemas/intake/document.ts";
import { documentWorkbook } from "../../schemas/intake/document_workbook.ts";
import { ANYWHERE, defineStream, detail, scan } from "../../src/catalog/stream.ts";
import { bothWays } from "../both_ways.ts";

// Where the rows stand is not documented.
export const documents = defineStream({
  name: "documents",
  path: "/documents",
  mode: scan({ rows: ANYWHERE, confirm: "/documents/{doc_id}", orders: bothWays }),
  row: document,
  key: ["doc_id"],
  preset: "standard",
});

export const documentDetails = defineStream({
  name: "document_details",
  path: "/documents/{doc_id}",
  mode: detail({ of: "documents" }),
  row: documentDetail,
  key: ["doc_id"],
  preset: "all",
});

export const documentThreads = defineStream({
  name: "document_threads",
  path: "/documents/{doc_id}/threads",
  mode: detail({ of: "documents", rows: "threads" }),
  row: documentThread,
  key: ["doc_id", "thread_id"],
  preset: "all",
});

export const documentWorkbooks = defineStream({
  name: "document_workbooks",
  path: "/documents/{doc_id}/workbook",
  mode: detail({ of: "documents" }),
  row: documentWorkbook,
  key: ["doc_id"],
  preset: "all",
});
