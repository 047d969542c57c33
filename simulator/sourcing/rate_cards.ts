import { DAY_MS, dayOf } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { type Company, vendorFor } from "../company/company.ts";
import type { Vendor } from "../company/vendors.ts";
import { hash } from "../random.ts";
import { atTheHead, type Family, type Row } from "../source.ts";
import { Values } from "../values.ts";
import { someContract } from "./contracts.ts";
import { DRAWN_FOR } from "./purposes.ts";

export type CardState = "active" | "expired" | "expiring_soon" | "archived";

/** What a rate card is, apart from how its row is written; days count from 1970. */
export interface CardFacts {
  readonly number: number;
  readonly value: number;
  /** Null where the service could not tell which vendor the carrier is. */
  readonly carrier: Vendor | null;
  readonly name: string;
  readonly mode: string;
  readonly start: number;
  readonly end: number;
  readonly state: CardState;
  readonly lanes: number;
  readonly accessorials: number;
}

const MODES = ["LTL", "FTL", "parcel", "sea"] as const;
const FUEL = ["doe_national", "percent_of_linehaul", "none"] as const;

export function cardKey(number: number): string {
  return `RC-${number}`;
}

export function cardNumber(key: string): number {
  return /^RC-[1-9]\d{0,14}$/.test(key) ? Number(key.slice(3)) : Number.NaN;
}

export function cardFamily(company: Company): Family {
  return {
    path: "/rate-cards",
    keyField: "rate_card_id",
    key: cardKey,
    number: cardNumber,
    row: entry => cardRow(company, entry),
    ranks: atTheHead,
  };
}

export function cardFacts(company: Company, { number, insertedAt }: Entry): CardFacts {
  const value = hash(company.seed, DRAWN_FOR.rateCard, number);
  const start = insertedAt === undefined ? company.anchorDay - 10 - (value % 600) : dayOf(insertedAt);
  const end = start + 365;
  const left = end - company.anchorDay;
  // A handful of carriers drive for the company, so most of them have several cards.
  const vendor = vendorFor(company, (value >>> 6) % 12);
  return {
    number,
    value,
    carrier: value % 11 === 3 ? null : vendor,
    name: vendor.name,
    mode: MODES[value % MODES.length] ?? "LTL",
    start,
    end,
    state: left < 0 ? (value % 4 === 0 ? "archived" : "expired") : left < 45 ? "expiring_soon" : "active",
    lanes: (value >>> 12) % 9,
    accessorials: (value >>> 16) % 6,
  };
}

export function cardRow(company: Company, entry: Entry): Row {
  const facts = cardFacts(company, entry);
  const { number, value } = facts;
  const v = new Values(hash(company.seed, DRAWN_FOR.rateCardRow, number));
  const contract = value % 3 === 0 ? null : someContract(company, value >>> 3);
  const discount = v.decimal(v.below(6000), 2);
  const tariff = v.maybe("CzarLite 2019");
  const row = {
    rate_card_id: cardKey(number),
    company_id: v.maybe(company.id),
    carrier_vendor_id: facts.carrier?.id ?? null,
    carrier_name: facts.name,
    mode: facts.mode,
    effective_date: v.date(facts.start),
    expiration_date: v.date(facts.end),
    status: facts.state,
    discount_pct: discount,
    fsc_method: v.maybe(FUEL[value % FUEL.length] ?? null),
    fsc_base_rate: v.decimal(1500 + v.below(2000), 4),
    minimum_charge: v.money(5000 + v.below(20_000)),
    currency_code: v.maybe(company.currency ?? "USD"),
    base_tariff: tariff,
    scac_code: v.maybe(scacOf(value)),
    contract_id: contract,
    contract_number: contract === null ? null : v.maybe(`MSA ${contract}`),
    linked_contract: contract === null ? null : v.maybe(`${contract} – Rahmenvertrag`),
    lane_count: facts.lanes,
    accessorial_count: facts.accessorials,
    created_at: v.maybe(v.moment((facts.start - 5) * DAY_MS + (value % DAY_MS))),
    updated_at: v.maybe(v.moment(facts.start * DAY_MS + (value % DAY_MS))),
  };
  return entry.revision > 0 ? { ...row, base_tariff: `Tariff, revision ${entry.revision}` } : row;
}

/** Four letters of a carrier. */
export function scacOf(value: number): string {
  return [0, 5, 10, 15].map(shift => String.fromCharCode(65 + ((value >>> shift) % 26))).join("");
}
