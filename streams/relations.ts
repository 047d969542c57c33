import { constructedRelations, type NoRelation, type Relation, relationsByName } from "../src/catalog/relation.ts";
import type { Stream } from "../src/catalog/stream.ts";

const ORDERS = { table: "purchase_orders", columns: ["po_number"] };
const INVOICES = { table: "invoices", columns: ["doc_id"] };
const DOCUMENTS = { table: "documents", columns: ["doc_id"] };
const VENDORS = { table: "dim_vendors", columns: ["vendor_id"] };

const assumed = { certainty: "assumed", toOne: true } as const;

const named: readonly Relation[] = [
  {
    ...assumed,
    from: { table: "invoices", columns: ["matched_po_number"] },
    to: ORDERS,
    refreshes: { to: ["purchase_order_details", "purchase_order_landed_cost"], from: ["invoice_matches"] },
    note: "One order at most: an invoice over several orders stands in purchase_order_linked_documents.",
  },
  {
    ...assumed,
    from: { table: "purchase_order_linked_documents", columns: ["doc_id"] },
    to: INVOICES,
    where: { column: "doc_type", values: ["invoice"] },
    note: "Only documents that are invoices; the service does not document the values of doc_type.",
  },
  {
    ...assumed,
    from: { table: "ingested", columns: ["id"] },
    to: INVOICES,
    where: { column: "row_type", values: ["document"] },
    kind: "type",
    refreshes: { to: ["invoice_matches", "invoice_timeline"] },
    note: "Only rows that are documents, and of those only invoices match; the values of row_type are not documented.",
  },
  {
    ...assumed,
    from: { table: "ingested", columns: ["id"] },
    to: DOCUMENTS,
    where: { column: "row_type", values: ["document"] },
    refreshes: { to: ["document_details", "document_threads"] },
    note: "Only rows that are documents; the service does not document the values of row_type.",
  },
  {
    ...assumed,
    from: { table: "findings", columns: ["po_number"] },
    to: ORDERS,
    refreshes: { to: ["purchase_order_details"] },
    note: "Null for findings that are not about one order.",
  },
  {
    ...assumed,
    from: { table: "findings", columns: ["doc_id"] },
    to: INVOICES,
    refreshes: { to: ["invoice_matches", "invoice_intelligence"] },
    note: "Null for findings that are not about one document; some documents are no invoices.",
  },
  {
    ...assumed,
    from: { table: "open_items", columns: ["po_number", "line_no"] },
    to: { table: "purchase_order_line_items", columns: ["po_number", "_line_id"] },
    refreshes: { to: ["purchase_order_details"] },
    note: "Null for lines without a number; one that stands on an order twice is no line's _line_id and matches none.",
  },
  {
    ...assumed,
    from: { table: "communications", columns: ["linked_po"] },
    to: ORDERS,
    refreshes: { to: ["purchase_order_details"] },
    note: "Null for mails that are not linked to an order.",
  },
  {
    ...assumed,
    from: { table: "invoice_gl_coding", columns: ["doc_id", "line_id"] },
    to: { table: "invoice_line_items", columns: ["doc_id", "_line_id"] },
    note: "An identifier that stands on an invoice twice is no line's _line_id and matches none.",
  },
];

/**
 * Which rows of these streams' tables belong together, and to what: guaranteed by the catalogue, or assumed and measured by
 * every run. Join along no others. The tables at the other end may belong to streams that were not given.
 */
export function relationsOf(streams: readonly Stream[]): readonly Relation[] {
  const names = new Set(
    streams.flatMap(({ tables: { main, children } }) => [main, ...children].map(table => table.name)),
  );
  return [
    ...constructedRelations(streams),
    ...named.filter(({ from }) => names.has(from.table)),
    ...relationsByName(
      streams,
      "vendor_id",
      VENDORS,
      "Null where the service resolved no vendor; vendor_name is a label and never a key.",
    ),
  ];
}

/** What invites to a join and must not be joined. */
export const noRelations: readonly NoRelation[] = [
  {
    from: { table: "invoices", columns: ["buyer_po_number"] },
    to: ORDERS,
    note: "The order's number as printed on the invoice, not as the service matched it: use matched_po_number.",
  },
  {
    from: { table: "purchase_order_line_items", columns: ["part_number"] },
    to: { table: "items", columns: ["sku"] },
    note: "Part numbers are the order's own: item_transactions is the only link between items and orders.",
  },
  {
    from: { table: "purchase_order_line_items", columns: ["manufacturer_part_number"] },
    to: { table: "items", columns: ["mpn"] },
    note: "Part numbers are the order's own: item_transactions is the only link between items and orders.",
  },
  {
    from: { table: "invoice_line_items", columns: ["line_no"] },
    to: { table: "purchase_order_line_items", columns: ["line_no"] },
    note: "The order's and the receipt's side stand on the invoice line itself.",
  },
];
