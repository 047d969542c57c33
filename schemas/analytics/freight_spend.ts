import { z } from "zod";
import { count, inRow, inTable, lineId, money, record, table, text } from "../fields.ts";

const answerCurrency = inTable("analytics_freight_spend", "currency_code", "observed_on, period");

/** `GET /analytics/freight-spend`. */
export const freightSpend = record("What freight cost over a trailing window, one row a day and period.", {
  currency_code: text().nullable().describe("Currency of the freight amounts; null where the service names none."),
  kpis: z.object({
    shipment_count: count().nullable().describe("How many shipments the window has."),
    total_freight_spend: money(inRow("currency_code")).nullable().describe("Freight paid in the window."),
    avg_cost_per_shipment: money(inRow("currency_code")).nullable().describe("Average freight of a shipment."),
  }),
  spend_over_time: table("analytics_freight_spend_over_time", "Freight paid by month, one set of rows a day.", {
    month: lineId(text()).describe("Month that is counted, as the service writes it."),
    invoice_count: count().nullable().describe("How many freight invoices the month has."),
    total_spend: money(answerCurrency).nullable().describe("Freight paid in the month."),
  }),
  by_carrier: table("analytics_freight_spend_by_carrier", "Freight paid by carrier, one set of rows a day.", {
    carrier_name: lineId(text()).describe("Carrier's name as a label, never to be joined on."),
    invoice_count: count().nullable().describe("How many invoices the carrier sent in the window."),
    total_spend: money(answerCurrency).nullable().describe("Freight paid to the carrier."),
  }),
  by_charge_type: table("analytics_freight_spend_by_charge_type", "Freight paid by kind of charge, one set a day.", {
    charge_type: lineId(text()).describe("Kind of charge, as the service names it; values not documented."),
    line_count: count().nullable().describe("How many invoice lines bear the charge."),
    total_amount: money(answerCurrency).nullable().describe("Sum of the lines that bear the charge."),
  }),
  top_lanes: table("analytics_freight_spend_top_lanes", "The lanes that most freight was paid for, as of each day.", {
    origin: text().nullable().describe("Where the lane begins, as a label; null where not known."),
    dest: text().nullable().describe("Where the lane ends, as a label; null where not known."),
    shipment_count: count().nullable().describe("How many shipments went along the lane."),
    total_spend: money(answerCurrency).nullable().describe("Freight paid for the lane."),
    avg_cost: money(answerCurrency).nullable().describe("Average freight of a shipment along the lane."),
  }),
});
