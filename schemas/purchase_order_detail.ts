import { anyJson, count, date, flag, id, inRow, json, list, money, personal, record, text } from "./fields.ts";
import { purchaseOrderLegs } from "./purchase_order_legs.ts";
import { purchaseOrderLineItems } from "./purchase_order_line_items.ts";
import { purchaseOrderLinkedDocuments } from "./purchase_order_linked_documents.ts";
import { purchaseOrderNarrativeComms } from "./purchase_order_narrative_comms.ts";
import { purchaseOrderObligations } from "./purchase_order_obligations.ts";
import { purchaseOrderPriceMoves } from "./purchase_order_price_moves.ts";
import { purchaseOrderShipmentTracking } from "./purchase_order_shipment_tracking.ts";

const inOwnCurrency = inRow("currency_code");

/** One order in full: `GET /po/{po_number}`. */
export const purchaseOrderDetail = record("Purchase orders in full: terms, parties, dates and state of each order.", {
  po_number: id().describe("Number of the purchase order, the same as in purchase_orders."),
  po_date: date().nullable().describe("Calendar date of the order; null where it is not known."),
  order_date: date().nullable().describe("Date of ordering; how it differs from po_date is not documented."),
  order_placed_date: date()
    .nullable()
    .describe("Day on which the order was placed with the vendor; null where not known."),
  confirmation_received_date: date()
    .nullable()
    .describe("Day on which the vendor's confirmation came; null until then."),
  confirmation: json().nullable().describe("The vendor's confirmation; content not documented, kept as JSON."),
  status: text().nullable().describe("Status of the order, as the service names it; values not documented."),
  fulfillment_state: text()
    .nullable()
    .describe("How far the order is fulfilled; state_source and state_confidence say how the service knows."),
  is_open: flag().describe("True as long as the service counts the order as open."),
  state_source: text()
    .nullable()
    .describe("Where the order's state comes from, as the service names it; values not documented."),
  state_confidence: text()
    .nullable()
    .describe("How sure the service is of the state, as a label; values not documented."),
  fulfillment_status: text()
    .nullable()
    .describe("A second fulfilment label beside fulfillment_state; its values are not documented."),
  match_status: text()
    .nullable()
    .describe("Outcome of comparing the order with its other documents; the values are not documented."),
  match_receipt_backed: flag()
    .nullable()
    .describe(
      "Whether goods that were received, and not papers alone, back match_status; null where there is no match.",
    ),
  open_obligation_count: count().nullable().describe("How many of the order's obligations are still open."),
  legs: purchaseOrderLegs,
  obligations: purchaseOrderObligations,
  expected_date: date().nullable().describe("Day on which the delivery is expected; null where that is not known."),
  delivery_date: date().nullable().describe("Delivery date of the order; whether planned or actual is not documented."),
  ship_to_address: text().nullable().describe("Address the goods go to; null where it is not known."),
  ship_to_name: text()
    .nullable()
    .describe("Name of the receiver or place the goods go to; null where it is not known."),
  payment_terms: text()
    .nullable()
    .describe("Terms of payment as written, for example net days; null where none are known."),
  currency_code: text()
    .nullable()
    .describe("Currency of the order's amounts and of its lines; null where it is not known."),
  freight_terms: text()
    .nullable()
    .describe("Who pays for and bears the risk of freight, as written; null where not known."),
  source: text().nullable().describe("Where the order came from, as the service names it; values not documented."),
  buyer_name: personal(text()).nullable().describe("Name of the buyer on the order; null where it is not known."),
  blanket_type: text()
    .nullable()
    .describe("Kind of blanket order, values not documented; null where the order is not one."),
  blanket_total: money(inOwnCurrency)
    .nullable()
    .describe("Total that a blanket order covers, taken to be an amount; null where it is no blanket order."),
  blanket_released: money(inOwnCurrency)
    .nullable()
    .describe("Part of blanket_total called off so far, taken to be an amount; null where it is no blanket order."),
  status_summary: json().nullable().describe("Summary of the order's status; content not documented, kept as JSON."),
  vendor: json()
    .nullable()
    .describe("The vendor; content not documented, kept as JSON, see purchase_orders for its id."),
  amounts: json().nullable().describe("The order's amounts; content not documented, kept as JSON."),
  delivery: json().nullable().describe("The order's delivery; content not documented, kept as JSON."),
  delivery_site: json()
    .nullable()
    .describe("Place that the goods go to, as the order names it; content not documented, kept as JSON."),
  shipping: json().nullable().describe("How the order is shipped; content not documented, kept as JSON."),
  line_items: purchaseOrderLineItems,
  linked_documents: purchaseOrderLinkedDocuments,
  shipment_tracking: purchaseOrderShipmentTracking,
  intelligence: json()
    .nullable()
    .describe("The service's analysis of the order; content not documented, kept as JSON."),
  exceptions: list().describe("Exceptions raised on the order, a list whose content is not documented, kept as JSON."),
  delivery_health: anyJson()
    .nullable()
    .describe(
      "Whether the order is on its way as promised, by the service's account; content not documented, kept as JSON.",
    ),
  contract_nte: list().describe(
    "Not-to-exceed limits of contracts, a list whose content is not documented, kept as JSON.",
  ),
  narrative_comms: purchaseOrderNarrativeComms,
  promise_move: json().nullable().describe("A shift of the promised day; content not documented, kept as JSON."),
  price_moves: purchaseOrderPriceMoves,
});
