import type { Stream } from "../src/stream.ts";
import { findings, findingsSummaries } from "./findings.ts";
import { ingested } from "./ingested.ts";
import { invoiceMatches, invoices } from "./invoices.ts";
import { items } from "./items.ts";
import { purchaseOrderDetails, purchaseOrders } from "./purchase_orders.ts";

/** The catalogue in run order: lists before the details that hang on them. */
export const streams: readonly Stream[] = [
  purchaseOrders,
  invoices,
  items,
  findings,
  findingsSummaries,
  ingested,
  purchaseOrderDetails,
  invoiceMatches,
];
