import { DAY_MS } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import { invoiceFacts, invoiceNumber } from "../company/invoices.ts";
import { itemFacts, itemNumber } from "../company/items.ts";
import { orderFacts, orderKey, orderNumber } from "../company/orders.ts";
import type { Vendor } from "../company/vendors.ts";
import type { World } from "../domain.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWS } from "./draws.ts";

/** Something that the service keeps track of: a vendor, an order, an invoice, an item. */
export interface Thing {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly value: number;
  /** When it was first seen, UNIX milliseconds. */
  readonly since: number;
  readonly vendor: Vendor | null;
  readonly order: string | null;
}

/** The thing of a type and an id; undefined for what the company does not have. */
export function thingOf({ company, sources }: World, type: string, id: string): Thing | undefined {
  const entryOf = (stream: string, number: number) => sources[stream]?.collection.get(number);
  if (type === "vendor") {
    const index = company.vendors.findIndex(vendor => vendor.id === id);
    const vendor = company.vendors[index];
    return vendor === undefined ? undefined : thing(company, type, id, vendor.name, index, 700, vendor, null);
  }
  if (type === "purchase_order") {
    const entry = entryOf("purchase_orders", orderNumber(id));
    if (entry === undefined) return undefined;
    const { number, vendor, day } = orderFacts(company, entry);
    return thing(company, type, id, orderKey(number), number, company.anchorDay - day, vendor, id);
  }
  if (type === "invoice") {
    const entry = entryOf("invoices", invoiceNumber(id));
    if (entry === undefined) return undefined;
    const { number, vendor, day, order } = invoiceFacts(company, entry);
    const ordered = order === null ? null : orderKey(order.number);
    return thing(company, type, id, `RE-${number}`, number, company.anchorDay - day, vendor, ordered);
  }
  if (type !== "item") return undefined;
  const entry = entryOf("items", itemNumber(id));
  if (entry === undefined) return undefined;
  const { number, description } = itemFacts(company, entry.number);
  return thing(company, type, id, description, number, 600, null, null);
}

function thing(
  company: Company,
  type: string,
  id: string,
  name: string,
  number: number,
  age: number,
  vendor: Vendor | null,
  order: string | null,
): Thing {
  const value = hash(company.seed, DRAWS.entity, number, type.length);
  return { type, id, name, value, since: (company.anchorDay - age) * DAY_MS + (value % DAY_MS), vendor, order };
}

/** /entities/{type}/{id}: the thing, the fields of its kind, what was observed. */
export function entityAnswer(of: Thing): Row {
  const v = new Values(hash(of.value, DRAWS.entity, 1));
  const fields = ["name", "status", "total_amount", "vendor.name"].slice(0, 2 + (of.value % 3));
  return {
    entity: { type: of.type, id: of.id, name: of.name, attributes: { since: v.moment(of.since) } },
    schema: fields.map((path, i) => ({
      field_path: path,
      field_type: path === "total_amount" ? "money" : "string",
      is_summable: path === "total_amount",
      is_filterable: v.chance(0.6),
      description: v.maybe(`The ${path} as known`),
      canonical_entity_type: path.includes(".") ? v.maybe("vendor") : null,
      ui_order: v.maybe(i),
      ui_format: v.maybe("text"),
    })),
    observations: Array.from({ length: of.value % 4 }, (_, i) => ({
      fact_id: `OBS-${of.type}-${of.value}-${i}`,
      kind: v.pick(["name_seen", "price_seen"]),
      payload: v.maybe({ value: v.below(100) }),
      source_type: v.maybe("document"),
      source_id: v.maybe(`DOC-${1 + v.below(50)}`),
      created_at: v.moment(of.since + i * DAY_MS),
    })),
    provenance: v.maybe({ facts: of.value % 4 }),
    related_count: v.maybe(relatives(of).length),
    timeline_count: v.maybe(eventCount(of)),
  };
}

function relatives(of: Thing): { type: string; id: string; name: string }[] {
  const related = of.vendor === null ? [] : [{ type: "vendor", id: of.vendor.id, name: of.vendor.name }];
  if (of.order !== null) related.push({ type: "purchase_order", id: of.order, name: of.order });
  return related.filter(({ type }) => type !== of.type);
}

