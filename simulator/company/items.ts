import { DAY_MS, dayOf } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { hash } from "../random.ts";
import { Values } from "../values.ts";
import { type Company, PURPOSE } from "./company.ts";

const PARTS: readonly string[] = [
  "Hex bolt M8×40, A2-70",
  'Ball valve 1/2", brass',
  "Deep groove ball bearing 6204-2RS",
  "O-ring 12 × 2.5 mm, NBR 70",
  "Hydraulikschlauch DN 10, 2SN",
  "六角ボルト M10",
  "Filter cartridge,\n10 micron, pleated",
  "Cable gland M20 (IP68)",
  "Corrugated box 400×300×200",
  "Safety gloves, size 9 🧤",
  "Vis à tête fraisée M5",
  "Proximity sensor, PNP, 4 mm",
  "Welding wire ER70S-6, 0.8 mm",
  'Steel sheet 48" x 96" x 1/8"',
  "Keilriemen SPZ 1250",
  "Solenoid valve 24 V DC; 3/2-way",
  "轴承座 UCP205",
  'Lubricating grease, "food grade", 400 g',
];
const FINISHES = ["", ", zinc plated", ", verzinkt", " (RoHS)", ", 100 pcs", "; black", " – Ersatzteil", ", rev. B"];
const CATEGORIES = ["Fasteners", "Valves & fittings", "Bearings", "Seals", "Electrical", "Packaging", "MRO"];
const SUBCATEGORIES = ["Metric", "Imperial", "Stainless", "Spare parts", "Consumables"];
const UOMS = ["EA", "PCS", "KG", "M", "BOX", "100 EA"];
const STRATEGIES = ["sole_source", "dual_source", "multi_source"];
const CLASSES = ["A", "B", "C"];
const PATTERNS = ["none", "q4_peak", "summer_low"];

/** What an item is, apart from how its row is written; prices in ten-thousandths. */
export interface ItemFacts {
  readonly number: number;
  readonly value: number;
  readonly description: string;
  readonly uom: string;
  readonly price: number;
}

export function itemKey(number: number): string {
  return `ITM-${String(number).padStart(6, "0")}`;
}

export function itemNumber(key: string): number {
  return /^ITM-\d{6,}$/.test(key) ? Number(key.slice(4)) : Number.NaN;
}

/** The list price of an item in ten-thousandths of its currency. */
export function itemPrice(company: Company, number: number): number {
  const value = hash(company.seed, PURPOSE.itemFacts, number);
  return 1000 + (value % 997) * ((value >>> 12) % 991) + ((value >>> 22) % 3 === 0 ? value >>> 24 : 0) * 7;
}

export function itemFacts(company: Company, number: number): ItemFacts {
  const value = hash(company.seed, PURPOSE.itemFacts, number);
  const part = PARTS[value % PARTS.length] ?? "";
  const finish = FINISHES[(value >>> 6) % FINISHES.length] ?? "";
  const uom = UOMS[(value >>> 9) % UOMS.length] ?? "EA";
  return { number, value, description: `${part}${finish}`, uom, price: itemPrice(company, number) };
}

export function manufacturerPart(value: number): string {
  return `MP-${(value % 90000) + 10000}/${(value >>> 20) % 100}`;
}

/** How many vendors an item is bought from, and whether a contract covers it: what the list's statistics count. */
export function itemSourcing(
  company: Company,
  number: number,
): { vendors: number; contracts: number; variance: number } {
  const value = hash(company.seed, PURPOSE.itemFacts, number, 1);
  return {
    vendors: 1 + ((value & 15) % 5),
    contracts: (value >>> 4) % 4 === 0 ? 1 + ((value >>> 6) % 3) : 0,
    variance: (value >>> 8) % 4000,
  };
}

function strategyOf(vendors: number): string {
  return STRATEGIES[Math.min(vendors, 3) - 1] ?? "multi_source";
}

/** A change must show, so what it touches is never null and always a numeral afterwards. */
function changed<T>(revision: number, plain: T, drawn: T | string | null): T | string | null {
  return revision > 0 ? plain : drawn;
}

