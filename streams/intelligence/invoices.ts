import { invoiceAmendment } from "../../schemas/intelligence/invoice_amendment.ts";
import {
  invoiceGlCoding,
  invoiceIntelligence,
  invoiceStatusChange,
  invoiceTimelineEntry,
} from "../../schemas/intelligence/invoice_records.ts";
import { defineStream, detail } from "../../src/catalog/stream.ts";
import { amendmentsBeside, glCodingBeside, statusHistoryBeside } from "./beside_rows.ts";

const ofInvoices = { of: "invoices", newest: "document_date" };

export const glCodings = defineStream({
  name: "invoice_gl_coding",
  path: "/reconciliation/{doc_id}/gl-coding",
  mode: detail({ ...ofInvoices, rows: "rows", pageColumns: glCodingBeside }),
  row: invoiceGlCoding,
  key: ["doc_id", "line_id"],
  preset: "all",
});

export const statusHistory = defineStream({
  name: "invoice_status_history",
  path: "/reconciliation/{doc_id}/history",
  mode: detail({ ...ofInvoices, rows: "history", pageColumns: statusHistoryBeside }),
  row: invoiceStatusChange,
  key: ["doc_id", "id"],
  preset: "all",
});

export const timeline = defineStream({
  name: "invoice_timeline",
  path: "/reconciliation/{doc_id}/timeline",
  mode: detail({ ...ofInvoices, rows: "timeline" }),
  row: invoiceTimelineEntry,
  key: ["doc_id", "_index"],
  preset: "all",
});

export const intelligence = defineStream({
  name: "invoice_intelligence",
  path: "/invoices/{doc_id}/intelligence",
  mode: detail(ofInvoices),
  row: invoiceIntelligence,
  key: ["doc_id"],
  preset: "all",
});

export const amendments = defineStream({
  name: "invoice_amendments",
  path: "/invoices/{invoice_number}/amendments",
  mode: detail({ of: "invoices", by: "document_number", rows: "amendments", pageColumns: amendmentsBeside }),
  row: invoiceAmendment,
  key: ["invoice_number", "id"],
  preset: "all",
});
