import { date, id, inTable, money, record, text } from "../fields.ts";

/** A row of `GET /as-of/vendor/{vendor_id}/orders`. */
export const vendorOrder = record("Each vendor's orders as they stood at the moments that the configuration names.", {
  po_number: id()
    .nullable()
    .describe("Number of the order, assumed to be purchase_orders.po_number; null where it bore none."),
  order_date: date().nullable().describe("Day of the order as it was known then; null where it was not."),
  promised_delivery_date: date().nullable().describe("Day that delivery was promised for, as it was known then."),
  total_amount: money(inTable("purchase_order_details", "currency_code", "po_number"))
    .nullable()
    .describe("Value of the order as it was known then; null where it was not."),
  history: text().describe("What the service says about how much of the order's past it knows."),
});
