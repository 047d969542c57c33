import { z } from "zod";
import { count, date, id, moment, quantity, record, text } from "../fields.ts";

/** A row of `GET /alerts/date-drift`. */
export const dateDriftAlert = record(
  "Alerts about vendors promising another date than was asked for, one row an alert.",
  {
    alert_id: id().describe("Identifier of the alert, unique within the company."),
    po_number: id().describe("Order whose date has moved, by an assumed join purchase_orders.po_number."),
    vendor_name: text().nullable().describe("Vendor of the order as a label, never to be joined on."),
    line_item: text().nullable().describe("Line of the order that is meant, as the service writes it."),
    requested_date: date().nullable().describe("Day for which delivery was asked; null where that is not known."),
    promised_date: date().nullable().describe("Day that the vendor promises; null where that is not known."),
    drift_days: quantity()
      .nullable()
      .describe("Days between what was asked for and what is promised; null where not known."),
    status: text().nullable().describe("Where the alert stands; new, acknowledged and resolved are counted elsewhere."),
    created_at: moment().nullable().describe("When the alert was raised; null where that is not known."),
  },
);

/** `GET /alerts/date-drift/count`. */
export const dateDriftCounts = record("How many alerts about moved dates there are by status, measured once a day.", {
  counts: z.object({
    new: count().describe("How many alerts are new by the count of each status."),
    acknowledged: count().describe("How many alerts somebody has acknowledged."),
    resolved: count().describe("How many alerts have been resolved."),
  }),
  new_count: count().describe("How many alerts are new by the figure that stands beside the counts."),
});
