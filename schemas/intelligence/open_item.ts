import { z } from "zod";
import { count, date, id, inTable, money, quantity, record, text, volatile } from "../fields.ts";

const inOrderCurrency = inTable("purchase_order_details", "currency_code", "po_number");

/** A row of the list of open order lines: `GET /ops/open-items`. */
export const openItem = record("Order lines that are still open; a line that is settled leaves the list.", {
  po_number: id().describe("Order that the line belongs to, the same as purchase_orders.po_number."),
  line_no: id()
    .nullable()
    .describe("Line number on the order, as text; assumed to be purchase_order_line_items.line_no."),
  part_number: text().nullable().describe("Number of the ordered part; null where it is not given."),
  vendor_part_number: text()
    .nullable()
    .describe("What the vendor calls the part in its own catalogue; null where it is not given."),
  description: text().nullable().describe("What is ordered, in words; null where the line says nothing."),
  vendor_name: text().nullable().describe("Vendor's name as a label; null where unknown, and never to be joined on."),
  vendor_id: id().nullable().describe("Vendor of the order; null where the service resolved none."),
  qty_ordered: quantity().nullable().describe("Quantity that was ordered; null where it is not known."),
  qty_received: quantity().nullable().describe("Quantity that has been received; null where none is known."),
  qty_shipped: quantity().nullable().describe("Quantity that has been shipped; null where none is known."),
  expected_date: date().nullable().describe("Day on which the line is expected; null where none is known."),
  expected_basis: text()
    .nullable()
    .describe("What the expected day rests on, as the service names it; values not documented."),
  delivery_standing: text()
    .nullable()
    .describe("How the delivery stands, for example overdue, due_soon or on_track, as the service counts them."),
  days_late: volatile(quantity()).nullable().describe("How many days late the line is; moves by itself each day."),
  status: text().nullable().describe("Where the line stands, as the service names it; values not documented."),
  days_variance: volatile(quantity())
    .nullable()
    .describe("Days off plan, which move by themselves while a line is open; the sign's meaning is not documented."),
  uom: text().nullable().describe("Unit of measure of the line's quantities; null where it is not given."),
  unit_price: money(inOrderCurrency).nullable().describe("Price of one unit on the order; null where it is not known."),
  tracking_number: text().nullable().describe("The carrier's tracking number; null where nothing was shipped."),
  carrier_name: text().nullable().describe("Carrier of the shipment, as a label; null where nothing was shipped."),
  ship_date: date().nullable().describe("Day on which the line was shipped; null where it was not."),
});

/** What stands beside the rows of `GET /ops/open-items`. */
export const openItemsSummary = record("How many open order lines there are in each standing, measured once a day.", {
  stats: z.object({
    total: count().describe("How many order lines are open."),
    overdue: quantity().describe("How many lines should have been delivered already."),
    unconfirmed: quantity().describe("How many lines no vendor has confirmed."),
    awaiting_receipt: quantity().describe("How many lines were delivered by word and not yet received."),
    due_soon: quantity().describe("How many lines are to come soon, by the service's own measure."),
    at_risk: quantity().describe("How many lines may come late, as the service judges."),
    on_track: quantity().describe("How many lines are expected in time."),
    delivered: quantity().describe("How many lines have arrived."),
    over_shipped: quantity().describe("How many lines were sent in larger numbers than ordered."),
    max_overdue_days: quantity().describe("Days that the line waits which is late the longest."),
  }),
});
