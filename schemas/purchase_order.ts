import { count, date, flag, id, inTable, money, percent, quantity, record, text, volatile } from "./fields.ts";

const inOrderCurrency = inTable("purchase_order_details", "currency_code", "po_number");

/** A row of the order list: `GET /po`. */
export const purchaseOrder = record(
  "Purchase orders as the service lists them: one row an order, its latest standing.",
  {
    po_number: id().describe("Number of the purchase order; the key that every purchase_order_ table shares."),
    vendor_name: text().nullable().describe("Vendor's name as a label; null where unknown, and never to be joined on."),
    vendor_id: id().nullable().describe("Vendor the service resolved the order to; null where it resolved none."),
    vendor_website: text().nullable().describe("Vendor's web address; null where the service knows none."),
    po_date: date().nullable().describe("Calendar date of the order; null where it is not known."),
    total_amount: money(inOrderCurrency).nullable().describe("Value of the whole order; null where it is not known."),
    fulfillment_state: text()
      .nullable()
      .describe("How far the order is fulfilled, as the service names it; the values are not documented."),
    is_open: flag().describe("True as long as the service counts the order as open."),
    fulfillment_status: text()
      .nullable()
      .describe("A second fulfilment label beside fulfillment_state; its values are not documented."),
    lifecycle_status: text()
      .nullable()
      .describe("Stage of the order's life as the service names it; values not documented."),
    match_status: text()
      .nullable()
      .describe("Outcome of comparing the order with its other documents; the values are not documented."),
    delivery_standing: text()
      .nullable()
      .describe(
        "Where the delivery stands, for example overdue or on track; the full list of values is not documented.",
      ),
    next_expected_date: date()
      .nullable()
      .describe("Day on which the next delivery is expected; null when none is expected."),
    delivery_expected_basis: text()
      .nullable()
      .describe("On what the expected delivery rests, as the service names it; values not documented."),
    next_expected_source: text()
      .nullable()
      .describe("Where next_expected_date comes from, as the service names it; values not documented."),
    delivery_vendor_promise_date: date()
      .nullable()
      .describe("Delivery day that the vendor promised; null without a promise."),
    delivery_vendor_promise_source: text()
      .nullable()
      .describe("Where the vendor's promise was found; values not documented, null without a promise."),
    delivery_requested_date: date()
      .nullable()
      .describe("Delivery day that the buyer asked for; null where none is known."),
    delivery_days_late: volatile(quantity())
      .nullable()
      .describe(
        "Days by which the delivery is late; grows by itself each day, so it alone never marks a row as changed.",
      ),
    delivery_days_past_requested: volatile(quantity())
      .nullable()
      .describe("Days past the requested delivery day; grows by itself each day and never marks a row as changed."),
    receipt_pct: percent()
      .nullable()
      .describe("Share of the order that has been received, in the service's own percentage unit."),
    open_findings_count: count().nullable().describe("How many findings about this order are still open."),
    anomaly_count: count().nullable().describe("How many anomalies the service sees in this order."),
    critical_anomaly_count: count().nullable().describe("How many of the order's anomalies are critical."),
    acknowledged_count: count()
      .nullable()
      .describe("How many have been acknowledged; whether anomalies or findings is not documented."),
    comm_count: count().nullable().describe("How many communications, such as e-mails, belong to the order."),
    unread_count: volatile(count())
      .nullable()
      .describe("How many of them are unread; changes by reading alone, so it never marks a row as changed."),
    intelligence_severity: text()
      .nullable()
      .describe("Severity the service's analysis gives the order; values not documented, null without an analysis."),
    delivery_site_name: text()
      .nullable()
      .describe("Name of the site that the order is to be delivered to; null if unknown."),
  },
);
