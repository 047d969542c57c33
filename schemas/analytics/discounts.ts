import { z } from "zod";
import { count, flag, id, inRow, inTable, money, named, percent, record, table, text } from "../fields.ts";

const answerCurrency = inTable("analytics_discounts", "currency_code", "observed_on, period");

const overTime = table("analytics_discounts_over_time", "Early payment discounts taken and missed by month.", {
  month: text().describe("Month that is counted, as the service writes it."),
  captured: money(answerCurrency).nullable().describe("Discounts taken in the month."),
  missed: money(answerCurrency).nullable().describe("Discounts that lapsed in the month."),
  captured_count: count().nullable().describe("How many discounts were taken in the month."),
  missed_count: count().nullable().describe("How many discounts lapsed in the month."),
});

const byVendor = table("analytics_discounts_by_vendor", "Early payment discounts taken and missed by vendor.", {
  vendor_id: id().nullable().describe("Vendor that offered the discounts; null where the service resolved none."),
  vendor_name: text().describe("Vendor's name as a label, never to be joined on."),
  captured: money(answerCurrency).nullable().describe("Discounts of the vendor that were taken."),
  missed: money(answerCurrency).nullable().describe("Discounts of the vendor that lapsed."),
  captured_count: count().nullable().describe("How many of the vendor's discounts were taken."),
  missed_count: count().nullable().describe("How many of the vendor's discounts lapsed."),
  capture_rate_pct: percent()
    .nullable()
    .describe("Share of the vendor's discounts that was taken, in the service's own percentage unit."),
});

/** `GET /analytics/discounts`. */
export const discounts = record("Early payment discounts over a trailing window, one row a day and period.", {
  currency_code: text().nullable().describe("Currency of the discounts; null where the service names none."),
  totals: z.object({
    total_captured: money(inRow("currency_code")).nullable().describe("Discounts taken in the window."),
    total_missed: money(inRow("currency_code")).nullable().describe("Discounts that lapsed in the window."),
    captured_count: count().nullable().describe("How many discounts were taken in the window."),
    missed_count: count().nullable().describe("How many discounts lapsed in the window."),
    capture_rate_pct: percent()
      .nullable()
      .describe("Share of the discounts that was taken, in the service's own percentage unit."),
    eligible_count: count().nullable().describe("How many invoices could still be paid with a discount."),
    expiring_soon_count: count().nullable().describe("How many of the open discounts lapse soon."),
    pipeline_savings: money(inRow("currency_code")).nullable().describe("Discounts that can still be taken."),
    payment_data_available: flag()
      .nullable()
      .describe("Whether the service knows payments, without which it cannot tell taken from missed."),
  }),
  over_time: overTime,
  by_vendor: byVendor,
  period: named("period_", text()).describe(
    "The period as the answer names it; the column period says what was asked.",
  ),
});
