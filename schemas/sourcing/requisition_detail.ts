import { anyJson, date, flag, id, inTable, lineId, money, quantity, record, table, text } from "../fields.ts";
import { requisitionFields } from "./requisition.ts";

const inRequisitionCurrency = inTable("requisition_details", "currency_code", "id");

const lines = table("requisition_lines", "What each requisition asks for: one row a line.", {
  id: lineId(id()).describe("Identifier of the line itself."),
  requisition_id: id().describe("Requisition that the line names as its own; the same as id."),
  line_no: id().describe("Number of the line within its requisition."),
  description: text().describe("What is asked for, in words."),
  item_id: id().nullable().describe("Item that is asked for; assumed to be items.item_id, null where none was found."),
  item_name: text().nullable().describe("Name of the item that is asked for; null where none was found."),
  item_category: text()
    .nullable()
    .describe("What sort of goods or service the line asks for; null where none is known."),
  vendor_part_number: text()
    .nullable()
    .describe("What the vendor calls the part in its own catalogue; null where it is not known."),
  quantity: quantity().nullable().describe("How much is asked for, counted in unit; null where it is not said."),
  unit: text().describe("Unit that the quantity is counted in."),
  estimated_unit_price: money(inRequisitionCurrency)
    .nullable()
    .describe("What one unit is expected to cost before a vendor has quoted; null where nobody put a figure to it."),
  estimated_line_total: money(inRequisitionCurrency)
    .nullable()
    .describe(
      "What the whole line is expected to cost before a vendor has quoted; null where nobody put a figure to it.",
    ),
  gl_account_code: text()
    .nullable()
    .describe("Ledger account that the line is booked on; assumed to be chart_of_accounts.account_code."),
  contract_id: id().nullable().describe("Contract that covers the line; assumed to be contracts.contract_id."),
  contract_unit_price: money(inRequisitionCurrency)
    .nullable()
    .describe("Price of one unit under the contract; null where no contract covers the line."),
  volume_tiers: anyJson()
    .nullable()
    .describe("Volume tiers of the contract's price; content not documented, kept as JSON."),
  volume_tier_applied: text().nullable().describe("Volume tier that the price belongs to; null where none applies."),
  contract_min_qty: quantity().nullable().describe("Smallest quantity that the contract allows; null without a bound."),
  contract_max_qty: quantity().nullable().describe("Largest quantity that the contract allows; null without a bound."),
});

/** One requisition: `GET /requisitions/{id}`. */
export const requisitionDetail = record("Each requisition in full, with the address it is delivered to.", {
  ...requisitionFields,
  delivery_address: text().nullable().describe("Street address that the goods go to; null where none is known."),
  delivery_city: text().nullable().describe("City that the goods go to; null where none is known."),
  delivery_state: text().nullable().describe("State or region that the goods go to; null where none is known."),
  po_awaiting_ack: flag()
    .nullable()
    .describe("Whether the order made from it still waits for the vendor's acknowledgement; null without an order."),
  po_ack_date: date().nullable().describe("Day on which the vendor acknowledged the order; null before that."),
  lines,
});
