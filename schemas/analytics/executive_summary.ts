import { anyJson, count, inRow, money, percent, quantity, record, text } from "../fields.ts";

const ownCurrency = inRow("currency_code");

/** `GET /analytics/executive-summary`. */
export const executiveSummary = record("The few figures that management looks at, one row a day.", {
  currency_code: text().nullable().describe("Currency of the spend figures; null where the service names none."),
  total_spend: money(ownCurrency).nullable().describe("Money spent in the window of total_spend_window."),
  total_spend_window: anyJson()
    .nullable()
    .describe("Span of time that total_spend covers; content not documented, kept as JSON."),
  total_spend_basis: text()
    .nullable()
    .describe("What the spend rests on, as the service names it; values not documented."),
  otif_pct: percent()
    .nullable()
    .describe(
      "Share on time and in full, in the service's own percentage unit; of which deliveries is not documented.",
    ),
  otif_window: anyJson()
    .nullable()
    .describe("Span of time that the otif figures cover; content not documented, kept as JSON."),
  otif_deliveries: quantity().nullable().describe("Deliveries in the window of otif_window."),
  otif_on_time_deliveries: quantity().nullable().describe("Deliveries of the window that came on time."),
  otif_measured_deliveries: quantity().nullable().describe("Deliveries of the window that could be measured."),
  first_pass_match_rate: percent()
    .nullable()
    .describe("Share of invoices that matched at the first attempt; the unit is not documented."),
  first_pass_match_window: anyJson()
    .nullable()
    .describe("Span of time that the first-pass figures cover; content not documented, kept as JSON."),
  first_pass_matched: quantity().nullable().describe("Invoices that matched at the first attempt."),
  first_pass_match_eligible: quantity().nullable().describe("Invoices that could have matched at the first attempt."),
  value_surfaced: money(inRow("value_currency_code"))
    .nullable()
    .describe("Money that the service's findings brought up."),
  value_currency_code: text().nullable().describe("Currency of value_surfaced; null where the service names none."),
  open_exceptions: quantity().nullable().describe("How many exceptions are open."),
  active_contracts: quantity().nullable().describe("How many contracts are in force."),
  on_contract_spend_pct: percent()
    .nullable()
    .describe("Share of the spend that contracts cover, in the service's own percentage unit."),
  on_contract_spend: money(ownCurrency).nullable().describe("Spend that contracts cover."),
  total_spend_for_coverage: money(ownCurrency).nullable().describe("Spend that on_contract_spend_pct is a share of."),
  on_contract_item_count: count().nullable().describe("How many items contracts cover."),
  total_item_count: count().nullable().describe("How many items on_contract_item_count is counted among."),
});
