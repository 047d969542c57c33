import { count, flag, id, inName, inTable, json, lineId, list, money, percent, table, text } from "../fields.ts";

const answerCurrency = inTable("analytics_tariff_exposure", "currency_code", "observed_on, period");

/** Tariffs by country of origin. */
export const byCountry = table("analytics_tariff_exposure_by_country", "Tariffs by country of origin, one set a day.", {
  country: lineId(text()).describe("Country of origin, as the service names it."),
  country_code: text()
    .nullable()
    .describe("Short code of the country of origin, going by the name an ISO code; null where the service gives none."),
  risk_tier: text().nullable().describe("How risky the country is, as the service names it; values not documented."),
  base_tariff_pct: percent().nullable().describe("The country's base tariff, in the service's own percentage unit."),
  doc_count: count().nullable().describe("How many documents have something from the country."),
  line_count: count().nullable().describe("How many document lines are from the country."),
  total_spend: money(answerCurrency).nullable().describe("Money spent on what comes from the country."),
  estimated_exposure: money(answerCurrency).nullable().describe("What tariffs on it are estimated to cost."),
  lines: list().describe("The lines behind the figures, a list whose content is not documented, kept as JSON."),
  detail_coverage: json().describe("How far the figures rest on details; content not documented, kept as JSON."),
  duty_from_document_usd: money(inName).nullable().describe("Duties that documents state, in US dollars."),
  duty_from_inferred_usd: money(inName).nullable().describe("Duties that the service inferred, in US dollars."),
  effective_tariff_pct: percent()
    .nullable()
    .describe("Tariff that is in effect for the country, in the service's own percentage unit."),
  duty_is_precise: flag().describe("Whether the duties are exact rather than estimated."),
});

/** The items that tariffs weigh on most. */
export const topItems = table(
  "analytics_tariff_exposure_top_items",
  "Items with most spend under tariffs, as of a day.",
  {
    item_id: lineId(id())
      .nullable()
      .describe("Item; assumed to be items.item_id, null where the service resolved none."),
    vendor_part_number: text().nullable().describe("The vendor's number for the item, as printed; null without one."),
    description: text().nullable().describe("What the item is, as a label; null where not known."),
    country: text().nullable().describe("Country of origin, as the service names it; null where not known."),
    hts_code: text().nullable().describe("Customs tariff number of the item; null where not known."),
    line_count: count().nullable().describe("How many document lines have the item."),
    total_spend: money(answerCurrency).nullable().describe("Money spent on the item."),
  },
);

/** The vendors that tariffs weigh on most. */
export const topVendors = table("analytics_tariff_exposure_top_vendors", "Vendors with most spend under tariffs.", {
  vendor_id: lineId(id()).nullable().describe("Vendor that was bought from; null where the service resolved none."),
  vendor_name: text().describe("Vendor's name as a label, never to be joined on."),
  country: text().nullable().describe("Country the goods come from, as the service names it; null where not known."),
  invoice_count: count().nullable().describe("How many invoices the vendor sent."),
  total_spend: money(answerCurrency).nullable().describe("Money spent with the vendor."),
});

/** Spend with a known origin over time. */
export const trend = table("analytics_tariff_exposure_trend", "Spend with a known origin by month, one set a day.", {
  month: lineId(text()).describe("Month that is counted, as the service writes it."),
  tagged_spend: money(answerCurrency).nullable().describe("Spend of the month whose origin is known."),
  total_spend: money(answerCurrency).nullable().describe("All spend of the month."),
});
