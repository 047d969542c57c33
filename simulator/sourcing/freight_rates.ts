import { DAY_MS, dayText } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { hash } from "../random.ts";
import type { Route } from "../routes.ts";
import { atTheHead, type Family, type Row, type Source } from "../source.ts";
import { Values } from "../values.ts";
import { completeRows } from "./complete.ts";
import { proNumber } from "./freight_claims.ts";
import { DRAWN_FOR } from "./purposes.ts";
import { CHARGES } from "./rate_card_rates.ts";

const REGIONS = ["U.S.", "East Coast", "Midwest", "Gulf Coast"] as const;

const numeral = (key: string): number => (/^[1-9]\d{0,14}$/.test(key) ? Number(key) : Number.NaN);

/** Diesel prices: a row for each week and region, the newest week first. */
export function dieselFamily(company: Company, size: number): Family {
  const newest = Math.ceil(size / REGIONS.length);
  return {
    path: "/doe-diesel-prices",
    keyField: "id",
    key: String,
    number: numeral,
    row: ({ number, revision }: Entry): Row => {
      const v = new Values(hash(company.seed, DRAWN_FOR.diesel, number));
      const week = Math.ceil(number / REGIONS.length);
      const day = company.anchorDay - (company.anchorDay % 7) - (newest - week) * 7;
      const price = 3400 + v.below(900);
      const written = v.decimal(price, 3);
      return {
        id: number,
        week_ending: dayText(day),
        region: REGIONS[number % REGIONS.length],
        price_per_gal: revision > 0 ? (price + revision * 10) / 1000 : written,
        source: v.maybe("EIA"),
        fetched_at: v.maybe(v.moment((day + 1) * DAY_MS + v.below(DAY_MS))),
        created_at: v.maybe(v.moment((day + 1) * DAY_MS + v.below(DAY_MS))),
      };
    },
    ranks: atTheHead,
  };
}

/** Charges that were allowed for a shipment. */
export function authorizationFamily(company: Company): Family {
  return {
    path: "/accessorial-authorizations",
    keyField: "id",
    key: String,
    number: numeral,
    row: ({ number, revision, insertedAt }: Entry): Row => {
      const value = hash(company.seed, DRAWN_FOR.authorization, number);
      const v = new Values(hash(value, 1));
      const at = insertedAt ?? (company.anchorDay - 1 - (value % 300)) * DAY_MS + (value % DAY_MS);
      const notes = v.maybe('approved by phone, "ausnahmsweise"');
      return {
        id: number,
        pro_number: proNumber(value),
        charge_code: CHARGES[value % CHARGES.length]?.[0] ?? "LFT",
        authorized_by: v.maybe("Zoë Čapková"),
        authorized_at: v.maybe(v.moment(at)),
        authorized_amount_max: v.money(5000 + v.below(60_000)),
        authorization_expires_at: v.chance(0.5) ? v.moment(at + 30 * DAY_MS) : null,
        source: v.pick(["email", "manual"]),
        notes: revision > 0 ? `changed ${revision} time(s)` : notes,
        created_at: v.maybe(v.moment(at)),
        updated_at: v.maybe(v.moment(at + revision * DAY_MS)),
      };
    },
    ranks: atTheHead,
  };
}

/** /doe-diesel-prices and /accessorial-authorizations. */
export function freightRateRoutes(diesel: Source, authorizations: Source): Route[] {
  return [
    { template: "/doe-diesel-prices", answer: request => ({ data: { rows: completeRows(diesel, request) } }) },
    {
      template: "/accessorial-authorizations",
      answer: request => ({ data: { authorizations: completeRows(authorizations, request) } }),
    },
  ];
}
