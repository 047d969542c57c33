import { finding } from "../schemas/finding.ts";
import { findingsSummary } from "../schemas/findings_summary.ts";
import { defineStream, feed, snapshot } from "../src/catalog/stream.ts";
import { bothWays } from "./both_ways.ts";
import { listCurrency } from "./list_currency.ts";

const pace = { fullScanPages: 100, fullScanEveryDays: 7, lookbackDays: 1 };

export const findings = defineStream({
  name: "findings",
  path: "/findings",
  mode: feed({
    rows: "findings",
    pageColumns: [listCurrency],
    highWaterColumn: "created_at",
    narrow: { by: "window", parameter: "detected_within", days: [1, 7, 30, 90] },
    // The list's own order, by category and amount, has no opposite.
    sortedBy: { sort_by: "document_date" },
    orders: bothWays,
    ...pace,
  }),
  row: finding,
  key: ["finding_item_id"],
  preset: "core",
});

// Measured from a request of its own: a page narrowed by detected_within counts only what it shows.
export const findingsSummaries = defineStream({
  name: "findings_summary",
  path: "/findings",
  query: { limit: "1" },
  mode: snapshot({ omit: ["findings"] }),
  row: findingsSummary,
  key: ["observed_on"],
  preset: "core",
});
