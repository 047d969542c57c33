import { date, lineId, table, text } from "./fields.ts";

/** `shipment_tracking[]` of `GET /po/{po_number}`. */
export const purchaseOrderShipmentTracking = table(
  "purchase_order_shipment_tracking",
  "Parcels and loads on their way for each purchase order: carrier, status, expected and actual arrival.",
  {
    tracking_number: lineId(text())
      .nullable()
      .describe("The carrier's number for the shipment; null where none is known."),
    carrier_name: text().nullable().describe("Carrier that moves the shipment; null where it is not known."),
    status: text().nullable().describe("Where the shipment stands, as the service names it; values not documented."),
    ship_date: date().nullable().describe("Day on which the shipment left; null where that is not known."),
    eta: date().nullable().describe("Day on which the shipment is expected to arrive; null where that is not known."),
    delivered_date: date().nullable().describe("Day on which the shipment was delivered; null until then."),
  },
);
