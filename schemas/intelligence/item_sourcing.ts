import { count, flag, id, inTable, json, list, money, percent, quantity, record, text, volatile } from "../fields.ts";
import { itemVendors } from "./item_vendors.ts";

const inItemCurrency = inTable("items", "currency_code", "item_id");

/** `GET /items/{item_id}/vendors`. */
export const itemSourcing = record(
  "How each item is sourced: its measures, what it costs and how it is delivered over all vendors.",
  {
    item_id: id().describe("The item, the same as items.item_id."),
    description: text().nullable().describe("What the item is, in words; null where nothing is known."),
    category: text().nullable().describe("Category the service sorts the item into; values not documented."),
    category_metric_backing: json()
      .nullable()
      .describe("What the category rests on; content not documented, kept as JSON."),
    sku: text().nullable().describe("Stock keeping number of the item; null where it has none."),
    mpn: text().nullable().describe("The manufacturer's part number; null where it is not known."),
    aliases: list().describe("Other names and numbers of the item, a list kept as JSON."),
    weight_per_unit_lbs: quantity()
      .nullable()
      .describe("Weight of one unit, by its name in pounds; null where not known."),
    weight_unit: text()
      .nullable()
      .describe(
        "What weight_per_unit_lbs is counted in by the service's own account, such as lb; null where it names none.",
      ),
    length_in: quantity().nullable().describe("Length, by its name in inches; null where it is not known."),
    width_in: quantity().nullable().describe("Width, by its name in inches; null where it is not known."),
    height_in: quantity().nullable().describe("Height, by its name in inches; null where it is not known."),
    freight_class: id().nullable().describe("Freight class of the item, as text; null where it is not known."),
    packaging_form: text().nullable().describe("Form in which the item is packed; values not documented."),
    vendor_count: count().nullable().describe("How many vendors the item is bought from."),
    priced_vendor_count: count().nullable().describe("For how many of those vendors a price is known."),
    total_spend: money(inItemCurrency).nullable().describe("Money spent on the item; the period is not documented."),
    avg_price: money(inItemCurrency).nullable().describe("Average price of one unit; the period is not documented."),
    last_bought: json().nullable().describe("The latest purchase; content not documented, kept as JSON."),
    price_sample_count: count().nullable().describe("How many prices the average rests on."),
    vendors: itemVendors,
    total_spend_lifetime: money(inItemCurrency).nullable().describe("Money spent on the item over its whole history."),
    total_spend_ttm: volatile(money(inItemCurrency))
      .nullable()
      .describe("Money spent on the item in the trailing twelve months; moves by itself each day."),
    spend_rank_in_company: volatile(quantity())
      .nullable()
      .describe("The item's place among the company's items by spend; moves when others do."),
    sourcing_strategy: text()
      .nullable()
      .describe("How the item is sourced, as the service names it; values not documented."),
    item_on_time_pct: percent()
      .nullable()
      .describe("Share of deliveries on time over all vendors, in the service's own unit."),
    item_delivery_count: count().nullable().describe("How many deliveries of the item are known over all vendors."),
    item_avg_lead_time_days: quantity().nullable().describe("Average lead time over all vendors, in days."),
    item_lead_time_p90: quantity().nullable().describe("90th percentile of the lead time over all vendors, in days."),
    item_lead_time_observation_count: count().nullable().describe("How many deliveries the lead-time figures rest on."),
    item_last_unit_price: money(inItemCurrency).nullable().describe("Price of one unit at the latest purchase of all."),
    item_price_trend_pct: percent()
      .nullable()
      .describe("Direction and size of the price's movement, in the service's own percentage unit."),
    has_active_contract: flag()
      .nullable()
      .describe("Whether a contract for the item is in force; null where not known."),
    active_contract_count: count().nullable().describe("How many contracts for the item are in force."),
    intelligence: json()
      .nullable()
      .describe("The service's account of the item; content not documented, kept as JSON."),
  },
);
