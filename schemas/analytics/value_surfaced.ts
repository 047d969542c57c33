import { z } from "zod";
import { count, flag, inRow, inTable, json, lineId, money, quantity, record, table, text } from "../fields.ts";

const answerCurrency = inTable("analytics_value_surfaced", "currency_code", "observed_on, months");
const amount = () => money(inRow("currency_code")).nullable();

/** `GET /analytics/value-surfaced`. */
export const valueSurfaced = record("Money the service brought up over a trailing window, one row a day and months.", {
  currency_code: text().describe("Currency of the amounts."),
  currency_complete: flag().describe("Whether every event could be put into the answer's currency."),
  unresolved_currency_events: count().describe("Events whose currency could not be told."),
  window: z.object({
    months: count().nullable().describe("How many months the measured window has; null where it is not limited."),
    label: text().describe("Name of the measured window for display."),
    undated_events: count().describe("Events without a date, which no window can hold."),
  }),
  metric_backing: json().nullable().describe("What the figures rest on; content not documented, kept as JSON."),
  totals: z.object({
    total_value: amount().describe("All money that was brought up."),
    verified_value: amount().describe("Money brought up that somebody has verified."),
    identified_value: amount().describe("Money brought up that has been identified only."),
    recovered_value: amount().describe("Money brought up that came back."),
    total_events: quantity().nullable().describe("How many events brought up money."),
    total_docs: quantity().nullable().describe("How many documents the events came from."),
  }),
  categories: table("analytics_value_surfaced_categories", "Money brought up by category, one set of rows a day.", {
    key: lineId(text()).describe("Key of the category, as the service names it; values not documented."),
    label: text().describe("Name of the category for display."),
    total: money(answerCurrency).nullable().describe("Money brought up in the category."),
    events: count().describe("How many events the category has."),
  }),
  monthly: table("analytics_value_surfaced_monthly", "Money brought up by month, one set of rows a day.", {
    month: lineId(text()).describe("Month that is counted, as the service writes it."),
    total: money(answerCurrency).nullable().describe("Money brought up in the month."),
    events: quantity().nullable().describe("How many events the month has."),
  }),
});
