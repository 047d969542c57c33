import { dayText } from "../calendar.ts";
import { itemFacts, itemKey, manufacturerPart } from "../company/items.ts";
import type { Route } from "../routes.ts";
import type { Values } from "../values.ts";
import type { Bill, Books } from "./books.ts";
import { largestFirst, oldestFirst, type Sum, share, sumsBy, total } from "./sums.ts";
import { monthOf, periodOf, type Window, within } from "./window.ts";

const ANSWER = { exposure: 50, gaps: 51 } as const;
const COUNTRIES = [
  { name: "China", code: "CN", tier: "high", tariff: 2500 },
  { name: "Deutschland", code: "DE", tier: "low", tariff: 270 },
  { name: "México", code: "MX", tier: "medium", tariff: 0 },
  { name: "日本", code: "JP", tier: "low", tariff: 240 },
] as const;

type Country = (typeof COUNTRIES)[number];

const centsOf = ({ cents }: Bill): number => cents;
const countryOf = ({ vendor }: Bill): Country => COUNTRIES[vendor.name.length % COUNTRIES.length] ?? COUNTRIES[0];
const tagged = ({ value }: Bill): boolean => value % 5 !== 0;
const coded = ({ value }: Bill): boolean => value % 3 !== 0;

/** /analytics/tariff-exposure and /analytics/tariff-gaps. */
export function tariffRoutes(books: Books): Route[] {
  return [exposureRoute(books), gapsRoute(books)];
}

/** Whether the company's money could be put to it, and why not. */
function availability({ company }: Books) {
  const available = company.seed % 6 !== 5;
  return { money_available: available, money_unavailable_reason: available ? null : "no exchange rates" };
}

function exposureRoute(books: Books): Route {
  const { company } = books;
  return {
    template: "/analytics/tariff-exposure",
    answer: request => {
      const window = periodOf(company, request);
      const v = books.values(ANSWER.exposure, window.days);
      const bills = within(books.bills(), window);
      const duties = total(bills.filter(tagged), bill => dutyOf(bill));
      const data = {
        currency_code: company.currency,
        ...availability(books),
        ...duty(v, window, duties, total(bills, centsOf), bills.length),
        by_country: sumsBy(bills.filter(tagged), countryOf, centsOf).map(sum => countryRow(v, sum)),
        domestic: v.maybe({ lines: v.below(50) }),
        by_material: v.maybe([{ material: "steel", spend: v.below(10_000) }]),
        material_by_country: v.maybe([{ material: "steel", country_code: "CN" }]),
        material_coverage: v.maybe({ pct: v.below(100) }),
        coverage: coverage(v, bills),
        top_items: largestFirst(
          sumsBy(bills, ({ item }) => item, centsOf),
          10,
        ).map(({ key, cents, count }) => ({
          ...itemOf(v, books, key),
          country: v.maybe(COUNTRIES[key % COUNTRIES.length]?.name ?? null),
          hts_code: v.maybe(`8482.10.${String(key % 100).padStart(2, "0")}`),
          line_count: v.count(count),
          total_spend: v.money(cents),
        })),
        top_vendors: largestFirst(
          sumsBy(bills, ({ vendor }) => vendor, centsOf),
          10,
        ).map(({ key, cents, count }) => ({
          vendor_id: v.maybe(key.id),
          vendor_name: key.name,
          country: v.maybe(COUNTRIES[key.name.length % COUNTRIES.length]?.name ?? null),
          invoice_count: v.count(count),
          total_spend: v.money(cents),
        })),
        trend: oldestFirst(sumsBy(bills, ({ day }) => monthOf(day), centsOf)).map(({ key, cents }) => ({
          month: key,
          tagged_spend: v.money(
            total(
              bills.filter(bill => tagged(bill) && monthOf(bill.day) === key),
              centsOf,
            ),
          ),
          total_spend: v.money(cents),
        })),
        contract_clauses: {
          total: v.count(Math.ceil(company.sizes.orders / 20)),
          with_tariff_clause: v.count(Math.ceil(company.sizes.orders / 50)),
          passthrough_allowed: v.count(Math.ceil(company.sizes.orders / 90)),
          uncapped_passthrough: v.count(Math.ceil(company.sizes.orders / 200)),
        },
        risk_profiles: v.maybe([{ country_code: "CN", tier: "high" }]),
      };
      return { data };
    },
  };
}

function dutyOf(bill: Bill): number {
  return Math.round((bill.cents * countryOf(bill).tariff) / 10_000);
}

