import type { Entry } from "../collection.ts";
import { type Company, vendorFor } from "../company/company.ts";
import { itemRow, itemSourcing } from "../company/items.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import type { Values } from "../values.ts";
import { DRAWN, valuesOf } from "./family.ts";
import type { Purchase } from "./item_purchases.ts";

/** How an item is sourced. What it shares with its list row is taken from that row; its vendors begin with those of its orders. */
export function itemVendors(company: Company, entry: Entry, purchases: readonly Purchase[]): Row {
  const { number } = entry;
  const row = itemRow(company, entry);
  const v = valuesOf(company, DRAWN.itemVendors, number);
  const { vendors } = itemSourcing(company, number);
  const priced = Math.max(0, vendors - 1);
  return {
    item_id: row["item_id"],
    description: row["description"],
    category: row["category"],
    category_metric_backing: v.maybe({ basis: "description", confidence: 0.8 }),
    sku: row["sku"],
    mpn: row["mpn"],
    aliases: number % 3 === 0 ? [] : [`B-${number}`, `Teil „${number}“`],
    weight_per_unit_lbs: v.decimal(v.below(9000), 3),
    weight_unit: v.maybe("lb"),
    length_in: v.decimal(v.between(10, 4000), 2),
    width_in: v.decimal(v.between(10, 4000), 2),
    height_in: v.decimal(v.between(10, 4000), 2),
    freight_class: v.decimal(v.pick([500, 925, 1000]), 1),
    packaging_form: v.maybe(v.pick(["box", "pallet"])),
    vendor_count: row["vendor_count"],
    priced_vendor_count: v.count(priced),
    total_spend: row["total_spend"],
    avg_price: row["avg_price"],
    last_bought: v.maybe({ date: row["last_purchased"], unit_price: row["last_unit_price"] }),
    price_sample_count: v.count(v.below(40)),
    vendors: vendorIds(company, number, vendors, purchases).map(index => vendor(company, index, entry, v)),
    total_spend_lifetime: row["total_spend_lifetime"],
    total_spend_ttm: row["total_spend_ttm"],
    spend_rank_in_company: row["spend_rank_in_company"],
    sourcing_strategy: row["sourcing_strategy"],
    item_on_time_pct: row["on_time_pct"],
    item_delivery_count: row["delivery_count"],
    item_avg_lead_time_days: row["avg_lead_time_days"],
    item_lead_time_p90: row["lead_time_p90"],
    item_lead_time_observation_count: row["lead_time_observation_count"],
    item_last_unit_price: row["last_unit_price"],
    item_price_trend_pct: row["price_trend_pct"],
    has_active_contract: row["has_active_contract"],
    active_contract_count: row["active_contract_count"],
    intelligence: v.maybe({ criticality: row["criticality_class"] }),
  };
}

/** As many different vendors as the item's row says, or as the company has. */
function vendorIds(company: Company, number: number, count: number, purchases: readonly Purchase[]): number[] {
  const chosen = new Set<number>(purchases.map(({ order }) => company.vendors.indexOf(order.vendor)));
  for (let i = 0; chosen.size < Math.min(count, company.vendors.length); i += 1)
    chosen.add(hash(company.seed, DRAWN.itemVendors, number, i + 1) % company.vendors.length);
  return [...chosen].slice(0, count);
}

function vendor(company: Company, index: number, { number, revision }: Entry, v: Values): Row {
  const { id, name } = vendorFor(company, index);
  const resolved = v.chance(0.92);
  const cents = v.between(100, 90_000);
  const firstDay = company.anchorDay - v.between(200, 1200);
  const lastDay = firstDay + v.below(200);
  const observed = v.below(6);
  return {
    vendor_id: resolved ? id : null,
    vendor_name: v.maybe(name),
    document_count: v.count(1 + v.below(20)),
    line_item_count: v.count(1 + v.below(60)),
    total_quantity: v.decimal(v.below(900_000), 3),
    avg_price: v.decimal(cents * 100 + 7, 4),
    last_cost: v.money(cents + revision * 25),
    min_price: v.money(Math.round(cents * 0.9)),
    max_price: v.money(Math.round(cents * 1.2)),
    total_spend: v.money(cents * 40),
    on_time_pct: v.decimal(v.between(4000, 10_000), 2),
    avg_lead_time_days: v.decimal(v.between(20, 900), 1),
    delivery_count: v.count(v.below(50)),
    first_purchased: v.date(firstDay),
    last_purchased: v.date(lastDay),
    price_sample_count: v.count(v.below(30)),
    last_price_update: v.date(lastDay),
    last_price_doc_id: v.maybe(`DOC-P${1 + (number % Math.max(1, company.sizes.orders))}`),
    price_vs_portfolio_pct: v.decimal(v.between(-2000, 2000), 2),
    contract_price: v.chance(0.3) ? v.money(Math.round(cents * 0.95)) : null,
    contract_drift: v.chance(0.3) ? { pct: 2.5 } : null,
    lt_avg_days: v.decimal(v.between(20, 900), 1),
    lt_ewma_days: v.decimal(v.between(200, 9000), 2),
    lt_trend_pct: v.decimal(v.between(-900, 900), 2),
    lt_last_3: v.maybe([12, 9.5, 14].slice(0, Math.min(3, observed))),
    lt_observation_count: v.count(observed),
    lt_last_observed: observed === 0 ? null : v.date(lastDay),
  };
}
