import { DAY_MS } from "../calendar.ts";
import { type Company, vendorFor } from "../company/company.ts";
import { itemFacts, itemKey, manufacturerPart } from "../company/items.ts";
import type { World } from "../domain.ts";
import { hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import type { Row } from "../source.ts";
import { someContract } from "../sourcing/contracts.ts";
import type { Values } from "../values.ts";
import { DRAWN, numberBehind, sizeOf, valuesOf } from "./family.ts";
import { type NegotiationFacts, negotiationBrief } from "./negotiation_brief.ts";

const STATES = ["active", "active", "agreed", "stalled"] as const;

/** /negotiations/stats, /negotiations/{id} and /negotiations/{id}/brief-v2. No list shows their ids: NEG-1 and on. */
export function negotiationRoutes({ company }: World): Route[] {
  const size = sizeOf(company.sizes.orders, 20, 100);
  const find = (id: string): NegotiationFacts => {
    const number = numberBehind("NEG-", id);
    if (!(number <= size)) throw notFound(`Negotiation '${id}'`);
    return negotiationFacts(company, number);
  };
  return [
    {
      template: "/negotiations/stats",
      answer: () => {
        const tally = { total: size, active: 0, agreed: 0, stalled: 0 };
        for (let number = 1; number <= size; number += 1) tally[negotiationFacts(company, number).state] += 1;
        return { data: tally };
      },
    },
    {
      template: "/negotiations/{id}",
      answer: ({ params }) => ({ data: negotiation(company, find(params["id"] ?? "")) }),
    },
    {
      template: "/negotiations/{id}/brief-v2",
      answer: ({ params }) => ({ data: negotiationBrief(company, find(params["id"] ?? "")) }),
    },
  ];
}

function negotiationFacts(company: Company, number: number): NegotiationFacts {
  const value = hash(company.seed, DRAWN.negotiation, number, 1);
  const { items } = company.sizes;
  return {
    id: `NEG-${number}`,
    number,
    value,
    vendor: vendorFor(company, value >>> 4),
    item: items === 0 ? null : 1 + (value % items),
    state: STATES[(value >>> 9) % STATES.length] ?? "active",
    begunAt: (company.anchorDay - 10 - (value % 300)) * DAY_MS + (value % DAY_MS),
  };
}

function negotiation(company: Company, facts: NegotiationFacts): Row {
  const { id, value, vendor, item, state, begunAt, number } = facts;
  const v = valuesOf(company, DRAWN.negotiation, number);
  const happened = events(facts, v);
  const closed = state === "agreed";
  return {
    id,
    vendor_id: vendor.id,
    subject: `Rahmenpreis 2026 – "${vendor.name}"`,
    status: state,
    current_offer: v.maybe(v.pick<unknown>([{ unit_price: 10.5 }, "10.50 EUR", 10.5])),
    target_terms: v.maybe(v.pick<unknown>([{ unit_price: 9.8, net_days: 60 }, ["net 60"]])),
    initiated_at: v.maybe(v.moment(begunAt)),
    closed_at: closed ? v.maybe(v.moment(begunAt + 30 * DAY_MS)) : null,
    closed_reason: closed ? v.maybe("Einigung erzielt") : null,
    last_activity_at: v.maybe(v.moment(begunAt + happened.length * DAY_MS)),
    created_at: v.maybe(v.moment(begunAt)),
    vendor_name: v.maybe(vendor.name),
    event_count: v.maybe(happened.length),
    thread_count: value % 4,
    last_event_actor: happened.length === 0 ? null : v.maybe("vendor"),
    contract_id: v.maybe(someContract(company, value)),
    item_id: item === null ? null : v.maybe(itemKey(item)),
    updated_at: v.maybe(v.moment(begunAt + 20 * DAY_MS)),
    subjects: subjects(company, facts, v),
    events: happened,
    negotiated_savings: closed ? v.maybe({ amount: 1234.5, currency: vendor.currency }) : null,
    terms_unacknowledged: v.maybe({ terms: ["net_days"] }),
  };
}

function subjects(company: Company, { number, value, item, begunAt }: NegotiationFacts, v: Values): Row[] {
  return Array.from({ length: 1 + (value % 3) }, (_, i) => {
    const about = item === null || v.chance(0.2) ? null : itemFacts(company, item);
    const part = about === null ? null : manufacturerPart(about.value);
    return {
      id: `NEG-${number}-S${i + 1}`,
      term_scope: about === null ? "general" : "item",
      subject_key: about === null ? `terms:${i}` : `item:${itemKey(about.number)}:${i}`,
      status: v.pick(["open", "agreed"]),
      current_offer: v.maybe({ unit_price: "10.50" }),
      target_terms: v.maybe({ unit_price: 9.8 }),
      item_id: about === null ? null : v.maybe(itemKey(about.number)),
      part_number: v.maybe(part),
      normalized_part_number: v.maybe(part === null ? null : part.replace(/\W/g, "")),
      item_description: about === null ? null : v.maybe(about.description),
      last_event_at: v.moment(begunAt + (i + 1) * DAY_MS),
    };
  });
}

function events({ number, value, begunAt }: NegotiationFacts, v: Values): Row[] {
  return Array.from({ length: value % 5 }, (_, i) => {
    const mailed = v.chance(0.6);
    return {
      id: `NEG-${number}-E${i + 1}`,
      event_type: v.pick(["offer", "counter_offer", "note"]),
      actor: i % 2 === 0 ? "buyer" : "vendor",
      event_data: v.maybe(v.pick<unknown>([{ unit_price: 10.2 }, ["10.20"], "10.20"])),
      event_at: v.moment(begunAt + i * DAY_MS),
      created_at: v.moment(begunAt + i * DAY_MS + 60_000),
      thread_canonical_id: mailed ? v.maybe(`THR-${value % 1000}`) : null,
      transition_reason: i === 2 ? v.maybe("No answer for a week") : null,
      low_confidence: v.chance(0.2),
      match_tier: v.maybe(v.pick(["exact", "fuzzy"])),
      content_hash: v.maybe(hash(number, i).toString(16)),
      source: mailed ? { kind: "email", id: `EML-${value % 1000}` } : { kind: "manual" },
    };
  });
}
