import { dayText } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import type { Vendor } from "../company/vendors.ts";
import { hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import type { Source } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWN_FOR } from "./purposes.ts";
import { type CardFacts, cardFacts } from "./rate_cards.ts";

const EQUIPMENT = ["dry_van", "reefer", "flatbed", "Tautliner"] as const;

/** /carriers/{vendorId}/profile, which each vendor of the company has; its summary counts the rate cards. */
export function carrierRoutes(company: Company, cards: Source): Route[] {
  return [
    {
      template: "/carriers/{vendorId}/profile",
      answer: ({ params }) => {
        const id = params["vendorId"] ?? "";
        const index = company.vendors.findIndex(candidate => candidate.id === id);
        const vendor = company.vendors[index];
        if (vendor === undefined) throw notFound(`Carrier '${id}'`);
        const own: CardFacts[] = [];
        for (const entry of cards.collection.walk(Number.NEGATIVE_INFINITY)) {
          const facts = cardFacts(company, entry);
          if (facts.carrier === vendor) own.push(facts);
        }
        const v = new Values(hash(company.seed, DRAWN_FOR.carrier, index));
        return { data: { ...papers(company, vendor, v), rate_card_summary: summary(own, v), ...standing(v) } };
      },
    },
  ];
}

function papers(company: Company, vendor: Vendor, v: Values): Record<string, unknown> {
  const credentials = Array.from({ length: v.below(4) }, (_, i) => ({
    credential_type: ["mc_number", "dot_number", "EU-Lizenz"][i],
    credential_number: v.maybe(String(100_000 + v.below(900_000))),
    status: v.maybe(v.pick(["valid", "expired"])),
    expiration_date: v.date(company.anchorDay + v.below(400) - 60),
  }));
  const insurance = Array.from({ length: v.below(3) }, (_, i) => ({
    insurance_type: ["cargo", "liability"][i],
    insurer_name: v.maybe("Münchener Rück & Söhne"),
    coverage_amount: v.money((1 + v.below(20)) * 25_000_000),
    expiration_date: v.date(company.anchorDay + v.below(400) - 60),
    status: v.maybe("active"),
  }));
  const contacts = Array.from({ length: v.below(3) }, (_, i) => ({
    id: v.maybe(`${vendor.id}-C${i + 1}`),
    role: v.maybe(v.pick(["dispatch", "billing"])),
    contact_name: v.maybe(vendor.contact),
    email: v.maybe(`dispatch${i}@${vendor.domain}`),
    phone: v.maybe("+49 711 5550100"),
    is_primary: v.maybe(i === 0),
  }));
  return { credentials, insurance, contacts, equipment_types: EQUIPMENT.slice(0, v.below(EQUIPMENT.length + 1)) };
}

function summary(cards: readonly CardFacts[], v: Values): Record<string, unknown> {
  const modes = [...new Set(cards.map(({ mode }) => mode))].sort();
  const starts = cards.map(({ start }) => start);
  return {
    total_cards: v.count(cards.length),
    active_cards: v.count(cards.filter(({ state }) => state === "active").length),
    mode_count: v.count(modes.length),
    modes: v.maybe(modes),
    earliest_rate: cards.length === 0 ? null : v.maybe(dayText(Math.min(...starts))),
    latest_expiry: cards.length === 0 ? null : v.date(Math.max(...cards.map(({ end }) => end))),
  };
}

function standing(v: Values): Record<string, unknown> {
  return {
    performance: v.maybe({ on_time_pct: v.between(60, 99), deliveries: v.below(200) }),
    compliance_score: v.maybe(v.below(101)),
  };
}
