import { flag, id, inTable, lineId, money, quantity, table, text } from "../fields.ts";

const inRequestCurrency = inTable("rfq_details", "currency_code", "id");

/** `lanes[]` of `GET /rfqs/{id}`. */
export const rfqLanes = table("rfq_lanes", "Freight lanes that each request asks quotations for: one row a lane.", {
  id: lineId(id()).describe("Identifier of the lane itself."),
  rfq_id: id().nullable().describe("Request that the lane names as its own; the same as id where it is given."),
  origin_city: text().nullable().describe("City that the freight comes from; null where it is not said."),
  origin_state: text().nullable().describe("State or region that the freight comes from; null where it is not said."),
  origin_zip: text().nullable().describe("Postal code that the freight comes from; null where it is not said."),
  dest_city: text().nullable().describe("City that the freight goes to; null where it is not said."),
  dest_state: text().nullable().describe("State or region that the freight goes to; null where it is not said."),
  dest_zip: text().nullable().describe("Postal code that the freight goes to; null where it is not said."),
  mode: text().nullable().describe("Mode of transport, as the service names it; values not documented."),
  freight_class: id().nullable().describe("Freight class of the goods; a class and no quantity, null where not said."),
  weight_min: quantity().nullable().describe("Least weight of a shipment; its unit is not documented."),
  weight_max: quantity().nullable().describe("Greatest weight of a shipment; its unit is not documented."),
  annual_volume_estimate: quantity()
    .nullable()
    .describe("How much is expected to move in a year; what is counted is not documented."),
  equipment_type: text().nullable().describe("Equipment that the freight needs; null where none is named."),
  hazmat: flag().describe("Whether the freight is hazardous."),
  accessorials_required: text()
    .nullable()
    .describe("Services that are needed beyond the transport itself, as the service writes them."),
  target_rate_per_cwt: money(inRequestCurrency)
    .nullable()
    .describe("Price for each hundredweight that the buyer aims at; null where none is set."),
  target_flat_rate: money(inRequestCurrency)
    .nullable()
    .describe("Price for a whole shipment that the buyer aims at; null where none is set."),
  notes: text().nullable().describe("Remarks made on the lane; null without any."),
});
