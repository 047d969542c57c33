import type { Company } from "../company/company.ts";
import { hash } from "../random.ts";
import { Values } from "../values.ts";
import { DRAWN_FOR } from "./purposes.ts";
import { type CardFacts, cardKey } from "./rate_cards.ts";

/** Codes of the charges that cards list and that are authorized for shipments. */
export const CHARGES = [
  ["LFT", "Liftgate at delivery"],
  ["DET", "Wartezeit"],
  ["RES", "Residential delivery"],
  ["INS", "Inside delivery, „bis zur Verwendungsstelle“"],
  ["HAZ", null],
] as const;
const CLASSES = ["50", "70", "92.5", "125"] as const;

/** `rate_lines[]` of a card. */
export function rateLines(company: Company, { number, lanes }: CardFacts): Record<string, unknown>[] {
  const v = new Values(hash(company.seed, DRAWN_FOR.rateCardRates, number));
  return Array.from({ length: lanes }, (_, i) => {
    const id = number * 100 + i;
    const from = 10_000 + v.below(80_000);
    const low = v.below(5) * 500;
    const by = v.below(3);
    return {
      id: v.count(id),
      rate_card_id: cardKey(number),
      origin_zip_low: v.maybe(String(from).padStart(5, "0")),
      origin_zip_high: v.maybe(String(from + 99)),
      dest_zip_low: v.maybe("01000"),
      dest_zip_high: v.maybe("01999"),
      freight_class: v.maybe(v.pick(CLASSES)),
      weight_break_min: v.decimal(low * 10, 1),
      weight_break_max: v.decimal((low + 500) * 10, 1),
      rate_per_cwt: by === 0 ? v.decimal(100_000 + v.below(400_000), 4) : null,
      flat_rate: by === 1 ? v.money(20_000 + v.below(90_000)) : null,
      rate_per_mile: by === 2 ? v.decimal(15_000 + v.below(20_000), 4) : null,
      minimum_charge: v.money(9500),
      fak_class: v.chance(0.3) ? "70" : null,
    };
  });
}

/** `accessorial_rates[]` of a card. */
export function accessorialRates(company: Company, facts: CardFacts): Record<string, unknown>[] {
  const { number, accessorials, start, end } = facts;
  const v = new Values(hash(company.seed, DRAWN_FOR.rateCardRates, number, 1));
  return CHARGES.slice(0, accessorials).map(([code, description], i) => ({
    id: v.count(number * 10 + i),
    rate_card_id: cardKey(number),
    charge_code: code,
    charge_description: description,
    rate_type: v.pick(["flat", "per_cwt", "percent"]),
    rate_amount: v.decimal(1000 + v.below(90_000), 3),
    minimum_charge: v.money(2500),
    maximum_charge: v.money(75_000),
    free_time_minutes: code === "DET" ? v.count(120) : null,
    effective_date: v.date(start),
    expiration_date: v.date(end),
  }));
}
