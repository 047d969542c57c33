import { z } from "zod";
import { count, id, inRow, inTable, lineId, money, named, percent, record, table, text } from "../fields.ts";

const answerCurrency = inTable("analytics_spend", "currency_code", "observed_on, period");

/** `GET /analytics/spend`. */
export const spend = record("What was spent over a trailing window, one row a day and period.", {
  currency_code: text().nullable().describe("Currency of the amounts; null where the service names none."),
  spend_over_time: table("analytics_spend_over_time", "Money spent by month, one set of rows a day.", {
    month: lineId(text()).describe("Month that is counted, as the service writes it."),
    total_spend: money(answerCurrency).nullable().describe("Money spent in the month."),
    invoice_count: count().nullable().describe("How many invoices the month has."),
  }),
  spend_by_vendor: table("analytics_spend_by_vendor", "Money spent by vendor, one set of rows a day.", {
    vendor_id: lineId(id()).nullable().describe("Vendor that was paid; null where the service resolved none."),
    vendor_name: text().describe("Vendor's name as a label, never to be joined on."),
    total_spend: money(answerCurrency).nullable().describe("Money spent with the vendor."),
    invoice_count: count().nullable().describe("How many invoices the vendor sent."),
    spend_pct: percent().nullable().describe("The vendor's share of the spend, in the service's own percentage unit."),
  }),
  spend_by_category: table("analytics_spend_by_category", "Money spent by category, one set of rows a day.", {
    category: lineId(text()).describe("Category of what was bought, as the service names it."),
    total_spend: money(answerCurrency).nullable().describe("Money spent in the category."),
    invoice_count: count().nullable().describe("How many invoices have something of the category."),
  }),
  trends: z.object({
    current_total: money(inRow("currency_code")).nullable().describe("Money spent in the window."),
    previous_total: money(inRow("currency_code")).nullable().describe("Money spent in the window before."),
    change_pct: percent()
      .nullable()
      .describe("Change of the spend against the window before, in the service's own percentage unit."),
    current_invoice_count: count().nullable().describe("How many invoices the window has."),
    previous_invoice_count: count().nullable().describe("How many invoices the window before had."),
  }),
  concentration: z.object({
    top5_pct: percent()
      .nullable()
      .describe("Share of the spend with the five largest vendors, in the service's own percentage unit."),
    top10_pct: percent()
      .nullable()
      .describe("Share of the spend with the ten largest vendors, in the service's own percentage unit."),
    grand_total: money(inRow("currency_code")).nullable().describe("Spend that the vendors' shares are taken of."),
    vendor_count: count().nullable().describe("How many vendors money was spent with."),
  }),
  period: named("period_", text()).describe(
    "The period as the answer names it; the column period says what was asked.",
  ),
  base_currency: text().nullable().describe("The company's base currency; null where the service names none."),
});
