import type { StreamGroup } from "../../src/catalog/stream.ts";
import { itemSummaries } from "../items.ts";
import { analyticsOtif, analyticsOtifByVendor, analyticsOtifTrend } from "./deliveries.ts";
import {
  briefing,
  invoiceCashFlow,
  invoiceFacets,
  invoicePaymentFunnel,
  invoiceStats,
  invoiceVendors,
  itemFacets,
  itemStats,
  purchaseOrderStats,
} from "./figures.ts";
import { laneIntelligence, vendorCompleteness } from "./questions.ts";
import { analyticsSavings, analyticsValueSurfaced, contractReviews, savingsEntries, savingsRollup } from "./savings.ts";
import { matchingSettings, otifSettings } from "./settings.ts";
import {
  analyticsCarrierScorecards,
  analyticsDiscounts,
  analyticsExecutiveSummary,
  analyticsFreightAudit,
  analyticsFreightSpend,
  analyticsIntermodalAudit,
  analyticsSpend,
} from "./spending.ts";
import { analyticsTariffExposure, analyticsTariffGaps, exposure } from "./tariffs.ts";

/** In run order: lists before the details that hang on them. */
export const analytics: readonly StreamGroup[] = [
  {
    title: "Analytics",
    streams: [
      analyticsExecutiveSummary,
      analyticsSpend,
      analyticsDiscounts,
      analyticsFreightSpend,
      analyticsFreightAudit,
      analyticsIntermodalAudit,
      analyticsCarrierScorecards,
      laneIntelligence,
      analyticsOtif,
      analyticsOtifByVendor,
      analyticsOtifTrend,
      analyticsTariffExposure,
      analyticsTariffGaps,
      exposure,
    ],
  },
  {
    title: "Savings",
    streams: [analyticsSavings, analyticsValueSurfaced, savingsEntries, savingsRollup, contractReviews],
  },
  {
    title: "Figures of orders, invoices and items",
    streams: [
      briefing,
      purchaseOrderStats,
      itemFacets,
      itemStats,
      itemSummaries,
      invoiceStats,
      invoiceFacets,
      invoiceVendors,
      invoiceCashFlow,
      invoicePaymentFunnel,
      vendorCompleteness,
    ],
  },
  { title: "Matching and delivery settings", streams: [matchingSettings, otifSettings] },
];
