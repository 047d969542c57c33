import { count, flag, id, inTable, lineId, money, quantity, record, table, text } from "../fields.ts";

const answerCurrency = inTable("analytics_tariff_gaps", "currency_code", "observed_on, period");

const byVendor = table("analytics_tariff_gaps_by_vendor", "What vendors' documents lack for tariffs, one set a day.", {
  vendor_name: text().describe("Vendor's name as a label, never to be joined on."),
  vendor_id: lineId(id()).nullable().describe("Vendor that was bought from; null where the service resolved none."),
  total_spend: money(answerCurrency).nullable().describe("Money spent with the vendor."),
  spend_no_coo: money(answerCurrency).nullable().describe("Spend on lines that name no country of origin."),
  spend_no_hts: money(answerCurrency).nullable().describe("Spend on lines that name no customs tariff number."),
  total_lines: quantity().nullable().describe("How many lines the vendor's documents have."),
  lines_no_coo: quantity().nullable().describe("How many lines name no country of origin."),
  lines_no_hts: quantity().nullable().describe("How many lines name no customs tariff number."),
});

const byItem = table("analytics_tariff_gaps_by_item", "Items whose tariff data is incomplete, one set of rows a day.", {
  item_id: lineId(id()).nullable().describe("Item; assumed to be items.item_id, null where the service resolved none."),
  vendor_id: id().nullable().describe("Vendor the item was bought from; null where the service resolved none."),
  vendor_part_number: text().nullable().describe("The vendor's number for the item, as printed; null without one."),
  description: text().nullable().describe("What the item is, as a label; null where not known."),
  vendor_name: text().nullable().describe("Vendor's name as a label, never to be joined on."),
  total_spend: money(answerCurrency).nullable().describe("Money spent on the item."),
  line_count: count().nullable().describe("How many document lines have the item."),
  missing_coo: flag().nullable().describe("Whether the country of origin is missing."),
  missing_hts: flag().nullable().describe("Whether the customs tariff number is missing."),
});

/** `GET /analytics/tariff-gaps`. */
export const tariffGaps = record("Purchases whose tariff data is incomplete, one row a day and period.", {
  currency_code: text().nullable().describe("Currency of the amounts; null where the service names none."),
  money_available: flag().describe("Whether the service could put amounts to it."),
  money_unavailable_reason: text().nullable().describe("Why there are no amounts; null where there are."),
  by_vendor: byVendor,
  by_item: byItem,
});
