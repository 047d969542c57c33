import { DAY_MS, dayOf } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { type Company, vendorFor } from "../company/company.ts";
import { invoiceKey } from "../company/invoices.ts";
import { documentId, trackingNumber } from "../company/order_papers.ts";
import { orderFacts } from "../company/orders.ts";
import type { World } from "../domain.ts";
import { answerOf } from "../endpoints/lists.ts";
import { pageOf } from "../paging.ts";
import { hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import { atTheHead, type Family, type Row, type Source } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWN_FOR } from "./purposes.ts";

const STATES = ["open", "resolved", "recovered", "denied"] as const;
const TYPES = ["damage", "loss", "shortage", "overcharge"] as const;
const FIRST_ID = 4000;

/** What a claim is, apart from how its row is written: the day counts from 1970, amounts are in cents. */
interface ClaimFacts {
  readonly value: number;
  readonly state: (typeof STATES)[number];
  readonly day: number;
  readonly claimed: number;
  readonly approved: number | null;
  readonly recovered: number | null;
}

function claimKey(number: number): string {
  return String(FIRST_ID + number);
}

function claimNumber(key: string): number {
  return /^[1-9]\d{3,14}$/.test(key) ? Number(key) - FIRST_ID : Number.NaN;
}

export function claimFamily(company: Company): Family {
  return {
    path: "/freight-claims",
    keyField: "id",
    key: claimKey,
    number: claimNumber,
    row: entry => claimRow(company, entry),
    ranks: atTheHead,
  };
}

function claimFacts(company: Company, { number, insertedAt }: Entry): ClaimFacts {
  const value = hash(company.seed, DRAWN_FOR.claim, number);
  const fresh = insertedAt !== undefined;
  const state = fresh ? "open" : (STATES[value % STATES.length] ?? "open");
  const claimed = 10_000 + (value % 900_000);
  const settled = state === "resolved" || state === "recovered";
  return {
    value,
    state,
    day: fresh ? dayOf(insertedAt) : company.anchorDay - 15 - ((value >>> 9) % 500),
    claimed,
    approved: settled ? Math.floor(claimed * 0.8) : null,
    recovered: state === "recovered" ? Math.floor(claimed * 0.7) : null,
  };
}

function claimRow(company: Company, entry: Entry): Row {
  const { number, revision } = entry;
  const facts = claimFacts(company, entry);
  const { value, state, day } = facts;
  const v = new Values(hash(company.seed, DRAWN_FOR.claimRow, number));
  const { orders, invoices } = company.sizes;
  const shipped = { number: 1 + (value % Math.max(1, orders)), revision: 0, insertedAt: undefined };
  const order = orderFacts(company, shipped);
  const carrier = vendorFor(company, (value >>> 6) % 12);
  const notes = v.maybe("Fotos liegen bei");
  return {
    id: number % 2 === 0 ? FIRST_ID + number : claimKey(number),
    claim_number: v.maybe(`CLM-${day}-${number}`),
    vendor_id: v.maybe(carrier.id),
    vendor_name: v.maybe(carrier.name),
    claim_type: v.maybe(TYPES[(value >>> 3) % TYPES.length] ?? null),
    status: v.maybe(state),
    pro_number: v.maybe(proNumber(value)),
    tracking_number: v.maybe(trackingNumber(order)),
    shipment_doc_id: v.maybe(documentId(order, "B")),
    invoice_doc_id: invoices === 0 ? null : v.maybe(invoiceKey(1 + ((value >>> 2) % invoices))),
    amount_claimed: v.money(facts.claimed),
    amount_approved: v.money(facts.approved),
    amount_recovered: v.money(facts.recovered),
    currency_code: v.maybe(carrier.currency),
    description: v.maybe('Pallet 3 crushed,\n"wet" cartons'),
    notes: revision > 0 ? `Nachtrag ${revision}` : notes,
    evidence_doc_ids: v.maybe([documentId(order, "D"), documentId(order, "B")].slice(0, value % 3)),
    filed_date: v.date(day),
    acknowledged_date: state === "open" ? null : v.date(day + 6),
    resolved_date: state === "open" ? null : v.date(Math.min(company.anchorDay, day + 30)),
    created_at: v.maybe(v.moment(day * DAY_MS + (value % DAY_MS))),
  };
}

/** The carrier's number of a shipment. */
export function proNumber(value: number): string {
  return `${String(value % 1000).padStart(3, "0")}-${value >>> 10}`;
}

/** /freight-claims, /freight-claims/{id} and /freight-claims/stats. */
export function claimRoutes({ company, mode }: World, source: Source): Route[] {
  const { collection } = source;
  return [
    {
      template: "/freight-claims",
      answer: request => {
        const { vendor_id, status, claim_type } = request.query;
        const states: readonly unknown[] | undefined = status?.split(",");
        const keep = (row: Row): boolean =>
          (vendor_id === undefined || row["vendor_id"] === vendor_id) &&
          (states === undefined || states.includes(row["status"])) &&
          (claim_type === undefined || row["claim_type"] === claim_type);
        const page = pageOf(source, request, mode, { keep });
        return answerOf({ items: page.rows }, page);
      },
    },
    { template: "/freight-claims/stats", answer: () => ({ data: stats(company, source) }) },
    {
      template: "/freight-claims/{id}",
      answer: ({ params }) => {
        const key = params["id"] ?? "";
        const entry = collection.get(claimNumber(key));
        if (entry === undefined) throw notFound(`Freight claim '${key}'`);
        return { data: claimRow(company, entry) };
      },
    },
  ];
}

function stats(company: Company, { collection }: Source): Record<string, unknown> {
  const counts = new Map<string, number>(STATES.map(state => [state, 0]));
  const sums = { claimed: 0, approved: 0, recovered: 0 };
  for (const entry of collection.walk(Number.NEGATIVE_INFINITY)) {
    const { state, claimed, approved, recovered } = claimFacts(company, entry);
    counts.set(state, (counts.get(state) ?? 0) + 1);
    sums.claimed += claimed;
    sums.approved += approved ?? 0;
    sums.recovered += recovered ?? 0;
  }
  const v = new Values(hash(company.seed, DRAWN_FOR.claim));
  const none = collection.count === 0;
  return {
    by_status: [...counts].map(([status, count]) => ({ status, count })),
    total_claims: collection.count,
    open_claims: counts.get("open"),
    resolved_claims: counts.get("resolved"),
    recovered_claims: counts.get("recovered"),
    denied_claims: counts.get("denied"),
    recovery_rate_pct: none ? null : Math.round((sums.recovered * 10_000) / sums.claimed) / 100,
    total_claimed: v.money(none ? null : sums.claimed),
    total_recovered: v.money(none ? null : sums.recovered),
    total_approved: v.money(none ? null : sums.approved),
    currency_code: company.currency,
    mixed_currency: company.vendors.some(({ currency }) => currency !== company.currency),
  };
}
