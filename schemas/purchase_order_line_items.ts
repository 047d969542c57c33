import { date, flag, id, inTable, json, lineId, list, money, quantity, score, table, text } from "./fields.ts";

const inOrderCurrency = inTable("purchase_order_details", "currency_code", "po_number");

/** `line_items[]` of `GET /po/{po_number}`. */
export const purchaseOrderLineItems = table(
  "purchase_order_line_items",
  "Lines of each purchase order, with what was promised, shipped, received and invoiced.",
  {
    line_no: lineId(id())
      .nullable()
      .describe("Line number as it stands on the order; text, and null where the line has none."),
    part_number: text().nullable().describe("Part number on the order line; whose numbering it is, is not documented."),
    vendor_part_number: text()
      .nullable()
      .describe("What the vendor calls the part in its own catalogue; null where it is not given."),
    manufacturer_part_number: text()
      .nullable()
      .describe("What the maker calls the part, whoever sells it; null where it is not given."),
    description: text().nullable().describe("What is ordered, in words; null where the line says nothing."),
    quantity: quantity()
      .nullable()
      .describe("Quantity of the line in its unit; how it differs from qty_ordered is not documented."),
    qty_ordered: quantity().nullable().describe("Quantity that was ordered, in the line's unit."),
    unit_price: money(inOrderCurrency).nullable().describe("Ordered price of one unit."),
    unit: text().nullable().describe("Unit that the quantities are counted in, as written; see also uom."),
    uom: text().nullable().describe("Unit of measure of the line; how it differs from unit is not documented."),
    amount: money(inOrderCurrency)
      .nullable()
      .describe("Value of the line; how it differs from line_total is not documented."),
    line_total: money(inOrderCurrency)
      .nullable()
      .describe("Total of the line; how it differs from amount is not documented."),
    qty_received: quantity()
      .nullable()
      .describe("Quantity received so far, in the line's unit; null where nothing is recorded."),
    qty_accepted: quantity().nullable().describe("Part of the delivery that was accepted, in the line's unit."),
    qty_arrived: quantity()
      .nullable()
      .describe("Quantity that has arrived, in the line's unit; null where nothing is recorded."),
    qty_rejected: quantity().nullable().describe("Part of the delivery that was rejected, in the line's unit."),
    qty_received_source: text()
      .nullable()
      .describe("Where qty_received comes from, as the service names it; values not documented."),
    qty_shipped: quantity()
      .nullable()
      .describe("Quantity the vendor has shipped, in the line's unit; null where nothing is recorded."),
    qty_invoiced: quantity()
      .nullable()
      .describe("Quantity that invoices have billed, in the line's unit; null where nothing is recorded."),
    qty_acked: quantity()
      .nullable()
      .describe("Quantity that the vendor acknowledged, in the line's unit; null without an acknowledgement."),
    expected_date: date().nullable().describe("Day on which the line is expected; null when no day is known."),
    actual_delivery_date: date().nullable().describe("Day on which the line was delivered; null until then."),
    on_time: flag()
      .nullable()
      .describe("Whether the line came on time; on_time_basis names the measure, null while undecided."),
    in_full: flag().nullable().describe("Whether the whole quantity came; null while undecided."),
    days_variance: quantity()
      .nullable()
      .describe(
        "Days between the planned and the actual day; the sign's meaning and how it differs from variance_days are not documented.",
      ),
    delivery_status: text()
      .nullable()
      .describe("Where the line's delivery stands, as the service names it; values not documented."),
    match_status: text()
      .nullable()
      .describe("Outcome of comparing the line with other documents; values not documented."),
    invoice_price: money(inOrderCurrency)
      .nullable()
      .describe("Price found on an invoice for this line; how it differs from invoice_unit_price is not documented."),
    contract_price: money(inOrderCurrency)
      .nullable()
      .describe("Price that a contract sets for this line; null where none applies."),
    ack_unit_price: money(inOrderCurrency)
      .nullable()
      .describe("Price of one unit as the vendor acknowledged it; null without an acknowledgement."),
    invoice_unit_price: money(inOrderCurrency)
      .nullable()
      .describe("Price of one unit as invoiced; null until an invoice is found."),
    po_requested_date: date().nullable().describe("Delivery day that the order asks for; null where it names none."),
    ack_promised_date: date()
      .nullable()
      .describe("Delivery day that the vendor's acknowledgement promises; null without one."),
    email_promised_date: date().nullable().describe("Delivery day that an e-mail promises; null without one."),
    promise_vs_request: json()
      .nullable()
      .describe("How the promised day compares with the requested one; content not documented, kept as JSON."),
    ack_promised_ship_date: date()
      .nullable()
      .describe("Shipping day that the vendor's acknowledgement promises; null without one."),
    email_promised_ship_date: date().nullable().describe("Shipping day that an e-mail promises; null without one."),
    actual_ship_date: date().nullable().describe("Day on which the line was shipped; null until then."),
    ship_on_time: flag().nullable().describe("Whether the line was shipped on time; null while undecided."),
    ship_variance_days: quantity()
      .nullable()
      .describe("Days between planned and actual shipping; the sign's meaning is not documented."),
    on_time_basis: text()
      .nullable()
      .describe("Which date on_time is measured against, as the service names it; values not documented."),
    actual_date: date()
      .nullable()
      .describe("Actual day that the service settled on; actual_date_source says from where, null until there is one."),
    actual_date_source: text()
      .nullable()
      .describe("Where actual_date comes from, as the service names it; values not documented."),
    receipt_date_confidence: score()
      .nullable()
      .describe("How sure the service is of the receipt's date; the scale is not documented."),
    carrier_delivered_date: date()
      .nullable()
      .describe("Day of delivery by the carrier's account; null where none is known."),
    carrier_delivered_source: text()
      .nullable()
      .describe("Where carrier_delivered_date comes from, as the service names it; values not documented."),
    promise_source: text()
      .nullable()
      .describe("Where the promised day comes from, as the service names it; values not documented."),
    receipt_doc_id: id().nullable().describe("Document that records the receipt; null where there is none."),
    bol_doc_id: id().nullable().describe("Document that is the bill of lading; null where there is none."),
    pod_doc_id: id().nullable().describe("Document that is the proof of delivery; null where there is none."),
    variance_days: quantity()
      .nullable()
      .describe("Days off plan; the sign's meaning and how it differs from days_variance are not documented."),
    part_number_mismatch: flag()
      .nullable()
      .describe("Whether the part numbers of the compared documents disagree; null where none were compared."),
    delivery: json().nullable().describe("The line's delivery; content not documented, kept as JSON."),
    schedule: list().describe("The line's delivery schedule, a list whose content is not documented, kept as JSON."),
    receipts: list().describe("Receipts of the line, a list whose content is not documented, kept as JSON."),
    shipments: list().describe("Shipments of the line, a list whose content is not documented, kept as JSON."),
    comm_updates: list().describe(
      "What communications say about the line, a list whose content is not documented, kept as JSON.",
    ),
    ship_tracking: text().nullable().describe("Tracking reference of the line's shipment; null where there is none."),
    carrier_name: text().nullable().describe("Carrier that moves the line; null where it is not known."),
  },
);
