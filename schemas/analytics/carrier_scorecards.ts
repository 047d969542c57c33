import { z } from "zod";
import {
  anyJson,
  count,
  id,
  inRow,
  inTable,
  lineId,
  money,
  percent,
  quantity,
  record,
  score,
  table,
  text,
} from "../fields.ts";

const answerCurrency = inTable("analytics_carrier_scorecards", "currency_code", "observed_on, period");

const carriers = table(
  "analytics_carrier_scorecards_carriers",
  "Each carrier's scorecard over the trailing window, one set of rows a day.",
  {
    vendor_id: lineId(id()).nullable().describe("Vendor that the carrier is; null where the service resolved none."),
    carrier_name: text().describe("Carrier's name as a label, never to be joined on."),
    total_deliveries: quantity().nullable().describe("Deliveries that the carrier made; null where not known."),
    measured_deliveries: quantity()
      .nullable()
      .describe("Deliveries of which punctuality and quantity could be measured."),
    otif_pct: percent()
      .nullable()
      .describe(
        "Share on time and in full, in the service's own percentage unit; of which deliveries is not documented.",
      ),
    on_time_pct: percent()
      .nullable()
      .describe("Share on time, in the service's own percentage unit; of which deliveries is not documented."),
    in_full_pct: percent()
      .nullable()
      .describe("Share in full, in the service's own percentage unit; of which deliveries is not documented."),
    avg_days_variance: quantity().nullable().describe("Average distance of deliveries from their date, in days."),
    carrier_otif_strict_pct: percent()
      .nullable()
      .describe("Share on time and in full by the carrier's strict measure, in the service's own percentage unit."),
    carrier_otif_strict_on_time: quantity().nullable().describe("Deliveries on time by the carrier's strict measure."),
    carrier_otif_strict_measured: quantity()
      .nullable()
      .describe("Deliveries that the carrier's strict measure could be taken of."),
    avg_strict_variance_days: quantity()
      .nullable()
      .describe("Average distance from the date by the strict measure, in days."),
    transit_time_actual_avg: quantity()
      .nullable()
      .describe("Average time in transit as it was; the unit is not documented."),
    total_freight_spend: money(answerCurrency).nullable().describe("Freight paid to the carrier in the window."),
    invoice_count: count().nullable().describe("How many invoices the carrier sent in the window."),
    anomaly_count: count().nullable().describe("How many anomalies the service found in the carrier's invoices."),
    critical_count: count().nullable().describe("How many of the carrier's anomalies are critical."),
    active_rate_cards: quantity().nullable().describe("How many of the carrier's rate cards are in force."),
    composite_score: score().nullable().describe("The carrier's overall score; the scale is not documented."),
    tenders_sent: quantity().nullable().describe("Loads that were offered to the carrier in the acceptance month."),
    tenders_accepted: quantity().nullable().describe("Offered loads that the carrier took."),
    acceptance_rate_pct: percent()
      .nullable()
      .describe("Share of offered loads that the carrier took, in the service's own percentage unit."),
    avg_acceptance_lag_hours: quantity()
      .nullable()
      .describe("Average time until the carrier took an offered load, in hours."),
    acceptance_month_bucket: text()
      .nullable()
      .describe("Month that the tender figures are of, as the service names it."),
    delivered_basis_count: count().nullable().describe("Deliveries that are judged by the day of delivery."),
    received_basis_count: count().nullable().describe("Deliveries that are judged by the day of receipt."),
    graded_basis_label: text().nullable().describe("What the grades rest on, in the service's words for display."),
  },
);

/** `GET /analytics/carrier-scorecards`. */
export const carrierScorecards = record("How the carriers did over a trailing window, one row a day and period.", {
  currency_code: text().nullable().describe("Currency of the freight amounts; null where the service names none."),
  window: anyJson().nullable().describe("The window that was measured; content not documented, kept as JSON."),
  carriers,
  summary: z.object({
    total_carriers: quantity().nullable().describe("How many carriers were measured."),
    fleet_otif_strict_pct: percent()
      .nullable()
      .describe(
        "Share on time and in full over all carriers by the strict measure, in the service's own percentage unit.",
      ),
    fleet_otif_on_time: quantity().nullable().describe("Deliveries of all carriers that were on time."),
    fleet_otif_measured: quantity().nullable().describe("Deliveries of all carriers that could be measured."),
    graded_basis_label: text().nullable().describe("What the fleet's grades rest on, in the service's words."),
    total_freight_spend: money(inRow("currency_code"))
      .nullable()
      .describe("Freight paid to all carriers in the window."),
    active_rate_cards: quantity().nullable().describe("How many rate cards are in force, of all carriers."),
  }),
});
