import {
  count,
  date,
  flag,
  id,
  inRow,
  json,
  moment,
  money,
  percent,
  quantity,
  record,
  score,
  text,
  volatile,
} from "./fields.ts";

const inOwnCurrency = inRow("currency_code");

/** A row of the item list: `GET /items`. */
export const item = record(
  "Items the company buys, with what they cost and how they are delivered, over their history and trailing windows.",
  {
    item_id: id().describe("The service's identifier of the item; the key that the item_ tables share."),
    description: text().nullable().describe("What the item is, in words; null where nothing is known."),
    category: text().nullable().describe("Category the service sorts the item into; values not documented."),
    subcategory: text().nullable().describe("Finer category below category; values not documented."),
    sku: text()
      .nullable()
      .describe("Stock keeping number of the item; not documented to equal a part number on orders."),
    mpn: text().nullable().describe("The manufacturer's part number; null where it is not known."),
    uom: text().nullable().describe("Unit of measure that the item's quantities and prices refer to."),
    currency_code: text()
      .nullable()
      .describe("Currency of all the item's prices and spend; null where it is not known."),
    line_item_count: count().nullable().describe("How many document lines name the item."),
    document_count: count().nullable().describe("How many documents name the item."),
    vendor_count: count().nullable().describe("How many vendors the item is bought from."),
    total_qty: quantity().nullable().describe("Quantity bought in all, in the item's unit of measure."),
    avg_price: money(inOwnCurrency).nullable().describe("Average price of one unit; the period is not documented."),
    min_price: money(inOwnCurrency).nullable().describe("Lowest price of one unit; the period is not documented."),
    max_price: money(inOwnCurrency).nullable().describe("Highest price of one unit; the period is not documented."),
    total_spend_lifetime: money(inOwnCurrency).nullable().describe("Money spent on the item over its whole history."),
    total_spend_ttm: volatile(money(inOwnCurrency))
      .nullable()
      .describe("Money spent on the item in the trailing twelve months; moves by itself each day."),
    total_spend_30d: volatile(money(inOwnCurrency))
      .nullable()
      .describe("Money spent on the item in the last 30 days; moves by itself each day."),
    total_spend_90d: volatile(money(inOwnCurrency))
      .nullable()
      .describe("Money spent on the item in the last 90 days; moves by itself each day."),
    total_spend_365d: volatile(money(inOwnCurrency))
      .nullable()
      .describe("Money spent on the item in the last 365 days; moves by itself each day."),
    total_spend: money(inOwnCurrency)
      .nullable()
      .describe("Money spent on the item; the period is not documented, the other total_spend columns name theirs."),
    spend_rank_in_company: volatile(quantity())
      .nullable()
      .describe(
        "The item's place among the company's items by spend; moves when others do, so it never marks a row as changed.",
      ),
    price_variance_pct: percent()
      .nullable()
      .describe("How widely the item's prices spread, in the service's own percentage unit; formula not documented."),
    sourcing_strategy: text()
      .nullable()
      .describe("How the item is sourced, for example from one vendor or several; values not documented."),
    first_purchased: date().nullable().describe("Day of the item's first purchase; null where none is known."),
    last_purchased: date().nullable().describe("Day of the item's latest purchase; null where none is known."),
    last_unit_price: money(inOwnCurrency)
      .nullable()
      .describe("Price of one unit at the latest purchase; null where none is known."),
    price_trend_pct: percent()
      .nullable()
      .describe(
        "Direction and size of the price's movement, in the service's own percentage unit; period not documented.",
      ),
    avg_lead_time_days: quantity().nullable().describe("Average lead time in days; the period is not documented."),
    avg_lead_time_days_30d: volatile(quantity())
      .nullable()
      .describe("Average lead time in days over the last 30 days; moves by itself each day."),
    avg_lead_time_days_365d: volatile(quantity())
      .nullable()
      .describe("Average lead time in days over the last 365 days; moves by itself each day."),
    lead_time_p90: quantity()
      .nullable()
      .describe("90th percentile of the lead time, by its name in days; the period is not documented."),
    lead_time_observation_count: count().nullable().describe("How many deliveries the lead-time figures rest on."),
    on_time_pct: percent()
      .nullable()
      .describe("Share of deliveries on time, in the service's own percentage unit; the period is not documented."),
    on_time_pct_30d: volatile(percent())
      .nullable()
      .describe("Share of deliveries on time in the last 30 days; moves by itself each day."),
    on_time_pct_90d: volatile(percent())
      .nullable()
      .describe("Share of deliveries on time in the last 90 days; moves by itself each day."),
    on_time_pct_365d: volatile(percent())
      .nullable()
      .describe("Share of deliveries on time in the last 365 days; moves by itself each day."),
    delivery_count: count()
      .nullable()
      .describe("How many deliveries of the item are known; the period is not documented."),
    delivery_count_30d: volatile(count())
      .nullable()
      .describe("How many deliveries came in the last 30 days; moves by itself each day."),
    delivery_count_90d: volatile(count())
      .nullable()
      .describe("How many deliveries came in the last 90 days; moves by itself each day."),
    delivery_count_365d: volatile(count())
      .nullable()
      .describe("How many deliveries came in the last 365 days; moves by itself each day."),
    has_active_contract: flag()
      .nullable()
      .describe("Whether a contract for the item is in force; null where that is not known."),
    active_contract_count: count().nullable().describe("How many contracts for the item are in force."),
    criticality_class: text()
      .nullable()
      .describe("How critical the item is in the service's judgement; values not documented."),
    criticality_reasoning: text().nullable().describe("Why the service gave that criticality class, in words."),
    supply_risk_score: score()
      .nullable()
      .describe("How risky the item's supply is in the service's judgement; the scale is not documented."),
    supply_risk_reasoning: text().nullable().describe("Why the service gave that supply risk, in words."),
    seasonality_pattern: text()
      .nullable()
      .describe("Seasonal pattern the service sees in the item; values not documented."),
    seasonality_notes: text()
      .nullable()
      .describe("Remarks on the seasonal pattern, in words; null where there are none."),
    last_enriched_at: moment()
      .nullable()
      .describe("When the service last added its own judgements to the item; null if it never did."),
    intelligence_age_days: volatile(quantity())
      .nullable()
      .describe("Age in days of the service's analysis of the item; grows by itself each day."),
    has_active_intelligence: flag()
      .nullable()
      .describe("Whether the service has a current analysis of the item; null where that is not known."),
  },
);

/** What stands beside the rows of `GET /items`, taken from an unfiltered answer. */
export const itemsSummary = record("What the item list says of all items, measured once a day.", {
  stats: json().nullable().describe("Figures over the whole list; content not documented, kept as JSON."),
  currency_code: text().nullable().describe("Currency that the item list names as a whole; null where it names none."),
  view: json().nullable().describe("How the service presents the list; content not documented, kept as JSON."),
});
