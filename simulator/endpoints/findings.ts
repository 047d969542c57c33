import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { findingFacts, findingKey, findingNumber, findingRanks, findingRow } from "../company/findings.ts";
import { type PagingMode, pageOf, type Selection } from "../paging.ts";
import type { Request, Route } from "../routes.ts";
import type { Family, Row, Source } from "../source.ts";
import { findingOrder } from "./finding_order.ts";
import { findingTotals, type Totals } from "./finding_totals.ts";
import { answerOf, search } from "./lists.ts";

export function findingFamily(company: Company): Family {
  return {
    path: "/findings",
    keyField: "item_id",
    key: findingKey,
    number: findingNumber,
    ordered: true,
    row: entry => findingRow(company, entry),
    ranks: (count, collection) => findingRanks(company, count, collection),
  };
}

const WINDOWS: Readonly<Record<string, number>> = { "1d": 1, "7d": 7, "30d": 30, "90d": 90 };
const SCOPES = ["status", "category", "po_number", "vendor_id", "doc_id"] as const;

/** /findings: grouped by category and ranked by money, with totals beside the rows. */
export function findingRoutes(company: Company, source: Source, mode: PagingMode, clock: () => Date): Route[] {
  const order = findingOrder(company, source);
  const totals = findingTotals(company, source);
  const answer = (request: Request) => {
    const { query } = request;
    const since = sinceOf(query["detected_within"], clock);
    const selection: Selection = {
      ...order(query["sort_by"], query["sort_dir"], query["persona"]),
      ...(since === undefined ? {} : { entry: (entry: Entry) => findingFacts(company, entry).createdAt >= since }),
      keep: row => wanted(row, query, since),
    };
    const page = pageOf(source, request, mode, selection);
    return answerOf(
      { findings: page.rows, ...beside(company, totals(query, since)), resolved_scope: scopeOf(query) },
      page,
    );
  };
  return [{ template: "/findings", answer }];
}

/** The window looks at created_at; a finding without one is outside every window. An unknown window is no window.
 * Its edge moves by whole minutes, so that the pages of one scan share their totals. */
function sinceOf(window: string | undefined, clock: () => Date): number | undefined {
  const days = WINDOWS[window ?? ""];
  return days === undefined ? undefined : Math.floor(clock().getTime() / 60_000) * 60_000 - days * DAY_MS;
}

function wanted(row: Row, query: Request["query"], since: number | undefined): boolean {
  for (const name of SCOPES) if (query[name] !== undefined && row[name] !== query[name]) return false;
  if (since !== undefined && !(Date.parse(String(row["created_at"])) >= since)) return false;
  return search(row, query["search"], ["title", "summary", "vendor_name"]);
}

function scopeOf(query: Request["query"]): Record<string, string | null> {
  return {
    po_number: query["po_number"] ?? null,
    vendor_id: query["vendor_id"] ?? null,
    doc_id: query["doc_id"] ?? null,
    contract_id: null,
    category: query["category"] ?? null,
  };
}

function beside(company: Company, totals: Totals): Record<string, unknown> {
  const silent = company.seed % 5 === 4;
  const money = (cents: number) => ({ value: cents / 100, currency_code: company.currency ?? "USD" });
  return {
    currency_code: company.currency,
    resolved_count: silent ? null : company.seed % 2 === 0 ? totals.resolved : String(totals.resolved),
    open_count: silent ? null : company.seed % 2 === 0 ? totals.open : String(totals.open),
    open_amount: silent ? null : money(totals.openCents),
    waiting_on: "all",
    waiting_on_counts: { you: totals.you, vendor: totals.vendor, all: totals.open },
    recoverable_amount: silent ? null : money(Math.round(totals.openCents * 0.6)),
    situation_totals: totals.situations.map(({ order, cents }, i) => ({
      po_number: order,
      total_usd: i % 5 === 4 ? null : cents / 100,
      metric_backing: i % 3 === 2 ? null : { basis: "open findings" },
    })),
    category_counts: totals.categories.map(({ name, label, count, cents }, i) => ({
      category: name,
      label,
      count,
      money_total_usd: cents === 0 ? null : cents / 100,
      metric_backing: i % 3 === 2 ? null : { findings: count },
      context: count === 0 ? [] : [{ kind: "share", value: Math.round((count * 100) / Math.max(1, totals.all)) }],
    })),
  };
}
