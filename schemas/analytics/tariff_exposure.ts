import { z } from "zod";
import { count, date, flag, inName, inRow, json, list, money, percent, quantity, record, text } from "../fields.ts";
import { byCountry, topItems, topVendors, trend } from "./tariff_exposure_tables.ts";

const undocumented = "content not documented, kept as JSON.";

/** `GET /analytics/tariff-exposure`. */
export const tariffExposure = record("What tariffs cost on what was bought, one row a day and period.", {
  currency_code: text().nullable().describe("Currency of the amounts that are not in dollars; null where not named."),
  money_available: flag().describe("Whether the service could put amounts to it."),
  money_unavailable_reason: text().nullable().describe("Why there are no amounts; null where there are."),
  duty_as_of_date: date().nullable().describe("Day that the duties are as of; null where not known."),
  duty_snapshot_status: text().describe("How fresh the duties are, as the service names it; values not documented."),
  duty_window_label: text().nullable().describe("Window that the duties are of, in the service's words for display."),
  total_duty_usd: money(inName).nullable().describe("All duties of the window, in US dollars."),
  flat_exposure_total_usd: money(inName).nullable().describe("Exposure by the countries' flat tariffs, in US dollars."),
  blended_effective_rate_pct: percent()
    .nullable()
    .describe("Duties as a share of the priced spend, in the service's own percentage unit."),
  priced_lines: quantity().nullable().describe("How many lines a duty could be put to."),
  avoidable_section_301_usd: money(inName)
    .nullable()
    .describe("Duties under section 301 that could be avoided, in US dollars."),
  duty_source: text()
    .nullable()
    .describe("Where the duties come from, as the service names it; values not documented."),
  by_country: byCountry,
  domestic: json().nullable().describe(`What was bought at home; ${undocumented}`),
  by_material: list().nullable().describe(`Tariffs by material, a list whose content is not documented, kept as JSON.`),
  material_by_country: list()
    .nullable()
    .describe(`Tariffs by material and country, a list whose content is not documented, kept as JSON.`),
  material_coverage: json().nullable().describe(`For how much of the purchases the material is known; ${undocumented}`),
  coverage: z.object({
    total_lines: quantity().nullable().describe("How many document lines were looked at."),
    lines_with_coo: quantity().nullable().describe("How many lines name a country of origin."),
    lines_with_hts: quantity().nullable().describe("How many lines name a customs tariff number."),
    total_spend: money(inRow("currency_code")).nullable().describe("Spend of the lines that were looked at."),
    spend_with_coo: money(inRow("currency_code")).nullable().describe("Spend of lines that name a country of origin."),
    spend_with_hts: money(inRow("currency_code"))
      .nullable()
      .describe("Spend of lines that name a customs tariff number."),
    coverage_pct: percent()
      .nullable()
      .describe("Share that names a country of origin, in the service's own percentage unit."),
    hts_coverage_pct: percent()
      .nullable()
      .describe("Share that names a customs tariff number, in the service's own percentage unit."),
  }),
  top_items: topItems,
  top_vendors: topVendors,
  trend,
  contract_clauses: z.object({
    total: count().nullable().describe("How many contracts were looked at for tariff clauses."),
    with_tariff_clause: quantity().nullable().describe("How many contracts have a clause about tariffs."),
    passthrough_allowed: quantity().nullable().describe("How many contracts let the vendor pass tariffs on."),
    uncapped_passthrough: quantity()
      .nullable()
      .describe("How many contracts let the vendor pass tariffs on without limit."),
  }),
  risk_profiles: list()
    .nullable()
    .describe(`Countries' risk profiles, a list whose content is not documented, kept as JSON.`),
});
