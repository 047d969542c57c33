import { z } from "zod";
import { count, id, lineId, moment, quantity, record, table, text } from "../fields.ts";

/** Freight and intermodal audits answer alike; `of` says what is audited. */
const audit = (stream: string, of: string) =>
  record(`Anomalies in ${of} over a trailing window, one row a day and period.`, {
    totals: z.object({
      total_anomalies: quantity().nullable().describe("How many anomalies the window has."),
      high_count: count().nullable().describe("How many anomalies are of high severity."),
      critical_count: count().nullable().describe("How many anomalies are critical."),
      medium_count: count().nullable().describe("How many anomalies are of medium severity."),
      low_count: count().nullable().describe("How many anomalies are of low severity."),
      resolved_count: count().nullable().describe("How many anomalies have been resolved."),
    }),
    by_type: table(`${stream}_by_type`, `Anomalies in ${of} by type, one set of rows a day.`, {
      anomaly_type: lineId(text()).describe(
        "What is out of the ordinary, by the service's own labels, which are not documented.",
      ),
      count: count().nullable().describe("How many anomalies are of the type."),
      critical_count: count().nullable().describe("How many anomalies of the type are critical."),
    }),
    trend: table(`${stream}_trend`, `Anomalies in ${of} by month, one set of rows a day.`, {
      month: lineId(text()).describe("Month that is counted, as the service writes it."),
      anomaly_count: count().nullable().describe("How many anomalies the month has."),
      critical_count: count().nullable().describe("How many anomalies of the month are critical."),
    }),
    recent: table(`${stream}_recent`, `The latest anomalies in ${of}, as they stood on each day.`, {
      id: lineId(id()).nullable().describe("Identifier of the anomaly; null where the service gives none."),
      anomaly_type: text().nullable().describe("What kind of anomaly it is, as the service names it."),
      severity: text().nullable().describe("How grave it is, as the service names it; values not documented."),
      status: text().nullable().describe("Where it stands, as the service names it; values not documented."),
      message: text().nullable().describe("What is wrong, in the service's words for display."),
      vendor_name: text().nullable().describe("Vendor's name as a label, never to be joined on."),
      vendor_id: id().nullable().describe("Vendor that the anomaly concerns; null where the service resolved none."),
      created_at: moment().nullable().describe("When the anomaly was found; null where not known."),
    }),
  });

/** `GET /analytics/freight-audit`. */
export const freightAudit = audit("analytics_freight_audit", "freight invoices");
/** `GET /analytics/intermodal-audit`. */
export const intermodalAudit = audit("analytics_intermodal_audit", "intermodal freight");
