import { count, date, id, inTable, json, lineId, list, money, percent, quantity, table, text } from "../fields.ts";

const inItemCurrency = inTable("items", "currency_code", "item_id");

/** `vendors[]` of `GET /items/{item_id}/vendors`. */
export const itemVendors = table("item_vendors", "Vendors of each item, with what they charge and how they deliver.", {
  vendor_id: lineId(id()).nullable().describe("Vendor of the item; null where the service resolved none."),
  vendor_name: text().nullable().describe("Vendor's name as a label; null where unknown, and never to be joined on."),
  document_count: count().nullable().describe("How many of the vendor's documents name the item."),
  line_item_count: count().nullable().describe("How many lines of those documents name the item."),
  total_quantity: quantity()
    .nullable()
    .describe("Quantity bought from the vendor in all, in the item's unit of measure."),
  avg_price: money(inItemCurrency).nullable().describe("Average price of one unit at the vendor."),
  last_cost: money(inItemCurrency).nullable().describe("What one unit cost when it was last bought from the vendor."),
  min_price: money(inItemCurrency).nullable().describe("Lowest price of one unit at the vendor."),
  max_price: money(inItemCurrency).nullable().describe("Highest price of one unit at the vendor."),
  total_spend: money(inItemCurrency)
    .nullable()
    .describe("Money spent on the item at the vendor; the period is not documented."),
  on_time_pct: percent().nullable().describe("Share of the vendor's deliveries on time, in the service's own unit."),
  avg_lead_time_days: quantity().nullable().describe("Average lead time of the vendor, in days."),
  delivery_count: count().nullable().describe("How many deliveries of the vendor are known."),
  first_purchased: date().nullable().describe("Day of the first purchase from the vendor; null where none is known."),
  last_purchased: date().nullable().describe("Day of the latest purchase from the vendor; null where none is known."),
  price_sample_count: count().nullable().describe("How many prices the vendor's price figures rest on."),
  last_price_update: date()
    .nullable()
    .describe("Day on which the vendor's price was last seen to change; null where none is."),
  last_price_doc_id: id()
    .nullable()
    .describe("Document that gave the vendor's latest price; null where there is none."),
  price_vs_portfolio_pct: percent()
    .nullable()
    .describe(
      "How far the vendor's price is from that of all vendors, in the service's own unit; sign not documented.",
    ),
  contract_price: money(inItemCurrency)
    .nullable()
    .describe("What one unit costs at the vendor by an agreement in force; null where there is none."),
  contract_drift: json()
    .nullable()
    .describe("How prices drift from the contract; content not documented, kept as JSON."),
  lt_avg_days: quantity().nullable().describe("Average of the vendor's observed lead times, by its name in days."),
  lt_ewma_days: quantity()
    .nullable()
    .describe("Exponentially weighted average of the vendor's lead times, by its name in days."),
  lt_trend_pct: percent()
    .nullable()
    .describe("Movement of the vendor's lead times, in the service's own percentage unit."),
  lt_last_3: list().nullable().describe("The vendor's latest three lead times, a list of numbers kept as JSON."),
  lt_observation_count: count().nullable().describe("How many observed lead times those figures rest on."),
  lt_last_observed: date().nullable().describe("Day on which a lead time was last observed; null where none was."),
});