/** One row of the item list, all documented fields present. */
export function itemRow(company: Company, entry: Entry): Record<string, unknown> {
  const { number, revision } = entry;
  const v = new Values(hash(company.seed, PURPOSE.itemRow, number));
  const facts = itemFacts(company, number);
  const { vendors, contracts, variance } = itemSourcing(company, number);
  const documents = v.between(1, 60) + revision;
  const lines = documents + v.below(40);
  const quantity = lines * v.between(1, 400);
  const last = facts.price + v.below(2000) + revision * 25;
  const low = Math.round(facts.price * 0.8);
  const spend = Math.round((quantity * facts.price) / 100);
  const lastDay =
    entry.insertedAt === undefined ? company.anchorDay - v.below(company.historyDays) : dayOf(entry.insertedAt);
  const firstDay = lastDay - v.below(900);
  const deliveries = v.below(documents + 1);
  const lead = v.between(20, 900);
  const punctual = v.between(4000, 10000);
  const enriched = v.chance(0.8) ? company.anchorDay - v.below(200) : null;
  const bought = lastDay >= company.anchorDay - 365;
  const year = bought ? Math.round(spend * 0.4) : 0;
  return {
    item_id: itemKey(number),
    description: v.maybe(facts.description),
    category: v.maybe(CATEGORIES[facts.value % CATEGORIES.length] ?? null),
    subcategory: v.maybe(SUBCATEGORIES[(facts.value >>> 5) % SUBCATEGORIES.length] ?? null),
    sku: v.maybe(`SKU-${facts.value % 1000000}`),
    mpn: v.maybe(manufacturerPart(facts.value)),
    uom: v.maybe(facts.uom),
    currency_code: v.maybe(company.currency ?? "USD"),
    line_item_count: v.count(lines),
    document_count: changed(revision, documents, v.count(documents)),
    vendor_count: v.count(vendors),
    total_qty: v.decimal(quantity * 1000 + (v.chance(0.2) ? 250 : 0), 3),
    avg_price: v.decimal(facts.price * 100 + v.below(100), 6),
    min_price: v.decimal(low, 4),
    max_price: v.decimal(Math.round(facts.price * 1.3), 4),
    total_spend_lifetime: v.money(spend),
    total_spend_ttm: v.money(year),
    total_spend_30d: v.money(lastDay >= company.anchorDay - 30 ? Math.round(year / 12) : 0),
    total_spend_90d: v.money(lastDay >= company.anchorDay - 90 ? Math.round(year / 4) : 0),
    total_spend_365d: v.money(year),
    total_spend: v.money(spend),
    spend_rank_in_company: v.count(1 + (facts.value % Math.max(1, company.sizes.items))),
    price_variance_pct: v.decimal(variance, 2),
    sourcing_strategy: v.maybe(strategyOf(vendors)),
    first_purchased: v.date(firstDay),
    last_purchased: v.date(lastDay),
    last_unit_price: changed(revision, last / 10000, v.decimal(last, 4)),
    price_trend_pct: v.decimal(v.between(-2500, 2500), 2),
    avg_lead_time_days: v.decimal(lead, 1),
    avg_lead_time_days_30d: v.decimal(lead + v.below(20), 1),
    avg_lead_time_days_365d: v.decimal(lead + v.below(9), 1),
    lead_time_p90: v.count(Math.ceil(lead / 8)),
    lead_time_observation_count: v.count(deliveries),
    on_time_pct: v.decimal(punctual, 2),
    on_time_pct_30d: v.decimal(punctual - v.below(100), 2),
    on_time_pct_90d: v.decimal(punctual - v.below(50), 2),
    on_time_pct_365d: v.decimal(punctual, 2),
    delivery_count: v.count(deliveries),
    delivery_count_30d: v.count(deliveries >> 4),
    delivery_count_90d: v.count(deliveries >> 3),
    delivery_count_365d: v.count(deliveries >> 1),
    has_active_contract: v.maybe(contracts > 0),
    active_contract_count: v.count(contracts),
    criticality_class: v.maybe(CLASSES[facts.value % 3] ?? null),
    criticality_reasoning: v.maybe(
      `Bought from ${vendors} vendor(s); "${facts.description}" has ${documents} documents`,
    ),
    supply_risk_score: v.decimal(v.below(10001), 4),
    supply_risk_reasoning: v.maybe(vendors === 1 ? "Only one vendor, no alternative qualified" : "Alternatives exist"),
    seasonality_pattern: v.maybe(PATTERNS[v.below(3)] ?? null),
    seasonality_notes: v.maybe(v.chance(0.5) ? "" : "Peaks before year end – order früh"),
    last_enriched_at: enriched === null ? null : v.moment(enriched * DAY_MS + v.below(DAY_MS)),
    intelligence_age_days: enriched === null ? null : v.count(company.today() - enriched),
    has_active_intelligence: v.maybe(enriched !== null),
  };
}
