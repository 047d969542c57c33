import { dayOf } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { hash } from "../random.ts";
import { Values } from "../values.ts";
import { type Company, PURPOSE, vendorFor } from "./company.ts";
import { itemPrice } from "./items.ts";
import { findingsOfOrder } from "./relations.ts";
import type { Vendor } from "./vendors.ts";

export type OrderState = "open" | "past_due" | "due_this_week" | "unconfirmed" | "in_transit" | "closed";

/** One ordered line: quantity in thousandths, price in ten-thousandths, amount in cents. */
export interface OrderLine {
  readonly item: number;
  readonly quantity: number;
  readonly price: number;
  readonly cents: number;
}

/** What an order is, apart from how its row and its detail are written. Days count from 1970. */
export interface OrderFacts {
  readonly number: number;
  readonly revision: number;
  readonly fresh: boolean;
  readonly value: number;
  readonly vendor: Vendor;
  readonly day: number;
  readonly requestedDay: number;
  readonly promisedDay: number;
  readonly deliveredDay: number | null;
  readonly state: OrderState;
  readonly lines: number;
  /** Percent of every line received, 0..100. */
  readonly received: number;
}

/** Invoices follow their order by about so many days; both lists end today. */
const INVOICE_LAG = 20;

export const SITES = ["Werk Süd, Halle 3", "Plant 2 – Toledo", "DC East", "大阪倉庫", "Main St. Warehouse"];
const STANDINGS: Record<OrderState, readonly [string, ...string[]]> = {
  open: ["on_track", "at_risk"],
  past_due: ["overdue"],
  due_this_week: ["due_soon", "at_risk"],
  unconfirmed: ["unconfirmed"],
  in_transit: ["awaiting_receipt", "on_track"],
  closed: ["delivered", "delivered", "delivered", "over_shipped"],
};
const MATCHES = ["matched", "matched", "matched", "discrepancy", "no_invoice"];
const BASES = ["vendor_promise", "requested_date", "lead_time"];
const SOURCES = ["acknowledgement", "email", "purchase_order"];

/** Every 97th order bears a number that needs care in a path. */
export function orderKey(number: number): string {
  return number % 97 === 41 ? `PO/${number} Süd` : `PO-${number}`;
}

export function orderNumber(key: string): number {
  const number = Number(/^PO[-/](\d{1,15})/.exec(key)?.[1] ?? Number.NaN);
  return orderKey(number) === key ? number : Number.NaN;
}

export function orderDocument(number: number): string {
  return `DOC-P${number}`;
}

export function orderFacts(company: Company, entry: Pick<Entry, "number" | "revision" | "insertedAt">): OrderFacts {
  const { number, revision } = entry;
  const { insertedAt } = entry;
  const fresh = insertedAt !== undefined;
  const value = hash(company.seed, PURPOSE.orderFacts, number);
  const { anchorDay } = company;
  const size = company.sizes.orders;
  const age = INVOICE_LAG + Math.floor(((size - number) * company.historyDays) / Math.max(1, size));
  const day = fresh ? dayOf(insertedAt) : anchorDay - age;
  const requestedDay = day + 5 + (value % 50);
  const promisedDay = requestedDay - 3 + ((value >>> 6) % 18) + revision;
  const state = fresh ? "unconfirmed" : stateOf(promisedDay - revision - anchorDay, value >>> 11);
  const received =
    state === "closed" ? 100 : state === "past_due" || state === "in_transit" ? ((value >>> 14) % 4) * 25 : 0;
  return {
    number,
    revision,
    fresh,
    value,
    vendor: vendorFor(company, value >>> 4),
    day,
    requestedDay,
    promisedDay,
    deliveredDay: state === "closed" ? Math.min(anchorDay, promisedDay - 2 + ((value >>> 17) % 9)) : null,
    state,
    lines: company.linesPerOrder ?? (1 + (((value >>> 20) & 7) * ((value >>> 23) & 3)) / 2) | 0,
    received,
  };
}

