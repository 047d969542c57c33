import type { Report } from "../src/outputs/report/definition.ts";
import { assumptions, standing } from "./assumptions.ts";
import { deliveries } from "./deliveries.ts";
import { exceptions } from "./exceptions.ts";
import { headline } from "./headline.ts";
import { messages, opening } from "./messages.ts";
import { outlook } from "./outlook.ts";
import { prices } from "./prices.ts";
import { savings } from "./savings.ts";
import { spend } from "./spend.ts";

export const procurementReport: Report = {
  title: "Procurement report",
  writtenFor: { schema: "procurement", stateSchema: "_tributary" },
  holds: [
    "assumptions",
    "dim_vendors",
    "findings_value",
    "invoice_exceptions",
    "open_purchase_orders",
    "price_variance",
    "spend_by_vendor_month",
    "three_way_match",
    "vendor_scorecard",
  ],
  calendar: { sql: "select today from procurement_analytics.calendar_today" },
  currencies: {
    sql: `
      select currency_code
      from procurement_analytics.spend_by_vendor_month
      where _company = :company
      group by currency_code
      order by sum(invoice_count) desc, currency_code nulls last`,
  },
  freshness: {
    sql: `
      select stream, is_on, complete_to, last_success_at, last_run_status
      from procurement_analytics.data_freshness
      where _company = :company
      order by stream`,
  },
  assumptions: standing,
  opening,
  messages,
  figures: headline,
  sections: [spend, exceptions, savings, deliveries, prices, outlook, assumptions],
};
