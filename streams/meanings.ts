import type { Meaning } from "../src/catalog/meaning.ts";

/** What the models take rows for. By which values, the configuration's `meanings` say. */
export const meanings: readonly Meaning[] = [
  {
    name: "credit",
    table: "invoices",
    rows: "credits",
    leftOutOf: "spend, cash requirements and prices paid",
    most: 0.2,
  },
  { name: "paid", table: "invoices", rows: "paid invoices", most: 0.999 },
  { name: "held", table: "invoices", rows: "invoices on hold", most: 0.95 },
  { name: "open", table: "purchase_orders", rows: "open orders", most: 1 },
  { name: "late", table: "purchase_order_line_items", rows: "late order lines", most: 0.95 },
  {
    name: "dismissed",
    table: "findings",
    beside: "finding_lineage",
    rows: "dismissed findings",
    leftOutOf: "savings still to be had",
    most: 0.95,
  },
  {
    name: "resolved",
    table: "findings",
    beside: "finding_lineage",
    rows: "resolved findings",
    leftOutOf: "savings still to be had",
    most: 0.95,
  },
];