function stateOf(daysAhead: number, value: number): OrderState {
  if (daysAhead < -3) return value % 8 === 0 ? "past_due" : "closed";
  if (daysAhead <= 7) return value % 5 < 3 ? "due_this_week" : "in_transit";
  const states = ["unconfirmed", "open", "open", "in_transit"] as const;
  return states[value % 4] ?? "open";
}

/** The line at `index` (0-based); a change of the order orders more of its first line. */
export function orderLine(company: Company, facts: OrderFacts, index: number): OrderLine {
  const value = hash(company.seed, PURPOSE.orderLine, facts.number, index);
  const item = 1 + (value % Math.max(1, company.sizes.items));
  const whole = (1 + ((value >>> 16) % 250) + (index === 0 ? facts.revision : 0)) * 1000;
  const quantity = (value >>> 9) % 11 === 0 ? whole + 250 * ((value >>> 25) % 4) : whole;
  const price = Math.round((itemPrice(company, item) * (90 + ((value >>> 24) % 21))) / 100);
  return { item, quantity, price, cents: Math.round((quantity * price) / 100_000) };
}

/** The sum of the lines in cents. */
export function orderCents(company: Company, facts: OrderFacts): number {
  let cents = 0;
  for (let i = 0; i < facts.lines; i += 1) cents += orderLine(company, facts, i).cents;
  return cents;
}

/** One row of the order list, all documented fields present. */
export function orderRow(company: Company, entry: Entry): Record<string, unknown> {
  const facts = orderFacts(company, entry);
  const { vendor, state, value } = facts;
  const v = new Values(hash(company.seed, PURPOSE.orderRow, facts.number));
  const open = state !== "closed";
  const end = facts.deliveredDay ?? company.today();
  const resolved = v.chance(0.93);
  const expected = v.maybe(BASES[value % 3] ?? null);
  const findings = facts.fresh ? 0 : findingsOfOrder(company, facts.number).length;
  const promised = v.date(facts.promisedDay);
  const total = v.money(orderCents(company, facts));
  const comms = v.count(2);
  // A change must show, so what it touches is never null afterwards.
  const changed = facts.revision > 0;
  return {
    po_number: orderKey(facts.number),
    vendor_name: v.maybe(vendor.name),
    vendor_id: resolved ? vendor.id : null,
    vendor_website: resolved ? v.maybe(vendor.website) : null,
    po_date: v.date(facts.day),
    total_amount: changed ? orderCents(company, facts) / 100 : total,
    fulfillment_state: v.maybe(state),
    is_open: open,
    fulfillment_status: v.maybe(facts.received === 100 ? "received" : facts.received > 0 ? "partial" : "pending"),
    lifecycle_status: v.maybe(open ? (facts.fresh ? "issued" : "active") : "completed"),
    match_status: v.maybe(MATCHES[(value + facts.revision) % MATCHES.length] ?? null),
    delivery_standing: v.maybe(STANDINGS[state][value % STANDINGS[state].length] ?? STANDINGS[state][0]),
    next_expected_date: open ? v.date(facts.promisedDay) : null,
    delivery_expected_basis: expected,
    next_expected_source: expected === null || !open ? null : v.maybe(SOURCES[value % 3] ?? null),
    delivery_vendor_promise_date: promised,
    delivery_vendor_promise_source: promised === null ? null : v.maybe(SOURCES[(value >>> 3) % 3] ?? null),
    delivery_requested_date: v.date(facts.requestedDay),
    delivery_days_late: v.count(Math.max(0, end - facts.promisedDay)),
    delivery_days_past_requested: v.count(Math.max(0, end - facts.requestedDay)),
    receipt_pct: v.decimal(facts.received * 100, 2),
    open_findings_count: v.count(Math.ceil(findings / 2)),
    anomaly_count: v.count(findings),
    critical_anomaly_count: v.count(Math.floor(findings / 3)),
    acknowledged_count: v.count(findings - Math.ceil(findings / 2)),
    comm_count: changed ? 2 + facts.revision : comms,
    unread_count: v.count(v.below(3)),
    intelligence_severity: findings > 0 ? v.maybe(v.pick(["low", "medium", "high", "critical"])) : null,
    delivery_site_name: v.maybe(SITES[value % SITES.length] ?? null),
  };
}
