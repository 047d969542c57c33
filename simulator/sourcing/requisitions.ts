import { DAY_MS, dayOf } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { type Company, vendorFor } from "../company/company.ts";
import { itemPrice } from "../company/items.ts";
import { type OrderFacts, type OrderLine, orderDocument, orderFacts, orderKey, orderLine } from "../company/orders.ts";
import { parentOf } from "../company/relations.ts";
import type { Vendor } from "../company/vendors.ts";
import { hash } from "../random.ts";
import { atTheHead, type Family, type Row } from "../source.ts";
import { type Loose, Values } from "../values.ts";
import { DRAWN_FOR } from "./purposes.ts";
import { siteKey, siteName } from "./sites.ts";
import { sourcingSizes } from "./sizes.ts";

const STATES = [
  "po_generated",
  "draft",
  "pending",
  "approved",
  "po_generated",
  "rejected",
  "changes_requested",
  "po_generated",
  "cancelled",
] as const;

export type RequisitionState = (typeof STATES)[number];

/** What a requisition is, apart from how its row is written; the day counts from 1970. */
export interface RequisitionFacts {
  readonly number: number;
  readonly value: number;
  readonly state: RequisitionState;
  /** The order that was made from it. */
  readonly order: OrderFacts | null;
  readonly vendor: Vendor | null;
  readonly site: number | null;
  readonly day: number;
  readonly lines: readonly Pick<OrderLine, "item" | "quantity" | "price" | "cents">[];
}

export function requisitionKey(number: number): string {
  return `REQ-${number}`;
}

export function requisitionNumber(key: string): number {
  return /^REQ-[1-9]\d{0,14}$/.test(key) ? Number(key.slice(4)) : Number.NaN;
}

/** The number that people quote. */
export function printedNumber(number: number): string {
  return `PR-${String(number).padStart(5, "0")}`;
}

/** `total` tells how many requisitions there are: every row repeats it. */
export function requisitionFamily(company: Company, total: () => number): Family {
  return {
    path: "/requisitions",
    keyField: "id",
    key: requisitionKey,
    number: requisitionNumber,
    row: entry => requisitionRow(company, entry, loosely(company, total())),
    ranks: atTheHead,
  };
}

function loosely({ seed }: Company, total: number): Loose {
  if (seed % 5 === 4) return null;
  return seed % 2 === 0 ? total : String(total);
}

export function requisitionFacts(company: Company, { number, insertedAt }: Entry): RequisitionFacts {
  const value = hash(company.seed, DRAWN_FOR.requisition, number);
  const size = sourcingSizes(company).requisitions;
  const fresh = insertedAt !== undefined;
  const state = fresh ? "pending" : (STATES[value % STATES.length] ?? "draft");
  const ordered = { number: parentOf(number, size, company.sizes.orders), revision: 0, insertedAt: undefined };
  const order = state === "po_generated" ? orderFacts(company, ordered) : null;
  const age = Math.floor(((size - number) * company.historyDays) / Math.max(1, size));
  return {
    number,
    value,
    state,
    order,
    vendor: order?.vendor ?? (value % 7 === 0 ? null : vendorFor(company, value >>> 4)),
    site: value % 8 === 0 ? null : 1 + (value % 5),
    day: order !== null ? order.day - 6 : fresh ? dayOf(insertedAt) : company.anchorDay - 2 - age,
    lines:
      order === null
        ? Array.from({ length: 1 + ((value >>> 13) % 4) }, (_, i) => wanted(company, value, i))
        : Array.from({ length: order.lines }, (_, i) => orderLine(company, order, i)),
  };
}

function wanted(company: Company, value: number, index: number): RequisitionFacts["lines"][number] {
  const drawn = hash(value, index);
  const item = 1 + (drawn % Math.max(1, company.sizes.items));
  const quantity = (1 + ((drawn >>> 16) % 120)) * 1000;
  const price = itemPrice(company, item);
  return { item, quantity, price, cents: Math.round((quantity * price) / 100_000) };
}

/** Whether the requisition was ever handed in, and approved. */
function standing({ state }: RequisitionFacts): { submitted: boolean; approved: boolean } {
  return { submitted: state !== "draft", approved: state === "approved" || state === "po_generated" };
}

export function approvedAt(facts: RequisitionFacts): number | null {
  return standing(facts).approved ? (facts.day + 2) * DAY_MS + 36_000_000 : null;
}

export function requisitionCents({ lines }: RequisitionFacts): number {
  return lines.reduce((sum, { cents }) => sum + cents, 0);
}

/** What list and detail have in common; `total` stands beside the row's own fields. */
export function requisitionRow(company: Company, entry: Entry, total: Loose): Row {
  const { number, revision } = entry;
  const facts = requisitionFacts(company, entry);
  const { value, state, order, vendor, site, day } = facts;
  const v = new Values(hash(company.seed, DRAWN_FOR.requisitionRow, number));
  const at = day * DAY_MS + (value % DAY_MS);
  const { submitted, approved } = standing(facts);
  const when = (happened: boolean, days: number) => (happened ? v.maybe(v.moment(at + days * DAY_MS)) : null);
  const who = (happened: boolean) => (happened ? v.maybe('Robert "Bob" Hale') : null);
  const freetext = v.chance(0.4);
  return {
    id: requisitionKey(number),
    company_id: v.maybe(company.id),
    pr_number: printedNumber(number),
    requester_email: v.maybe("ana.nunez@example.com"),
    requester_name: v.maybe("Ana Núñez"),
    title: `${v.pick(["Ersatzteile", "Restock", "Project supplies"])} ${number}${revision > 0 ? ` (rev. ${revision})` : ""}`,
    justification: v.maybe("Lager läuft leer;\nline 4 stops otherwise"),
    vendor_id: vendor?.id ?? null,
    vendor_name_freetext: v.chance(0.5) ? (vendor?.name.toLowerCase() ?? "somebody cheap") : null,
    vendor_canonical_name: vendor?.name ?? null,
    delivery_site_id: site === null ? null : siteKey(site),
    delivery_site_name: site === null ? null : v.maybe(siteName(site)),
    needed_by_date: v.date(day + 30),
    total_estimated_amount: v.money(requisitionCents(facts)),
    currency_code: v.maybe(vendor?.currency ?? company.currency ?? "USD"),
    status: state,
    original_freetext: freetext ? "we need more of the usual, bis Ende des Monats" : null,
    llm_parsed: freetext,
    submitted_at: when(submitted, 1),
    approved_by: who(approved),
    approved_at: approved ? v.maybe(v.moment(approvedAt(facts) ?? at)) : null,
    rejected_by: who(state === "rejected"),
    rejected_at: when(state === "rejected", 2),
    rejection_reason: state === "rejected" ? v.maybe("Budget aufgebraucht") : null,
    changes_requested_by: who(state === "changes_requested"),
    changes_requested_at: when(state === "changes_requested", 2),
    changes_requested_reason: state === "changes_requested" ? v.maybe("Quantity?") : null,
    generated_po_doc_id: order === null ? null : v.maybe(orderDocument(order.number)),
    generated_po_number: order === null ? null : orderKey(order.number),
    created_at: v.maybe(v.moment(at)),
    updated_at: v.maybe(v.moment(at + 3 * DAY_MS)),
    filtered_total: total,
    line_count: v.count(facts.lines.length),
  };
}
