import { freightAudit, intermodalAudit } from "../../schemas/analytics/audit.ts";
import { carrierScorecards } from "../../schemas/analytics/carrier_scorecards.ts";
import { discounts } from "../../schemas/analytics/discounts.ts";
import { executiveSummary } from "../../schemas/analytics/executive_summary.ts";
import { freightSpend } from "../../schemas/analytics/freight_spend.ts";
import { spend } from "../../schemas/analytics/spend.ts";
import { defineStream, snapshot } from "../../src/catalog/stream.ts";
import { byPeriod } from "./periods.ts";

export const analyticsExecutiveSummary = defineStream({
  name: "analytics_executive_summary",
  path: "/analytics/executive-summary",
  mode: snapshot(),
  row: executiveSummary,
  key: ["observed_on"],
  preset: "standard",
});

export const analyticsSpend = defineStream({
  name: "analytics_spend",
  path: "/analytics/spend",
  mode: byPeriod,
  row: spend,
  key: ["observed_on", "period"],
  preset: "standard",
});

export const analyticsDiscounts = defineStream({
  name: "analytics_discounts",
  path: "/analytics/discounts",
  mode: byPeriod,
  row: discounts,
  key: ["observed_on", "period"],
  preset: "standard",
});

export const analyticsFreightSpend = defineStream({
  name: "analytics_freight_spend",
  path: "/analytics/freight-spend",
  mode: byPeriod,
  row: freightSpend,
  key: ["observed_on", "period"],
  preset: "standard",
});

export const analyticsFreightAudit = defineStream({
  name: "analytics_freight_audit",
  path: "/analytics/freight-audit",
  mode: byPeriod,
  row: freightAudit,
  key: ["observed_on", "period"],
  preset: "standard",
});

export const analyticsIntermodalAudit = defineStream({
  name: "analytics_intermodal_audit",
  path: "/analytics/intermodal-audit",
  mode: byPeriod,
  row: intermodalAudit,
  key: ["observed_on", "period"],
  preset: "standard",
});

export const analyticsCarrierScorecards = defineStream({
  name: "analytics_carrier_scorecards",
  path: "/analytics/carrier-scorecards",
  mode: byPeriod,
  row: carrierScorecards,
  key: ["observed_on", "period"],
  preset: "standard",
});
