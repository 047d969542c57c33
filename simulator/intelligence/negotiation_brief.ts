import { DAY_MS } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import { itemFacts, itemKey, manufacturerPart } from "../company/items.ts";
import type { Vendor } from "../company/vendors.ts";
import type { Row } from "../source.ts";
import type { Values } from "../values.ts";
import { DRAWN, valuesOf } from "./family.ts";

/** What a negotiation is, apart from how it is written. */
export interface NegotiationFacts {
  readonly id: string;
  readonly number: number;
  readonly value: number;
  readonly vendor: Vendor;
  /** Number of the item that is negotiated; null for a company without items. */
  readonly item: number | null;
  readonly state: "active" | "agreed" | "stalled";
  /** UNIX milliseconds. */
  readonly begunAt: number;
}

/** The brief that prepares the buyer for a negotiation. */
export function negotiationBrief(company: Company, facts: NegotiationFacts): Row {
  const { id, number, value, vendor, item, begunAt } = facts;
  const v = valuesOf(company, DRAWN.brief, number);
  const price = item === null ? null : itemFacts(company, item).price / 10_000;
  const points = Array.from({ length: value % 4 }, (_, i) => ({
    topic: `Price, part ${i + 1}`,
    fact: `"${vendor.name}" raised the price by ${i + 2} %`,
    dollar_impact: v.maybe(((value >>> i) % 100_000) / 100),
    detail: v.maybe(v.pick<unknown>([{ since: "2025" }, "since 2025", 2025])),
  }));
  return {
    negotiation_id: id,
    vendor_id: vendor.id,
    vendor_name: vendor.name,
    accusation_audit: {
      claims: value % 3 === 0 ? [] : [{ claim: "You pay late", weight: 0.4 }],
      findings: value % 3 === 0 ? [] : [{ claim: "You pay late", true: false }],
    },
    talking_points: points,
    talking_points_raw: v.maybe(v.pick<unknown>([points.map(({ topic }) => topic), "…"])),
    counter_proposals: item === null ? [] : proposals(company, item, value, v),
    anchoring: {
      anchor_price: v.maybe(price),
      anchor_basis: v.pick(["historical_low", "market"]),
      citation: "Einkaufshistorie",
      historical_low: v.maybe(price === null ? null : Math.round(price * 8000) / 10_000),
      best_alternative: v.maybe(price === null ? null : Math.round(price * 9500) / 10_000),
      observation_count: value % 40,
    },
    synthesis: v.maybe({ headline: "Open low – niedrig einsteigen", tone: "firm" }),
    generated_at: v.moment(begunAt + 5 * DAY_MS),
  };
}

function proposals(company: Company, item: number, value: number, v: Values): Row[] {
  const facts = itemFacts(company, item);
  return Array.from({ length: 1 + (value % 2) }, (_, i) => ({
    item_id: v.maybe(itemKey(item)),
    part_number: v.maybe(manufacturerPart(facts.value)),
    current_unit_price: v.maybe(facts.price / 10_000),
    counter_unit_price: v.maybe(Math.round(facts.price * (0.95 - i / 100)) / 10_000),
    justification: "Other vendors charge less",
    source_urls: v.pick<unknown[]>([[], ["https://prices.example/1"], [{ url: "https://prices.example/2" }]]),
    alt_vendor_count: value % 5,
  }));
}
