import { z } from "zod";
import {
  count,
  id,
  inName,
  inRow,
  inTable,
  lineId,
  moment,
  money,
  named,
  percent,
  quantity,
  record,
  table,
  text,
} from "../fields.ts";

const answerCurrency = inTable("analytics_savings", "currency_code", "observed_on, months");
const amount = () => money(inRow("currency_code")).nullable();

const recentItems = table(
  "analytics_savings_recent_items",
  "Recent items that the service lists beside the savings, as of each day.",
  {
    event_id: lineId(id()).nullable().describe("Identifier of the event; null where the service gives none."),
    doc_id: id()
      .nullable()
      .describe("Document that the event came from; assumed to be invoices.doc_id where it is one."),
    event_type: text().nullable().describe("Kind of event, as the service names it; values not documented."),
    amount_usd: money(inName)
      .nullable()
      .describe("Money that the event is about, in US dollars; null where none is put to it."),
    severity: text().nullable().describe("How grave it is, as the service names it; values not documented."),
    part_number: text().nullable().describe("Part that the event is about, as printed; null where it is about none."),
    details: text().nullable().describe("What happened, in the service's words for display."),
    created_at: moment().nullable().describe("When the event was recorded; null where not known."),
    vendor_name: text().nullable().describe("Vendor's name as a label, never to be joined on."),
    document_number: text().nullable().describe("Number printed on the document; null where none was read."),
  },
);

/** `GET /analytics/savings`. */
export const savings = record("What the service saved over a trailing window, one row a day and number of months.", {
  currency_code: text().nullable().describe("Currency of the savings; null where the service names none."),
  totals: z.object({
    total_savings: amount().describe(
      "Savings of the window in all, by the service's count, whose parts it does not define.",
    ),
    duplicates_prevented: amount().describe(
      "Money kept from being paid twice by the service's count, which it does not define.",
    ),
    price_variances: amount().describe(
      "Money in billed prices that differ from the agreed ones by the service's count, which it does not define.",
    ),
    overbilling_caught: amount().describe(
      "Money billed beyond what was due and noticed by the service's count, which it does not define.",
    ),
    price_outliers: amount().describe(
      "Money in prices far from the usual ones by the service's count, which it does not define.",
    ),
    cumulative_fraud: amount().describe(
      "Money in suspected fraud that adds up over several invoices by the service's count, which it does not define.",
    ),
    sourcing_opportunities: amount().describe(
      "Money that buying elsewhere could save by the service's count, which it does not define.",
    ),
    early_payment_discounts: amount().describe(
      "Money to be saved by paying before the due date by the service's count, which it does not define.",
    ),
    sole_source_risk: amount().describe(
      "Money at risk where only one vendor delivers by the service's count, which it does not define.",
    ),
    late_delivery_cost: amount().describe(
      "Money lost to goods that came too late by the service's count, which it does not define.",
    ),
    email_credit_memos: amount().describe(
      "Money in credits that vendors promised by e-mail by the service's count, which it does not define.",
    ),
    discount_captured: amount().describe(
      "Money saved by discounts that were taken by the service's count, which it does not define.",
    ),
    discount_missed: amount().describe(
      "Money in discounts that lapsed untaken by the service's count, which it does not define.",
    ),
    total_events: quantity()
      .nullable()
      .describe("How many events there are in all; what counts as one is not documented."),
    docs_with_value: quantity()
      .nullable()
      .describe("How many documents have a value; what counts as one is not documented."),
  }),
  savings_over_time: table("analytics_savings_over_time", "Savings by month, one set of rows a day.", {
    month: lineId(text()).describe("Month that is counted, as the service writes it."),
    total_savings: money(answerCurrency).nullable().describe("Savings of the month."),
    event_count: count().nullable().describe("How many events the month has."),
  }),
  recent_items: recentItems,
  roi: z.object({
    total_invoices_processed: quantity().nullable().describe("How many invoices the service processed in the window."),
    total_invoice_spend: amount().describe("Total of the invoices that were processed."),
    total_savings: amount().describe("Savings that are set against the invoices."),
    savings_rate_pct: percent()
      .nullable()
      .describe("Savings as a share of the invoices, in the service's own percentage unit."),
  }),
  tracker_identified: amount().describe("Savings identified, as the savings tracker has them."),
  tracker_recovered: amount().describe("Savings recovered, as the savings tracker has them."),
  months: named("months_", text()).describe(
    "The months as the answer names them; the column months says what was asked.",
  ),
});
