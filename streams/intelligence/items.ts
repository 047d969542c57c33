import {
  itemIntelligence,
  itemInvoiceRollup,
  itemLinkedDocument,
  itemPricePoint,
  itemTransaction,
} from "../../schemas/intelligence/item_records.ts";
import { itemSourcing } from "../../schemas/intelligence/item_sourcing.ts";
import { defineStream, detail } from "../../src/catalog/stream.ts";
import { linkedDocumentsBeside, priceHistoryBeside } from "./beside_rows.ts";

const ofItems = { of: "items", newest: "last_purchased" };

export const sourcing = defineStream({
  name: "item_sourcing",
  path: "/items/{item_id}/vendors",
  mode: detail(ofItems),
  row: itemSourcing,
  key: ["item_id"],
  preset: "all",
});

export const priceHistory = defineStream({
  name: "item_price_history",
  path: "/items/{item_id}/price-history",
  mode: detail({ ...ofItems, rows: "history", pageColumns: priceHistoryBeside }),
  row: itemPricePoint,
  key: ["item_id", "_index"],
  preset: "all",
});

export const transactions = defineStream({
  name: "item_transactions",
  path: "/items/{item_id}/transactions",
  mode: detail({ ...ofItems, rows: "transactions" }),
  row: itemTransaction,
  key: ["item_id", "_index"],
  preset: "all",
});

export const invoiceRollup = defineStream({
  name: "item_po_invoice_rollup",
  path: "/items/{item_id}/transactions",
  mode: detail({ ...ofItems, rows: "po_invoice_rollup" }),
  row: itemInvoiceRollup,
  key: ["item_id", "_index"],
  preset: "all",
});

// `documents` in the same answer holds the same rows again.
export const linkedDocuments = defineStream({
  name: "item_linked_documents",
  path: "/items/{item_id}/linked-documents",
  mode: detail({ ...ofItems, rows: "linked_documents", pageColumns: linkedDocumentsBeside }),
  row: itemLinkedDocument,
  key: ["item_id", "_index"],
  preset: "all",
});

export const itemAccounts = defineStream({
  name: "item_intelligence",
  path: "/items/{item_id}/intelligence",
  mode: detail(ofItems),
  row: itemIntelligence,
  key: ["item_id"],
  preset: "all",
});
