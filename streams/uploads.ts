import type { UploadFlow } from "../src/catalog/stream.ts";

/** How files are handed in, and where documents, mails and imports that came in are shown. */
export const uploads: UploadFlow = {
  initiate: "/ingest/initiate",
  finalize: "/ingest/finalize",
  record: { path: "/documents/{doc_id}", status: "processing_status", failed: ["*fail*", "*error*"] },
  list: "/documents",
  feed: { path: "/ingested", rows: "items", from: "date_from", id: "id", name: "title", status: "status" },
  results: { documents: "doc_id", ingested: "id", findings: "doc_id" },
};
