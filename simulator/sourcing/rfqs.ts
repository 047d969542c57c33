import { DAY_MS, dayOf } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { type Company, vendorFor } from "../company/company.ts";
import { orderKey } from "../company/orders.ts";
import type { Vendor } from "../company/vendors.ts";
import { hash } from "../random.ts";
import { atTheHead, type Family, type Row } from "../source.ts";
import { Values } from "../values.ts";
import { someContract } from "./contracts.ts";
import { DRAWN_FOR } from "./purposes.ts";
import { printedNumber, requisitionKey } from "./requisitions.ts";
import { siteKey } from "./sites.ts";
import { sourcingSizes } from "./sizes.ts";

const STATES = ["awarded", "issued", "draft", "awarded", "cancelled", "closed"] as const;

/** What a request for quotation is, apart from how its row is written; the day counts from 1970. */
export interface RfqFacts {
  readonly number: number;
  readonly value: number;
  readonly freight: boolean;
  readonly state: (typeof STATES)[number];
  readonly day: number;
  readonly vendors: readonly Vendor[];
  /** How many of the vendors, from the first, have answered. */
  readonly responses: number;
  /** Who won: always one that answered. */
  readonly winner: Vendor | null;
  readonly lines: number;
  readonly lanes: number;
}

export function rfqKey(number: number): string {
  return `RFQ-${number}`;
}

export function rfqNumber(key: string): number {
  return /^RFQ-[1-9]\d{0,14}$/.test(key) ? Number(key.slice(4)) : Number.NaN;
}

export function rfqFamily(company: Company): Family {
  return {
    path: "/rfqs",
    keyField: "id",
    key: rfqKey,
    number: rfqNumber,
    row: entry => rfqRow(company, entry),
    ranks: atTheHead,
  };
}

export function rfqFacts(company: Company, { number, insertedAt }: Entry): RfqFacts {
  const value = hash(company.seed, DRAWN_FOR.rfq, number);
  const size = sourcingSizes(company).rfqs;
  const fresh = insertedAt !== undefined;
  const freight = value % 3 === 0;
  const state = fresh ? "draft" : (STATES[(value >>> 3) % STATES.length] ?? "draft");
  const age = Math.floor(((size - number) * company.historyDays) / Math.max(1, size));
  const asked = state === "draft" ? 0 : 2 + ((value >>> 7) % 4);
  const responses = state === "awarded" ? Math.max(1, asked - (value % 3)) : asked === 0 ? 0 : value % asked;
  const vendors = Array.from({ length: asked }, (_, i) => vendorFor(company, ((value >>> 9) % 1000) + i));
  return {
    number,
    value,
    freight,
    state,
    day: fresh ? dayOf(insertedAt) : company.anchorDay - 3 - age,
    vendors,
    responses,
    winner: state === "awarded" ? (vendors[value % responses] ?? null) : null,
    lines: freight && value % 2 === 0 ? 0 : 1 + ((value >>> 15) % 4),
    lanes: freight ? 1 + ((value >>> 17) % 5) : 0,
  };
}

/** What list and detail have in common. */
export function rfqRow(company: Company, entry: Entry): Row {
  const { number, revision } = entry;
  const facts = rfqFacts(company, entry);
  const { value, state, winner, day } = facts;
  const v = new Values(hash(company.seed, DRAWN_FOR.rfqRow, number));
  const at = day * DAY_MS + (value % DAY_MS);
  const issued = state !== "draft";
  const cancelled = state === "cancelled";
  const { requisitions } = sourcingSizes(company);
  const requested = winner === null || facts.freight ? null : 1 + (value % Math.max(1, requisitions));
  const notes = v.maybe("Bitte bis Freitag; incl. freight");
  return {
    id: rfqKey(number),
    rfq_number: v.maybe(`ANF-${number}/${day % 100}`),
    title: v.maybe(`${facts.freight ? "Lanes" : "Parts"} ${number} – „Ausschreibung“`),
    rfq_type: v.maybe(facts.freight ? "freight" : "goods"),
    status: v.maybe(state),
    response_deadline: v.maybe(v.moment(at + 14 * DAY_MS)),
    budget_target: v.money(100_000 + v.below(9_000_000)),
    currency_code: v.maybe(company.currency ?? "USD"),
    notes: revision > 0 ? `Nachtrag ${revision}` : notes,
    delivery_site_id: value % 4 === 0 ? null : siteKey(1 + (value % 5)),
    created_by: v.maybe("li.wei@example.com"),
    issued_by: issued ? v.maybe("li.wei@example.com") : null,
    issued_at: issued ? v.maybe(v.moment(at + DAY_MS)) : null,
    awarded_vendor_id: winner?.id ?? null,
    awarded_by: winner === null ? null : v.maybe("zoe@example.com"),
    awarded_at: winner === null ? null : v.maybe(v.moment(at + 16 * DAY_MS)),
    awarded_pr_id: requested === null ? null : requisitionKey(requested),
    awarded_pr_number: requested === null ? null : v.maybe(printedNumber(requested)),
    awarded_po_number: winner === null ? null : v.maybe(orderKey(1 + (value % Math.max(1, company.sizes.orders)))),
    awarded_contract_id: winner === null || value % 2 === 0 ? null : someContract(company, value),
    award_type: winner === null ? null : v.maybe(facts.freight ? "rate_card" : "purchase_order"),
    cancelled_by: cancelled ? v.maybe("zoe@example.com") : null,
    cancelled_at: cancelled ? v.maybe(v.moment(at + 4 * DAY_MS)) : null,
    cancelled_reason: cancelled ? v.maybe("Bedarf entfallen") : null,
    created_at: v.maybe(v.moment(at)),
    vendor_count: facts.vendors.length,
    response_count: facts.responses,
    line_count: facts.lines,
    lane_count: facts.lanes,
  };
}
