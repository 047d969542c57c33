import { insight, pastInsight } from "../../schemas/intelligence/insight.ts";
import { insightRun } from "../../schemas/intelligence/insight_run.ts";
import { insightStats, insightTrends } from "../../schemas/intelligence/insight_totals.ts";
import { procurementIntelRun, procurementIntelSummary } from "../../schemas/intelligence/procurement_intel.ts";
import { defineStream, detail, list, scan, snapshot } from "../../src/catalog/stream.ts";
import { listCurrency } from "../list_currency.ts";

export const insights = defineStream({
  name: "insights",
  path: "/insights",
  mode: scan({ rows: "insights", absence: "left", pageColumns: [listCurrency] }),
  row: insight,
  key: ["insight_id"],
  preset: "standard",
});

export const insightHistory = defineStream({
  name: "insight_history",
  path: "/insights/history",
  mode: scan({ rows: "insights", absence: "kept", pageColumns: [listCurrency] }),
  row: pastInsight,
  key: ["insight_id", "_index"],
  preset: "standard",
});

export const insightRuns = defineStream({
  name: "insight_runs",
  path: "/insights/runs/{run_id}",
  mode: detail({ of: "insights", by: "run_id", everyDays: 7 }),
  row: insightRun,
  key: ["run_id"],
  preset: "standard",
});

export const insightStatistics = defineStream({
  name: "insight_stats",
  path: "/insights/stats",
  mode: snapshot(),
  row: insightStats,
  key: ["observed_on"],
  preset: "standard",
});

export const insightTrend = defineStream({
  name: "insight_trends",
  path: "/insights/trends",
  mode: snapshot(),
  row: insightTrends,
  key: ["observed_on"],
  preset: "standard",
});

export const procurementIntelRuns = defineStream({
  name: "procurement_intel_runs",
  path: "/procurement-intel/runs",
  mode: list({ rows: "runs", limit: 100, absence: "kept" }),
  row: procurementIntelRun,
  key: ["run_id"],
  preset: "standard",
});

export const procurementIntelSummaries = defineStream({
  name: "procurement_intel_summary",
  path: "/procurement-intel/summary",
  mode: snapshot(),
  row: procurementIntelSummary,
  key: ["observed_on"],
  preset: "standard",
});
