import {
  count,
  flag,
  id,
  inTable,
  json,
  lineId,
  list,
  moment,
  money,
  quantity,
  record,
  table,
  text,
} from "../fields.ts";
import { purchaseOrderLegs } from "../purchase_order_legs.ts";

const inOrderCurrency = inTable("purchase_order_details", "currency_code", "po_number");

const lines = table(
  "purchase_order_as_of_lines",
  "Lines of the purchase orders as they stood at the times asked for.",
  {
    line_no: lineId(id()).nullable().describe("Line number on the order, as text; null where the line has none."),
    description: text().nullable().describe("What is ordered, in words; null where the line says nothing."),
    uom: text().nullable().describe("Unit of measure of the line's quantity; null where it is not given."),
    part_number: text().nullable().describe("Number of the ordered part; null where it is not given."),
    quantity: quantity().nullable().describe("Quantity that was ordered at that time; null where it is not known."),
    unit_price: money(inOrderCurrency)
      .nullable()
      .describe("Price of one unit at that time; null where it is not known."),
    line_total: money(inOrderCurrency)
      .nullable()
      .describe("Total of the line at that time; null where it is not known."),
    changed_fields: list().describe("Names of the fields that have changed since then, a list kept as JSON."),
    inconsistent: flag().describe("Whether the line's figures contradict each other in the service's judgement."),
  },
);

const changes = table(
  "purchase_order_as_of_changes",
  "What has changed on the purchase orders since the times asked for.",
  {
    field: text().describe("Field that has changed, as the service names it."),
    label: text().nullable().describe("Name of the field for display; null where it has none."),
    line_no: id().nullable().describe("Line that has changed, as text; null where it is the order as a whole."),
    as_of_value: id().nullable().describe("The value at that time, as text because field says what it is."),
    current_value: id().nullable().describe("The value at present, as text because field says what it is."),
    changed_by: json().nullable().describe("What brought the change; content not documented, kept as JSON."),
  },
);

/** `GET /po/{po_number}/as-of`. */
export const purchaseOrderAsOf = record(
  "Purchase orders as the service knew them at the times that the configuration names.",
  {
    po_number: id().describe("The order, the same as purchase_orders.po_number."),
    as_of: moment().describe("Time the answer is for, as the service gives it back."),
    no_data_as_of: flag().describe("Whether the service knew nothing of the order at that time."),
    first_seen: moment().nullable().describe("When the service first knew of the order; null where that is not known."),
    header: json().nullable().describe("Head of the order at that time; content not documented, kept as JSON."),
    lines,
    changed_count: count()
      .nullable()
      .describe("How many things have changed since then; null where they are not counted."),
    changes,
    legs: purchaseOrderLegs.meta({
      table: "purchase_order_as_of_legs",
      description: "Statements the service held about the purchase orders at the times asked for, one row a leg.",
    }),
  },
);
