import type { MakeDomain, World } from "../domain.ts";
import type { Source } from "../source.ts";
import { agentRuns } from "./agent_runs.ts";
import { anomalies } from "./anomalies.ts";
import { invoiceDetails, itemDetails, orderDetails } from "./details.ts";
import { findingRoutes } from "./findings.ts";
import { insightTotals } from "./insight_totals.ts";
import { insights } from "./insights.ts";
import { issues } from "./issues.ts";
import { negotiationRoutes } from "./negotiations.ts";
import { openItems } from "./open_items.ts";

/** Issues, anomalies, insights, negotiations, and what hangs on findings, invoices, orders and items. */
export const intelligenceDomain: MakeDomain = world => {
  const raised = issues(world);
  const flagged = anomalies(world);
  const { current, past, routes } = insights(world);
  const runs = agentRuns(world);
  const open = openItems(world);
  return {
    sources: {
      issues: raised.source,
      anomalies: flagged.source,
      insights: current,
      insight_history: past,
      procurement_intel_runs: runs.source,
      open_items: open.source,
    },
    routes: [
      raised.route,
      flagged.route,
      ...routes,
      ...insightTotals(world, current),
      ...runs.routes,
      open.route,
      ...findingRoutes(world, core(world, "findings")),
      ...negotiationRoutes(world),
      ...invoiceDetails(world, core(world, "invoices")),
      ...orderDetails(world, core(world, "purchase_orders")),
      ...itemDetails(world, core(world, "items")),
    ],
  };
};

function core({ sources }: World, name: string): Source {
  const source = sources[name];
  if (source === undefined)
    throw new Error(`expected a list ${name} to build on, got ${Object.keys(sources).join(", ")}`);
  return source;
}
