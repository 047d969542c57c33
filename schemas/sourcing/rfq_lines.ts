import { id, inTable, lineId, money, quantity, table, text } from "../fields.ts";

const inRequestCurrency = inTable("rfq_details", "currency_code", "id");

/** `lines[]` of `GET /rfqs/{id}`. */
export const rfqLines = table("rfq_lines", "Goods that each request asks quotations for: one row a line.", {
  id: lineId(id()).describe("Identifier of the line itself."),
  rfq_id: id().nullable().describe("Request that the line names as its own; the same as id where it is given."),
  item_id: id().nullable().describe("Item that is asked for; assumed to be items.item_id, null where it is none."),
  description: text().nullable().describe("What is asked for, in words; null where nothing is said."),
  quantity: quantity().nullable().describe("How much is asked for, counted in unit; null where it is not said."),
  unit: text().nullable().describe("Unit that the quantity is counted in; null where it is not said."),
  target_unit_price: money(inRequestCurrency)
    .nullable()
    .describe("Price of one unit that the buyer aims at; null where none is set."),
  estimated_unit_price: money(inRequestCurrency)
    .nullable()
    .describe("Price of one unit that is expected; null where there is no estimate."),
  delivery_site_id: id()
    .nullable()
    .describe("Site that the line goes to; assumed to be delivery_sites.site_id, null where none is named."),
  awarded_vendor_id: id().nullable().describe("Vendor that the line was awarded to; null before an award."),
  awarded_vendor_name: text()
    .nullable()
    .describe("Name of the vendor that the line was awarded to, a label and never to be joined on."),
  awarded_quantity: quantity().nullable().describe("How much of the line was awarded; null before an award."),
  award_amount: money(inRequestCurrency).nullable().describe("Value of what was awarded; null before an award."),
});