/** /entities/{type}/{id}/graph: the thing in the middle of what it is related to. */
export function graphAnswer(of: Thing): Row {
  const v = new Values(hash(of.value, DRAWS.entity, 2));
  const node = (type: string, id: string, name: string, relation: string): Row => ({
    type,
    id,
    display_name: v.maybe(name),
    route_key: v.maybe(id),
    sender: v.chance(0.1) ? "verkauf@example.com" : null,
    relation,
  });
  return {
    root: node(of.type, of.id, of.name, "self"),
    edges: relatives(of).map(({ type, id }) => ({
      from_entity_type: of.type,
      from_entity_id: of.id,
      to_entity_type: type,
      to_entity_id: id,
      relationship_type: `has_${type}`,
      score: v.maybe(v.below(1001) / 1000),
      source: v.maybe("extraction"),
      evidence: v.maybe({ quote: of.name }),
    })),
    nodes: relatives(of).map(({ type, id, name }) => node(type, id, name, "related")),
  };
}

function eventCount(of: Thing): number {
  return 1 + (of.value % 5);
}

/** /entities/{type}/{id}/timeline: what happened to it. */
export function timelineAnswer(of: Thing): Row {
  const v = new Values(hash(of.value, DRAWS.entity, 3));
  const events = Array.from({ length: eventCount(of) }, (_, i) => ({
    event_id: `EVT-${of.value}-${i + 1}`,
    event_type: v.pick(["document", "mail"]),
    event_subtype: v.pick(["received", "read", "linked"]),
    event_data: v.maybe({ step: i + 1 }),
    source_type: v.maybe("document"),
    source_id: v.maybe(`DOC-${1 + v.below(50)}`),
    event_time: v.moment(of.since + i * DAY_MS),
    evidence_quote: v.maybe("„wie vereinbart“"),
    chunk_citations: v.maybe([{ chunk: i }]),
  }));
  return { events, total_count: events.length };
}

/** /as-of/{entity_type}/{entity_id}: the facts that were known by a moment. */
export function factsAsOf(of: Thing, at: string): Row {
  const v = new Values(hash(of.value, DRAWS.entity, 4));
  const all = Array.from({ length: 2 + (of.value % 5) }, (_, i) => ({
    since: of.since + i * 20 * DAY_MS,
    fact: {
      kind: v.pick(["name", "status", "price"]),
      value: v.pick<unknown>([of.name, v.below(1000), true, null, { amount: "12.50" }, ["a", 1]]),
      effective_at: v.maybe(v.moment(of.since + i * 20 * DAY_MS)),
      fact_id: `OBS-${of.type}-${of.value}-${i}`,
      evidence_quote: v.maybe("„wie vereinbart“"),
      verification_status: v.maybe("verified"),
      confidence: v.maybe(v.below(1001) / 1000),
    },
  }));
  const facts = all.filter(({ since }) => since <= Date.parse(at)).map(({ fact }) => fact);
  return { entity_type: of.type, entity_id: of.id, as_of: at, fact_count: facts.length, facts };
}

/** /identity/{type}/{id}: what the id stands for. */
export function identityAnswer(of: Thing): Row {
  const v = new Values(hash(of.value, DRAWS.entity, 5));
  return {
    canonical: { id: of.id, display_name: v.maybe(of.name), type: of.type },
    aliases: Array.from({ length: of.value % 3 }, (_, i) => ({ value: `${of.name} ${i}`, type: "name" })),
    merged_from: Array.from({ length: of.value % 2 }, (_, i) => ({
      id: `${of.id}-old-${i}`,
      former_name: v.maybe(of.name.toUpperCase()),
      merged_at: v.maybe(v.moment(of.since + DAY_MS)),
    })),
    decided: {
      tier: v.maybe("exact"),
      method: v.maybe(v.pick(["tax_id", "name"])),
      confidence: v.decimal(v.below(10_001), 4),
      source_doc_id: v.maybe(`DOC-${1 + v.below(50)}`),
      decided_at: v.maybe(v.moment(of.since)),
    },
  };
}
