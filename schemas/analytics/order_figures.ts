import { count, flag, json, percent, quantity, record, score } from "../fields.ts";

/** `GET /po/stats`. */
export const purchaseOrderStats = record("How many orders stand in each state, one row a day.", {
  total: count().describe("How many orders there are."),
  open: quantity().nullable().describe("How many orders are open; null where the service does not say."),
  past_due: quantity().nullable().describe("How many orders are past their date; null where the service does not say."),
  due_this_week: quantity()
    .nullable()
    .describe("How many orders are due this week; null where the service does not say."),
  unconfirmed: quantity()
    .nullable()
    .describe("How many orders no vendor confirmed; null where the service does not say."),
  in_transit: quantity().nullable().describe("How many orders are on their way; null where the service does not say."),
  closed: quantity().nullable().describe("How many orders are closed; null where the service does not say."),
});

/** `GET /po/matching-settings`. */
export const matchingSettings = record("How far an invoice may differ from its order, one row a day.", {
  price_tolerance_pct: percent().describe("How far prices may differ, in the service's own percentage unit."),
  tax_tolerance_pct: percent().describe("How far taxes may differ, in the service's own percentage unit."),
  qty_tolerance_pct: percent().describe("How far quantities may differ, in the service's own percentage unit."),
  desc_match_threshold: score().describe("From which likeness on two descriptions match; the scale is not documented."),
});

/** `GET /po/otif-settings`. */
export const otifSettings = record("When a delivery counts as on time, one row a day.", {
  late_tolerance_days: quantity().describe("Days that a delivery may be late."),
  early_tolerance_days: quantity().describe("Days that a delivery may be early."),
  penalize_early_delivery: flag().describe("Whether a delivery that comes too early counts against the vendor."),
  use_business_days: flag().describe("Whether only business days count."),
});

/** `GET /items/facets`. */
export const itemFacets = record("What the item list can be filtered by, one row a day.", {
  facets: json().describe("Filters and their values; content not documented, kept as JSON."),
});

/** `GET /items/stats`. */
export const itemStats = record("How many items are bought from how many vendors, one row a day.", {
  total_items: quantity().describe("How many items there are."),
  sole_source_count: count().describe("How many items come from one vendor."),
  dual_source_count: count().describe("How many items come from two vendors."),
  multi_source_count: count().describe("How many items come from more than two vendors."),
  active_contract_count: count().describe("How many items a contract in force covers."),
  high_variance_count: count().describe("How many items have strongly varying prices."),
});
