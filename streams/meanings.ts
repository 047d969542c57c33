import type { Meaning } from "../src/catalog/meaning.ts";

const invoices = { table: "invoices", amount: "total_amount" } as const;
const findings = {
  table: "findings",
  beside: "finding_lineage",
  leftOutOf: "savings still to be had",
  candidates: ["status", "verification_status"],
  amount: "surfaceable_savings_usd",
  withDeleted: true,
  most: 0.95,
} as const;

/** What the models take rows for. By which values, the configuration's `meanings` say. */
export const meanings: readonly Meaning[] = [
  {
    ...invoices,
    name: "credit",
    rows: "credits",
    leftOutOf: "spend, cash requirements and prices paid",
    candidates: ["doc_type"],
    most: 0.2,
  },
  {
    ...invoices,
    name: "paid",
    rows: "paid invoices",
    leftOutOf: "open payables",
    candidates: ["payment_status", "settlement_state", "final_status", "current_status"],
    most: 0.999,
  },
  { ...invoices, name: "held", rows: "invoices on hold", candidates: ["final_status", "current_status"], most: 0.95 },
  {
    name: "open",
    table: "purchase_orders",
    rows: "open orders",
    candidates: ["fulfillment_state", "delivery_standing"],
    amount: "total_amount",
    most: 1,
  },
  {
    name: "late",
    table: "purchase_order_line_items",
    rows: "late order lines",
    candidates: ["delivery_status"],
    amount: "line_total",
    most: 0.95,
  },
  {
    name: "processed",
    table: "ingested",
    rows: "processed documents",
    candidates: ["status"],
    amount: "total_amount",
    most: 1,
  },
  { ...findings, name: "dismissed", rows: "dismissed findings" },
  { ...findings, name: "resolved", rows: "resolved findings" },
];
