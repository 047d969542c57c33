import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { itemFacts, itemKey } from "../company/items.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWN_FOR } from "./purposes.ts";
import { scacOf } from "./rate_cards.ts";
import { type RfqFacts, rfqFacts, rfqKey, rfqRow } from "./rfqs.ts";
import { siteKey } from "./sites.ts";

/** One request for quotation in full. */
export function rfqDetail(company: Company, entry: Entry): Row {
  const facts = rfqFacts(company, entry);
  const v = new Values(hash(company.seed, DRAWN_FOR.rfqDetail, facts.number));
  const { winner } = facts;
  return {
    ...rfqRow(company, entry),
    lines: Array.from({ length: facts.lines }, (_, i) => line(company, entry, facts, i, v)),
    lanes: Array.from({ length: facts.lanes }, (_, i) => lane(facts, i, v)),
    vendors: facts.vendors.map((_, i) => invited(facts, i, v)),
    award_summary: winner === null ? null : v.maybe({ vendor_id: winner.id, lines: facts.lines, savings_pct: "4.5" }),
  };
}

/** Lines and lanes have numbers as ids, now as numerals, now as strings. */
const numbered = (facts: RfqFacts, index: number, v: Values): number | string => {
  const id = facts.number * 100 + index;
  return v.chance(0.5) ? id : String(id);
};

function line(company: Company, { revision }: Entry, facts: RfqFacts, index: number, v: Values): Row {
  const item = itemFacts(company, 1 + (hash(facts.value, index) % Math.max(1, company.sizes.items)));
  const { winner } = facts;
  const quantity = (1 + v.below(500)) * 1000;
  const drawn = v.decimal(quantity, 3);
  return {
    id: numbered(facts, index, v),
    rfq_id: v.maybe(rfqKey(facts.number)),
    item_id: company.sizes.items === 0 ? null : v.maybe(itemKey(item.number)),
    description: v.maybe(item.description),
    quantity: revision > 0 && index === 0 ? quantity / 1000 + revision : drawn,
    unit: v.maybe(item.uom),
    target_unit_price: v.decimal(Math.round(item.price * 0.9), 4),
    estimated_unit_price: v.decimal(item.price, 4),
    delivery_site_id: v.maybe(siteKey(1 + (facts.value % 5))),
    awarded_vendor_id: winner?.id ?? null,
    awarded_vendor_name: winner === null ? null : v.maybe(winner.name),
    awarded_quantity: winner === null ? null : v.decimal(quantity, 3),
    award_amount: winner === null ? null : v.money(Math.round((quantity * item.price) / 100_000)),
  };
}

function lane(facts: RfqFacts, index: number, v: Values): Row {
  const flat = v.chance(0.5);
  return {
    id: numbered(facts, index, v),
    rfq_id: v.maybe(rfqKey(facts.number)),
    origin_city: v.maybe("Łódź"),
    origin_state: v.maybe("LD"),
    origin_zip: v.maybe("90-001"),
    dest_city: v.maybe("Newark"),
    dest_state: v.maybe("NJ"),
    dest_zip: v.maybe("07114"),
    mode: v.maybe(v.pick(["LTL", "FTL", "sea"])),
    freight_class: v.decimal(v.pick([500, 700, 925, 1250]), 1),
    weight_min: v.decimal(5000, 1),
    weight_max: v.decimal(200_000, 1),
    annual_volume_estimate: v.count(10 + v.below(900)),
    equipment_type: v.maybe("dry_van"),
    hazmat: v.chance(0.1),
    accessorials_required: v.chance(0.4) ? "LFT, RES" : null,
    target_rate_per_cwt: flat ? null : v.decimal(100_000 + v.below(300_000), 4),
    target_flat_rate: flat ? v.money(40_000 + v.below(90_000)) : null,
    notes: v.chance(0.2) ? 'No "night" deliveries' : null,
  };
}

function invited(facts: RfqFacts, index: number, v: Values): Row {
  const vendor = facts.vendors[index]!;
  const answered = index < facts.responses;
  const at = (facts.day + 1) * DAY_MS + (facts.value % DAY_MS);
  return {
    rfq_id: v.maybe(rfqKey(facts.number)),
    vendor_id: vendor.id,
    vendor_name: v.maybe(vendor.name),
    contact_email: v.maybe(`verkauf@${vendor.domain}`),
    contact_name: v.maybe(vendor.contact),
    status: v.maybe(answered ? "responded" : "invited"),
    quote_doc_id: answered ? v.maybe(`DOC-Q${facts.number}-${index + 1}`) : null,
    invited_at: v.maybe(v.moment(at)),
    responded_at: answered ? v.maybe(v.moment(at + (2 + index) * DAY_MS)) : null,
    workflow_id: v.maybe(`wf-${facts.value}-${index}`),
    scac: facts.freight ? v.maybe(scacOf(facts.value + index)) : null,
  };
}
