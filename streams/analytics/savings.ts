import { contractReview } from "../../schemas/analytics/contract_review.ts";
import { savings } from "../../schemas/analytics/savings.ts";
import { savingsEntry, savingsRollup as savingsRollupRow } from "../../schemas/analytics/savings_tracker.ts";
import { valueSurfaced } from "../../schemas/analytics/value_surfaced.ts";
import { defineStream, list, type PageColumn, snapshot } from "../../src/catalog/stream.ts";
import { listCurrency } from "../list_currency.ts";
import { byMonths } from "./periods.ts";

const latest: PageColumn = {
  name: "latest",
  kind: "json",
  field: "latest",
  description: "The latest review as the list shows it beside its rows; content not documented, kept as JSON.",
};

export const analyticsSavings = defineStream({
  name: "analytics_savings",
  path: "/analytics/savings",
  mode: byMonths,
  row: savings,
  key: ["observed_on", "months"],
  preset: "standard",
});

export const analyticsValueSurfaced = defineStream({
  name: "analytics_value_surfaced",
  path: "/analytics/value-surfaced",
  mode: byMonths,
  row: valueSurfaced,
  key: ["observed_on", "months"],
  preset: "standard",
});

export const contractReviews = defineStream({
  name: "contract_reviews",
  path: "/analytics/contract-reviews",
  mode: list({ rows: "history", pageColumns: [listCurrency, latest] }),
  row: contractReview,
  key: ["id"],
  preset: "standard",
});

export const savingsEntries = defineStream({
  name: "savings_entries",
  path: "/analytics/savings-tracker",
  mode: list({ rows: "entries", pageColumns: [listCurrency] }),
  row: savingsEntry,
  key: ["id"],
  preset: "standard",
});

export const savingsRollup = defineStream({
  name: "savings_rollup",
  path: "/analytics/savings-tracker",
  mode: snapshot({ omit: ["entries"] }),
  row: savingsRollupRow,
  key: ["observed_on"],
  preset: "standard",
});
