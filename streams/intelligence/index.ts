import type { StreamGroup } from "../../src/catalog/stream.ts";
import {
  anomalies,
  findingDrafts,
  findingIntelligence,
  findingLineages,
  findingStatistics,
  issueSummaries,
  issues,
} from "./findings.ts";
import {
  insightHistory,
  insightRuns,
  insightStatistics,
  insights,
  insightTrend,
  procurementIntelRuns,
  procurementIntelSummaries,
} from "./insights.ts";
import { amendments, glCodings, intelligence as invoiceIntelligence, statusHistory, timeline } from "./invoices.ts";
import { invoiceRollup, itemAccounts, linkedDocuments, priceHistory, sourcing, transactions } from "./items.ts";
import { negotiationBriefs, negotiationDetails, negotiationStatistics } from "./negotiations.ts";
import {
  asOf,
  blanketReleases,
  changeOrders,
  landedCost,
  openItemSummaries,
  openItems,
  promises,
} from "./purchase_orders.ts";

/** In run order: lists before the details that hang on them. */
export const intelligence: readonly StreamGroup[] = [
  {
    title: "Findings, issues and insights",
    streams: [
      issues,
      issueSummaries,
      anomalies,
      findingStatistics,
      findingLineages,
      findingDrafts,
      findingIntelligence,
      insights,
      insightHistory,
      insightRuns,
      insightStatistics,
      insightTrend,
      procurementIntelRuns,
      procurementIntelSummaries,
    ],
  },
  { title: "Negotiations", streams: [negotiationStatistics, negotiationDetails, negotiationBriefs] },
  {
    title: "Purchase orders: further details",
    streams: [openItems, openItemSummaries, changeOrders, blanketReleases, landedCost, promises, asOf],
  },
  {
    title: "Invoices: further details",
    streams: [glCodings, statusHistory, timeline, invoiceIntelligence, amendments],
  },
  {
    title: "Items: further details",
    streams: [sourcing, priceHistory, transactions, invoiceRollup, linkedDocuments, itemAccounts],
  },
];
