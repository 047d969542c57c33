import type { Company } from "../company/company.ts";
import { CATEGORIES, findingFacts, isClosed } from "../company/findings.ts";
import type { Request } from "../routes.ts";
import type { Source } from "../source.ts";

/** Counts and money (cents) over all findings of a scope, whatever page is being read. */
export interface Totals {
  all: number;
  open: number;
  resolved: number;
  openCents: number;
  you: number;
  vendor: number;
  categories: { name: string; label: string; count: number; cents: number }[];
  /** Orders with the most money in open findings. */
  situations: { order: string; cents: number }[];
}

const SITUATIONS = 10;
const REMEMBERED = 16;
const SCOPES = ["status", "category", "po_number", "vendor_id", "doc_id"] as const;

/** Computes the totals of a scope once for each state of the rows; only the latest few scopes are remembered. */
export function findingTotals(
  company: Company,
  source: Source,
): (query: Request["query"], since: number | undefined) => Totals {
  const known = new Map<string, Totals>();
  let version = -1;
  return (query, since) => {
    if (version !== source.collection.version) known.clear();
    version = source.collection.version;
    const scope = JSON.stringify([SCOPES.map(name => query[name] ?? null), since ?? null]);
    const totals = known.get(scope) ?? compute(company, source, query, since);
    known.set(scope, totals);
    const [oldest] = known.keys();
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
    return totals;
  };
}

function compute(company: Company, source: Source, query: Request["query"], since: number | undefined): Totals {
  const totals: Totals = {
    all: 0,
    open: 0,
    resolved: 0,
    openCents: 0,
    you: 0,
    vendor: 0,
    categories: CATEGORIES.flatMap(({ name, label }) => (name === null ? [] : [{ name, label, count: 0, cents: 0 }])),
    situations: [],
  };
  const orders = new Map<string, number>();
  for (const entry of source.collection.walk(Number.NEGATIVE_INFINITY)) {
    const facts = findingFacts(company, entry);
    if (since !== undefined && facts.createdAt < since) continue;
    if (query["status"] !== undefined && facts.status !== query["status"]) continue;
    if (query["category"] !== undefined && facts.category.name !== query["category"]) continue;
    if (query["po_number"] !== undefined && facts.order !== query["po_number"]) continue;
    if (query["vendor_id"] !== undefined && facts.vendor.id !== query["vendor_id"]) continue;
    if (query["doc_id"] !== undefined && facts.document !== query["doc_id"]) continue;
    const cents = facts.cents ?? 0;
    const closed = isClosed(facts.status);
    totals.all += 1;
    totals[closed ? "resolved" : "open"] += 1;
    const category = totals.categories.find(({ name }) => name === facts.category.name);
    if (category !== undefined) {
      category.count += 1;
      category.cents += cents;
    }
    if (closed) continue;
    totals.openCents += cents;
    if (facts.waitingOn !== null) totals[facts.waitingOn] += 1;
    if (facts.order !== null) orders.set(facts.order, (orders.get(facts.order) ?? 0) + cents);
  }
  const byMoney = [...orders].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  totals.situations = byMoney.slice(0, SITUATIONS).map(([order, cents]) => ({ order, cents }));
  return totals;
}
