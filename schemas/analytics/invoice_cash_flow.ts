import { z } from "zod";
import { count, date, inRow, inTable, lineId, money, record, table, text } from "../fields.ts";

const answerCurrency = inTable("invoice_cash_flow", "currency_code", "observed_on");
const ownCurrency = inRow("currency_code");

const due = {
  total_due: money(answerCurrency).describe("What is due in the span."),
  approved_due: money(answerCurrency).describe("What is due in the span and approved."),
  pending_approval_due: money(answerCurrency).describe("What is due in the span and waits for approval."),
  invoice_count: count().describe("How many invoices are due in the span."),
};

const buckets = table("invoice_cash_flow_buckets", "What is due by span of time, one set of rows a day.", {
  bucket_type: text().describe("What kind of span it is, as the service names it; values not documented."),
  week_start: date().nullable().describe("First day of the week; null for a span that is no week."),
  week_end: date().nullable().describe("Last day of the week; null for a span that is no week."),
  bucket_start: date().nullable().describe("First day of the span; null where it has no beginning."),
  bucket_end: date().nullable().describe("Last day of the span; null where it has no end."),
  ...due,
});

const monthlyBuckets = table("invoice_cash_flow_monthly_buckets", "What is due by month, one set of rows a day.", {
  bucket_type: text().describe("What kind of span it is, as the service names it; values not documented."),
  bucket_start: date().nullable().describe("First day of the span; null where it has no beginning."),
  bucket_end: date().nullable().describe("Last day of the span; null where it has no end."),
  ...due,
});

const discountOpportunities = table(
  "invoice_cash_flow_discount_opportunities",
  "Discounts that can still be taken, by the week they lapse, one set of rows a day.",
  {
    deadline_week: lineId(text()).nullable().describe("Week in which the discounts lapse, as the service writes it."),
    capturable: money(answerCurrency).describe("Discounts that can be taken until then."),
    invoice_count: count().describe("How many invoices the discounts are on."),
  },
);

/** `GET /reconciliation/cash-flow`. */
export const invoiceCashFlow = record("What invoices will cost when, one row a day.", {
  currency_code: text().nullable().describe("Currency of the amounts; null where the service names none."),
  buckets,
  monthly_buckets: monthlyBuckets,
  discount_opportunities: discountOpportunities,
  summary: z.object({
    overdue: money(ownCurrency).describe("What should have been paid already."),
    next_7d: money(ownCurrency).describe("What is due within seven days."),
    next_30d: money(ownCurrency).describe("What is due within thirty days."),
    next_90d: money(ownCurrency).describe("What is due within ninety days."),
    total_outstanding: money(ownCurrency).describe("All that is not paid yet."),
    pending_approval_total: money(ownCurrency).describe("Total of the invoices that wait for approval."),
    discount_capturable: money(ownCurrency).describe("Discounts that can still be taken."),
    discount_capturable_count: count().describe("How many discounts can still be taken."),
    missed_discount_12mo: money(ownCurrency).describe("Discounts that lapsed in the last twelve months."),
    missed_discount_count_12mo: count().describe("How many discounts lapsed in the last twelve months."),
  }),
});
