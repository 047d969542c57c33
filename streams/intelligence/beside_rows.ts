import type { PageColumn } from "../../src/catalog/stream.ts";

/** What stands beside the lines of `GET /reconciliation/{doc_id}/gl-coding`. */
export const glCodingBeside: readonly PageColumn[] = [
  {
    name: "summary_coded_lines",
    kind: "quantity",
    field: "summary.coded_lines",
    description: "How many of the invoice's lines are coded; the same on each of its rows.",
  },
  {
    name: "summary_total_lines",
    kind: "quantity",
    field: "summary.total_lines",
    description: "How many lines the invoice has; the same on each of its rows.",
  },
  {
    name: "summary_all_coded",
    kind: "flag",
    field: "summary.all_coded",
    description: "Whether all lines of the invoice are coded; the same on each of its rows.",
  },
  {
    name: "payment_status",
    kind: "text",
    field: "payment_status",
    description: "Whether the invoice is paid, as the service names it; the same on each of its rows.",
  },
];

/** What stands beside the steps of `GET /reconciliation/{doc_id}/history`. */
export const statusHistoryBeside: readonly PageColumn[] = [
  {
    name: "current_status",
    kind: "text",
    field: "current_status",
    description: "Where the invoice stands at present; the same on each of its rows.",
  },
  {
    name: "status_changed_by",
    kind: "text",
    field: "status_changed_by",
    personal: true,
    description: "Who brought the invoice where it stands; the same on each of its rows.",
  },
  {
    name: "status_changed_at",
    kind: "moment",
    field: "status_changed_at",
    description: "When the invoice came to stand there; the same on each of its rows.",
  },
];

/** What stands beside the changes of `GET /invoices/{invoice_number}/amendments`. */
export const amendmentsBeside: readonly PageColumn[] = [
  {
    name: "total",
    kind: "count",
    field: "total",
    description: "How many changes the invoice has seen; the same on each of its rows.",
  },
];

/** What stands beside the points of `GET /items/{item_id}/price-history`. */
export const priceHistoryBeside: readonly PageColumn[] = [
  {
    name: "currency_code",
    kind: "text",
    field: "currency_code",
    description: "Currency that the item's price history names for its prices; null where it names none.",
  },
];

/** What stands beside the rows of `GET /items/{item_id}/linked-documents`. */
export const linkedDocumentsBeside: readonly PageColumn[] = [
  {
    name: "total",
    kind: "count",
    field: "total",
    description: "How many documents are linked to the item; the same on each of its rows.",
  },
];
