import { z } from "zod";
import { count, flag, id, inRow, inTable, lineId, money, named, percent, record, table, text } from "../fields.ts";

const answerCurrency = inTable("analytics_discounts", "currency_code", "observed_on, period");

const overTime = table(
  "analytics_discounts_over_time",
  "Discounts captured and missed by month, as the service counts them.",
  {
    month: lineId(text()).describe("Month that is counted, as the service writes it."),
    captured: money(answerCurrency).nullable().describe("Discounts captured in the month."),
    missed: money(answerCurrency).nullable().describe("Discounts missed in the month."),
    captured_count: count().nullable().describe("How many discounts were captured in the month."),
    missed_count: count().nullable().describe("How many discounts were missed in the month."),
  },
);

const byVendor = table(
  "analytics_discounts_by_vendor",
  "Discounts captured and missed by vendor, as the service counts them.",
  {
    vendor_id: lineId(id()).nullable().describe("Vendor of the discounts; null where the service resolved none."),
    vendor_name: text().describe("Vendor's name as a label, never to be joined on."),
    captured: money(answerCurrency).nullable().describe("Discounts of the vendor that were captured."),
    missed: money(answerCurrency).nullable().describe("Discounts of the vendor that were missed."),
    captured_count: count().nullable().describe("How many of the vendor's discounts were captured."),
    missed_count: count().nullable().describe("How many of the vendor's discounts were missed."),
    capture_rate_pct: percent()
      .nullable()
      .describe("Share of the vendor's discounts that was captured, in the service's own percentage unit."),
  },
);

/** `GET /analytics/discounts`. */
export const discounts = record("Discounts captured and missed over a trailing window, one row a day and period.", {
  currency_code: text().nullable().describe("Currency of the discounts; null where the service names none."),
  totals: z.object({
    total_captured: money(inRow("currency_code")).nullable().describe("Discounts captured in the window."),
    total_missed: money(inRow("currency_code")).nullable().describe("Discounts missed in the window."),
    captured_count: count().nullable().describe("How many discounts were captured in the window."),
    missed_count: count().nullable().describe("How many discounts were missed in the window."),
    capture_rate_pct: percent()
      .nullable()
      .describe("Share of the discounts that was captured, in the service's own percentage unit."),
    eligible_count: count()
      .nullable()
      .describe("How many discounts could be had, going by the name; what is counted is not documented."),
    expiring_soon_count: count()
      .nullable()
      .describe("How many discounts lapse before long, going by the name; how soon is not documented."),
    pipeline_savings: money(inRow("currency_code"))
      .nullable()
      .describe("Savings in the pipeline; what the service counts as such is not documented."),
    payment_data_available: flag().nullable().describe("Whether the service has payment data, as it says itself."),
  }),
  over_time: overTime,
  by_vendor: byVendor,
  period: named("period_", text()).describe(
    "The period as the answer names it; the column period says what was asked.",
  ),
});
