import { type Company, vendorFor } from "../company/company.ts";
import { type InvoiceFacts, invoiceAmounts, invoiceFacts, invoiceLine, type MatchStatus } from "../company/invoices.ts";
import { itemRow } from "../company/items.ts";
import { orderFacts } from "../company/orders.ts";
import type { Vendor } from "../company/vendors.ts";
import type { World } from "../domain.ts";
import { perVersion } from "../endpoints/tally.ts";
import { hash } from "../random.ts";
import { Values } from "../values.ts";

/** An invoice as the figures see it; money in cents, days since 1970. */
export interface Bill {
  readonly number: number;
  readonly value: number;
  readonly vendor: Vendor;
  readonly day: number;
  readonly due: number;
  readonly paid: boolean;
  readonly state: string;
  readonly status: MatchStatus;
  readonly item: number;
  readonly category: string;
  readonly cents: number;
  /** Off for early payment, until ten days after the invoice. */
  readonly discount: number;
}

/** A delivered order as the figures see it. */
export interface Delivery {
  readonly number: number;
  readonly vendor: Vendor;
  readonly day: number;
  /** Days behind the vendor's promise, negative when early. */
  readonly late: number;
  readonly lateAsRequested: number;
  readonly full: boolean;
}

/** What every figure is taken from: the newest invoices and deliveries of the company. */
export interface Books {
  readonly company: Company;
  readonly bills: () => readonly Bill[];
  readonly deliveries: () => readonly Delivery[];
  readonly carriers: readonly [Vendor, ...Vendor[]];
  readonly invoiceCount: () => number;
  /** How many invoices stand in each match status, of all there are. */
  readonly matches: () => Readonly<Record<MatchStatus, number>>;
  /** Draws of one answer's own. */
  readonly values: (answer: number, part?: number) => Values;
}

/** Figures are taken from so many rows at most: a company may have millions. */
const LOOKED_AT = 2000;
const PURPOSE = 500;
const STATES = ["actionable_review", "pending_approval", "blocked", "approved", "hold", "rejected"];

export function booksOf({ company, sources }: World): Books {
  const invoices = sources["invoices"]!.collection;
  const orders = sources["purchase_orders"]!.collection;
  const categories = new Map<number, string>();
  const categoryOf = (item: number): string => {
    const known = categories.get(item);
    if (known !== undefined) return known;
    const row = itemRow(company, { number: item, revision: 0, insertedAt: undefined, rank: 0 });
    const category = typeof row["category"] === "string" ? row["category"] : "Uncategorized";
    categories.set(item, category);
    return category;
  };
  return {
    company,
    bills: perVersion(invoices, () => {
      const bills: Bill[] = [];
      for (const entry of invoices.walk(Number.NEGATIVE_INFINITY)) {
        if (bills.length === LOOKED_AT) break;
        bills.push(billOf(company, invoiceFacts(company, entry), categoryOf));
      }
      return bills;
    }),
    deliveries: perVersion(orders, () => {
      const deliveries: Delivery[] = [];
      for (const entry of orders.walk(Number.NEGATIVE_INFINITY)) {
        if (deliveries.length === LOOKED_AT) break;
        const { number, vendor, deliveredDay, promisedDay, requestedDay, received } = orderFacts(company, entry);
        if (deliveredDay === null) continue;
        const late = deliveredDay - promisedDay;
        const full = received === 100 && number % 9 !== 0;
        deliveries.push({
          number,
          vendor,
          day: deliveredDay,
          late,
          lateAsRequested: deliveredDay - requestedDay,
          full,
        });
      }
      return deliveries;
    }),
    carriers: carriersOf(company),
    invoiceCount: () => invoices.count,
    matches: perVersion(invoices, () => {
      const matches: Record<MatchStatus, number> = { matched: 0, discrepancy: 0, no_po: 0, awaiting_po: 0 };
      for (const entry of invoices.walk(Number.NEGATIVE_INFINITY)) matches[invoiceFacts(company, entry).status] += 1;
      return matches;
    }),
    values: (answer, part = 0) => new Values(hash(company.seed, PURPOSE, answer, part)),
  };
}

function billOf(company: Company, facts: InvoiceFacts, categoryOf: (item: number) => string): Bill {
  const { number, value, vendor, day, status, revision } = facts;
  const sums = invoiceAmounts(company, facts);
  const { item } = invoiceLine(company, facts, 0);
  const due = day + ([14, 30, 45, 60][(value >>> 7) % 4] ?? 30);
  const paid = due < company.anchorDay - 10;
  const state = paid ? "approved" : (STATES[(value + revision) % STATES.length] ?? "approved");
  const category = categoryOf(item);
  const discount = sums.discount;
  return { number, value, vendor, day, due, paid, state, status, item, category, cents: sums.total, discount };
}

/** Some of the vendors carry freight. */
function carriersOf(company: Company): [Vendor, ...Vendor[]] {
  const carriers = company.vendors.filter((_, i) => i % 4 === 2).slice(0, 12);
  return [carriers[0] ?? vendorFor(company, 0), ...carriers.slice(1)];
}
