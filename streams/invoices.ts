import { invoice } from "../schemas/invoice.ts";
import { invoiceMatch } from "../schemas/invoice_match.ts";
import { defineStream, detail, scan } from "../src/catalog/stream.ts";

export const invoices = defineStream({
  name: "invoices",
  path: "/reconciliation",
  mode: scan({ rows: "invoices" }),
  row: invoice,
  key: ["doc_id"],
  preset: "core",
});

export const invoiceMatches = defineStream({
  name: "invoice_matches",
  path: "/reconciliation/{doc_id}/line-items",
  mode: detail({ of: "invoices", newest: "document_date" }),
  row: invoiceMatch,
  key: ["doc_id"],
  preset: "core",
});
