import { z } from "zod";
import { count, flag, inRow, inTable, json, lineId, money, quantity, record, table, text, whole } from "../fields.ts";

/** `GET /reconciliation/facets`. */
export const invoiceFacets = record("What the invoice list can be filtered by, one row a day.", {
  facets: json().describe("Filters and their values; content not documented, kept as JSON."),
});

/** `GET /reconciliation/payment-funnel`. */
export const invoicePaymentFunnel = record("How far invoices are on their way to payment, one row a day.", {
  currency_code: text().nullable().describe("Currency of the stages' totals; null where the service names none."),
  gl_coding_enabled: flag().describe("Whether invoices are coded to accounts before they are paid."),
  stages: table("invoice_payment_funnel_stages", "Invoices by the stage they have reached, one set of rows a day.", {
    stage: lineId(text()).describe("Stage on the way to payment, as the service names it; values not documented."),
    invoice_count: count().describe("How many invoices stand at the stage."),
    stage_total: money(inTable("invoice_payment_funnel", "currency_code", "observed_on"))
      .nullable()
      .describe("Total of the invoices at the stage; null where not known."),
    avg_age_days: quantity().describe("Average age of the invoices at the stage, in days."),
    moved_in_last_7d: quantity().describe("How many invoices moved in the last seven days."),
  }),
});

/** `GET /reconciliation/stats`. */
export const invoiceStats = record("How many invoices stand in each state of reconciliation, one row a day.", {
  currency_code: text().nullable().describe("Currency of the amounts; null where the service names none."),
  reconciliation: z.object({
    total: count().describe("How many invoices there are."),
    matched: quantity().describe("How many invoices match their order."),
    discrepancy: quantity().describe("How many invoices differ from their order."),
    no_po: quantity().describe("How many invoices have no order."),
    awaiting_po: quantity().describe("How many invoices wait for their order."),
    actionable_review: quantity().describe("How many invoices need a review by a person."),
    pending_approval: quantity().describe("How many invoices wait for approval."),
    blocked: quantity().describe("How many invoices are blocked."),
    approved: quantity().describe("How many invoices are approved."),
    hold: quantity().describe("How many invoices are on hold."),
    rejected: quantity().describe("How many invoices are rejected."),
    past_due: quantity().describe("How many invoices are past their due date."),
    discount_available: quantity().describe("How many invoices can be paid with a discount."),
    approval_rules_count: count().describe("How many approval rules there are."),
    uncoded_invoice_count: count().describe("How many invoices are not coded to an account."),
    matched_amount: money(inRow("currency_code")).nullable().describe("Total of the invoices that match."),
    discount_available_amount: money(inRow("currency_code")).nullable().describe("Discounts that can be taken."),
  }),
  anomalies: z.object({
    total: count().describe("How many anomalies the invoices have."),
    critical: quantity().describe("How many anomalies are critical."),
    high: quantity().describe("How many anomalies are of high severity."),
  }),
  period_days: quantity().describe("How many days the figures look back."),
});

/** A row of `GET /reconciliation/vendors`: an object whose fields are not documented, or only a name. */
export const invoiceVendor = record("Vendors that the invoice list knows, in the service's own order.", {
  vendor_name: text()
    .nullable()
    .describe("Vendor's name as a label; null where the service gives an object without it."),
  data: whole().describe("The vendor as it came; its fields are not documented, kept as JSON."),
});
