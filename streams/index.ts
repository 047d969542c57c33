import type { Stream, StreamGroup } from "../src/catalog/stream.ts";
import { analytics } from "./analytics/index.ts";
import { findings, findingsSummaries } from "./findings.ts";
import { ingested } from "./ingested.ts";
import { intake } from "./intake/index.ts";
import { intelligence } from "./intelligence/index.ts";
import { invoiceMatches, invoices } from "./invoices.ts";
import { items } from "./items.ts";
import { operations } from "./operations/index.ts";
import { purchaseOrderDetails, purchaseOrders } from "./purchase_orders.ts";
import { sourcing } from "./sourcing/index.ts";

/** The catalogue in run order: lists before the details that hang on them. */
export const groups: readonly StreamGroup[] = [
  { title: "Core", streams: [purchaseOrders, invoices, items, findings, findingsSummaries, ingested] },
  { title: "Core details", streams: [purchaseOrderDetails, invoiceMatches] },
  ...intelligence,
  ...sourcing,
  ...intake,
  ...operations,
  ...analytics,
];

export const streams: readonly Stream[] = groups.flatMap(group => group.streams);
