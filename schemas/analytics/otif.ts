import { z } from "zod";
import { anyJson, count, date, id, json, lineId, percent, quantity, record, table, text } from "../fields.ts";

const measuredWindow = () =>
  anyJson().nullable().describe("The window that was measured; content not documented, kept as JSON.");

/** `GET /analytics/otif`. */
export const otif = record("Deliveries on time and in full over a trailing window, one row a day and period.", {
  summary: z.object({
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
    total_deliveries: quantity().nullable().describe("How many deliveries the window has."),
    measured_deliveries: quantity().nullable().describe("How many deliveries could be measured."),
    on_time_count: count().nullable().describe("How many deliveries came on time."),
    in_full_count: count().nullable().describe("How many deliveries came in full."),
    otif_count: count().nullable().describe("How many deliveries came on time and in full."),
    on_time_measured: quantity().nullable().describe("How many deliveries could be measured for time."),
    in_full_measured: quantity().nullable().describe("How many deliveries could be measured for quantity."),
    on_time_latest_promise_count: count().nullable().describe("How many deliveries kept the vendor's latest promise."),
    otif_latest_promise_count: count()
      .nullable()
      .describe("How many deliveries came in full and by the vendor's latest promise."),
    on_time_latest_promise_pct: percent()
      .nullable()
      .describe("Share on time by the latest promise, in the service's own percentage unit."),
    otif_latest_promise_pct: percent()
      .nullable()
      .describe("Share on time and in full by the latest promise, in the service's own percentage unit."),
    avg_days_variance: quantity().nullable().describe("Average distance of deliveries from their date, in days."),
    requested_share_pct: percent()
      .nullable()
      .describe(
        "Share that goes by what was requested, in the service's own percentage unit; of what is not documented.",
      ),
    metric_backing: json().nullable().describe("What the figures rest on; content not documented, kept as JSON."),
    graded_basis: json().nullable().describe("What deliveries are judged by; content not documented, kept as JSON."),
  }),
  alerts: anyJson().nullable().describe("What the service warns of; content not documented, kept as JSON."),
  window: measuredWindow(),
});

/** `GET /analytics/otif/by-vendor`. */
export const otifByVendor = record(
  "Deliveries on time and in full by vendor, one row a day beside the vendors' rows.",
  {
    vendors: table(
      "analytics_otif_by_vendor_vendors",
      "How punctual and complete each vendor delivers, as of each day.",
      {
        vendor_name: text().describe("Vendor's name as a label, never to be joined on."),
        vendor_id: lineId(id()).nullable().describe("Vendor that delivered; null where the service resolved none."),
        total_deliveries: quantity().nullable().describe("How many deliveries the vendor made."),
        on_time_pct: percent()
          .nullable()
          .describe("Share on time, in the service's own percentage unit; of which deliveries is not documented."),
        in_full_pct: percent()
          .nullable()
          .describe("Share in full, in the service's own percentage unit; of which deliveries is not documented."),
        otif_pct: percent()
          .nullable()
          .describe(
            "Share on time and in full, in the service's own percentage unit; of which deliveries is not documented.",
          ),
        on_time_latest_promise_pct: percent()
          .nullable()
          .describe("Share on time by the latest promise, in the service's own percentage unit."),
        otif_latest_promise_pct: percent()
          .nullable()
          .describe("Share on time and in full by the latest promise, in the service's own percentage unit."),
        avg_days_variance: quantity().nullable().describe("Average distance of deliveries from their date, in days."),
        delivered_basis_count: count().nullable().describe("Deliveries that are judged by the day of delivery."),
        received_basis_count: count().nullable().describe("Deliveries that are judged by the day of receipt."),
        graded_basis_label: text().nullable().describe("What the grades rest on, in the service's words for display."),
      },
    ),
    window: measuredWindow(),
    unattributed_deliveries: quantity().nullable().describe("Deliveries that no vendor could be told for."),
  },
);

/** `GET /analytics/otif/trend`. */
export const otifTrend = record("Deliveries on time and in full over time, one row a day beside the weeks' rows.", {
  trend: table("analytics_otif_trend_weeks", "Deliveries on time and in full by week, one set of rows a day.", {
    week_start: date().describe("First day of the week that is counted."),
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
    otif_latest_promise_pct: percent()
      .nullable()
      .describe("Share on time and in full by the latest promise, in the service's own percentage unit."),
    on_time_latest_promise_pct: percent()
      .nullable()
      .describe("Share on time by the latest promise, in the service's own percentage unit."),
    total: count().nullable().describe("The week's total as the service gives it; what it counts is not documented."),
    total_deliveries: quantity().nullable().describe("How many deliveries the week has."),
    otif_count: count().nullable().describe("How many deliveries of the week came on time and in full."),
    measured_deliveries: quantity().nullable().describe("How many deliveries of the week could be measured."),
  }),
  window: measuredWindow(),
});
