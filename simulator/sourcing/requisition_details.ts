import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { itemFacts, itemKey, manufacturerPart } from "../company/items.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";
import { someContract } from "./contracts.ts";
import { DRAWN_FOR } from "./purposes.ts";
import { type RequisitionFacts, requisitionFacts, requisitionKey, requisitionRow } from "./requisitions.ts";
import { siteAddress } from "./sites.ts";

/** One requisition in full. */
export function requisitionDetail(company: Company, entry: Entry): Row {
  const facts = requisitionFacts(company, entry);
  const { site, order } = facts;
  const v = new Values(hash(company.seed, DRAWN_FOR.requisitionDetail, facts.number));
  const [address, city, state] = site === null ? [null, null, null] : siteAddress(site);
  return {
    // A single requisition counts itself, if anything.
    ...requisitionRow(company, entry, v.count(1)),
    delivery_address: v.maybe(address),
    delivery_city: v.maybe(city),
    delivery_state: v.maybe(state),
    po_awaiting_ack: order === null ? null : v.maybe(order.state === "unconfirmed"),
    po_ack_date: order === null || order.state === "unconfirmed" ? null : v.date(order.day + 1 + (order.value % 4)),
    lines: facts.lines.map((_, i) => line(company, entry, facts, i, v)),
  };
}

function line(company: Company, { revision }: Entry, facts: RequisitionFacts, index: number, v: Values): Row {
  const { item, quantity, price, cents } = facts.lines[index]!;
  const known = company.sizes.items > 0 && v.chance(0.85);
  const { description, uom, value } = itemFacts(company, item);
  const contract = value % 4 === 0 ? someContract(company, value >>> 3) : null;
  const tiers = [{ min_qty: 1, unit_price: price / 10_000 }];
  const drawn = v.decimal(quantity, 3);
  return {
    id: `${requisitionKey(facts.number)}-L${index + 1}`,
    requisition_id: requisitionKey(facts.number),
    line_no: index + 1,
    description,
    item_id: known ? itemKey(item) : null,
    item_name: known ? v.maybe(description) : null,
    item_category: known ? v.maybe("MRO") : null,
    vendor_part_number: v.maybe(manufacturerPart(value)),
    quantity: revision > 0 && index === 0 ? quantity / 1000 + revision : drawn,
    unit: uom,
    estimated_unit_price: v.decimal(price, 4),
    estimated_line_total: v.money(cents),
    gl_account_code: v.maybe(String(4000 + (value % 90))),
    contract_id: contract,
    contract_unit_price: contract === null ? null : v.decimal(Math.round(price * 0.95), 4),
    volume_tiers: contract === null ? null : v.pick<unknown>([tiers, { tiers }, "on request", null]),
    volume_tier_applied: contract === null ? null : v.maybe("1+"),
    contract_min_qty: contract === null ? null : v.decimal(1000, 3),
    contract_max_qty: contract === null ? null : v.decimal(100_000_000, 3),
  };
}