function duty(v: Values, window: Window, duties: number, spent: number, lines: number) {
  return {
    duty_as_of_date: v.maybe(dayText(window.last)),
    duty_snapshot_status: v.pick(["fresh", "stale"]),
    duty_window_label: v.maybe(`Last ${window.days} days`),
    total_duty_usd: v.money(duties),
    flat_exposure_total_usd: v.maybe(duties / 100),
    blended_effective_rate_pct: v.decimal(share(duties, spent), 2),
    priced_lines: v.maybe(lines),
    avoidable_section_301_usd: v.money(Math.round(duties / 3)),
    duty_source: v.maybe("documents"),
  };
}

function countryRow(v: Values, { key, cents, count }: Sum<Country>) {
  const exposed = Math.round((cents * key.tariff) / 10_000);
  return {
    country: key.name,
    country_code: v.maybe(key.code),
    risk_tier: v.maybe(key.tier),
    base_tariff_pct: v.decimal(key.tariff, 2),
    doc_count: v.count(count),
    line_count: v.count(count * 2),
    total_spend: v.money(cents),
    estimated_exposure: v.money(exposed),
    lines: [{ line: 1, spend: cents / 100 }].slice(0, v.below(2)),
    detail_coverage: { pct: v.below(100) },
    duty_from_document_usd: v.money(Math.round(exposed / 2)),
    duty_from_inferred_usd: v.money(exposed - Math.round(exposed / 2)),
    effective_tariff_pct: v.decimal(key.tariff, 2),
    duty_is_precise: v.chance(0.5),
  };
}

function coverage(v: Values, bills: readonly Bill[]) {
  const withCountry = bills.filter(tagged);
  const withCode = bills.filter(coded);
  return {
    total_lines: v.count(bills.length),
    lines_with_coo: v.count(withCountry.length),
    lines_with_hts: v.count(withCode.length),
    total_spend: v.money(total(bills, centsOf)),
    spend_with_coo: v.money(total(withCountry, centsOf)),
    spend_with_hts: v.money(total(withCode, centsOf)),
    coverage_pct: v.decimal(share(withCountry.length, bills.length), 2),
    hts_coverage_pct: v.decimal(share(withCode.length, bills.length), 2),
  };
}

function itemOf(v: Values, { company }: Books, item: number) {
  const known = item <= company.sizes.items;
  const { value, description } = itemFacts(company, item);
  return {
    item_id: known ? v.maybe(itemKey(item)) : null,
    vendor_part_number: v.maybe(manufacturerPart(value)),
    description: v.maybe(description),
  };
}

function gapsRoute(books: Books): Route {
  const { company } = books;
  return {
    template: "/analytics/tariff-gaps",
    answer: request => {
      const window = periodOf(company, request);
      const v = books.values(ANSWER.gaps, window.days);
      const bills = within(books.bills(), window);
      const vendors = largestFirst(
        sumsBy(bills, ({ vendor }) => vendor, centsOf),
        25,
      );
      const items = largestFirst(
        sumsBy(
          bills.filter(bill => !tagged(bill) || !coded(bill)),
          ({ item }) => item,
          centsOf,
        ),
        25,
      );
      const data = {
        currency_code: company.currency,
        ...availability(books),
        by_vendor: vendors.map(({ key, cents, count }) => {
          const own = bills.filter(({ vendor }) => vendor === key);
          const [noCountry, noCode] = [own.filter(bill => !tagged(bill)), own.filter(bill => !coded(bill))];
          return {
            vendor_name: key.name,
            vendor_id: v.maybe(key.id),
            total_spend: v.money(cents),
            spend_no_coo: v.money(total(noCountry, centsOf)),
            spend_no_hts: v.money(total(noCode, centsOf)),
            total_lines: v.count(count),
            lines_no_coo: v.count(noCountry.length),
            lines_no_hts: v.count(noCode.length),
          };
        }),
        by_item: items.map(({ key, cents, count }) => {
          const bill = bills.find(({ item }) => item === key);
          const { item_id, ...described } = itemOf(v, books, key);
          return {
            item_id,
            vendor_id: v.maybe(bill?.vendor.id ?? null),
            ...described,
            vendor_name: v.maybe(bill?.vendor.name ?? null),
            total_spend: v.money(cents),
            line_count: v.count(count),
            missing_coo: v.maybe(bill !== undefined && !tagged(bill)),
            missing_hts: v.maybe(bill !== undefined && !coded(bill)),
          };
        }),
      };
      return { data };
    },
  };
}
