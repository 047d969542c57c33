import { DAY_MS, dayOf, dayText } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import type { World } from "../domain.ts";
import { answerOf, isOn } from "../endpoints/lists.ts";
import { pageOf } from "../paging.ts";
import { hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import { atTheHead, type Family, type Row, type Source } from "../source.ts";
import { type Loose, Values } from "../values.ts";
import { DRAWN_FOR } from "./purposes.ts";

/** What a budget is, apart from how its row is written: days since 1970, amounts in cents. */
interface BudgetFacts {
  readonly value: number;
  readonly start: number;
  readonly end: number;
  readonly amount: number;
  readonly encumbered: number;
  /** Spend by month, the oldest first. */
  readonly months: readonly { readonly month: string; readonly cents: number; readonly invoices: number }[];
}

const KINDS = ["category", "department", "vendor", "project"] as const;
const LABELS = ["Fasteners", "Instandhaltung", "Logistics", "Projekt „Süd“"] as const;
/** Days from the beginning of one budget's period to that of the next newer one. */
const STEP = 15;

function budgetKey(number: number): string {
  return `BUD-${String(number).padStart(4, "0")}`;
}

function budgetNumber(key: string): number {
  return /^BUD-\d{4,}$/.test(key) ? Number(key.slice(4)) : Number.NaN;
}

export function budgetFamily(company: Company, size: number): Family {
  return {
    path: "/budgets",
    keyField: "id",
    key: budgetKey,
    number: budgetNumber,
    row: entry => budgetRow(company, entry, size),
    ranks: atTheHead,
  };
}

function budgetFacts(company: Company, { number, revision, insertedAt }: Entry, size: number): BudgetFacts {
  const value = hash(company.seed, DRAWN_FOR.budget, number);
  const start = insertedAt === undefined ? company.anchorDay - 30 - (size - number) * STEP : dayOf(insertedAt);
  const end = start + 364;
  const amount = (100_000 + (value % 2_000_000)) * 100;
  const elapsed = Math.min(12, Math.max(0, Math.floor((company.anchorDay - start) / 30)));
  const months = Array.from({ length: elapsed }, (_, i) => ({
    month: dayText(start + i * 30).slice(0, 7),
    cents: Math.floor(amount / 15) + (hash(value, i) % 500_000) + (i === elapsed - 1 ? revision * 10_000 : 0),
    invoices: 1 + (hash(value, i, 1) % 9),
  }));
  return { value, start, end, amount, encumbered: Math.floor(amount / 10) + (value % 100_000), months };
}

function budgetRow(company: Company, entry: Entry, size: number): Row {
  const { number, revision } = entry;
  const facts = budgetFacts(company, entry, size);
  const { value, amount, encumbered, months } = facts;
  const v = new Values(hash(company.seed, DRAWN_FOR.budgetRow, number));
  const actuals = months.reduce((sum, { cents }) => sum + cents, 0);
  const createdAt = (facts.start - 10) * DAY_MS + (value % DAY_MS);
  const row = {
    id: budgetKey(number),
    scope_kind: KINDS[value % KINDS.length],
    scope_ref: v.maybe(`${KINDS[value % KINDS.length]}:${value % 90}`),
    scope_label: v.maybe(LABELS[value % LABELS.length] ?? null),
    period_start: v.date(facts.start),
    period_end: v.date(facts.end),
    amount_usd: v.money(amount),
    currency_code: v.maybe("USD"),
    encumbrance_usd: v.money(encumbered),
    actuals_usd: v.money(actuals),
    available_usd: v.money(amount - encumbered - actuals),
    excluded_non_usd_count: value % 5,
    unvalued_doc_count: (value >>> 5) % 4,
    open_po_count: (value >>> 8) % 30,
    invoice_count: months.reduce((sum, { invoices }) => sum + invoices, 0),
    warning_pct: v.pick([75, 80, 90, 92.5]),
    source_citation: v.maybe('Budget plan "FY", p. 3'),
    created_by: v.maybe("zoe@example.com"),
    created_at: v.maybe(v.moment(createdAt)),
    updated_at: v.maybe(v.moment(createdAt + 5 * DAY_MS)),
  };
  // A change must show even where the month's spend is not given.
  return revision > 0 ? { ...row, source_citation: `Revision ${revision}` } : row;
}

function budgetDetail(company: Company, entry: Entry, size: number): Row {
  const facts = budgetFacts(company, entry, size);
  const row = budgetRow(company, entry, size);
  const v = new Values(hash(company.seed, DRAWN_FOR.budgetRow, entry.number, 1));
  const left = Number(row["excluded_non_usd_count"]);
  const unvalued = Number(row["unvalued_doc_count"]);
  return {
    ...row,
    monthly_actuals: facts.months.map(({ month, cents, invoices }) => ({
      month: v.maybe(month),
      actuals_usd: v.money(cents) satisfies Loose,
      invoice_count: invoices,
    })),
    excluded_note: left === 0 ? null : `${left} document(s) in other currencies are not counted`,
    unvalued_note: unvalued === 0 ? null : `${unvalued} document(s) without a value`,
  };
}

/** /budgets and /budgets/{id}. */
export function budgetRoutes({ company, mode }: World, source: Source): Route[] {
  const { collection } = source;
  return [
    {
      template: "/budgets",
      answer: request => {
        const { scope_kind, active } = request.query;
        const page = pageOf(source, request, mode, {
          keep: row => scope_kind === undefined || row["scope_kind"] === scope_kind,
          ...(isOn(active) ? { entry: entry => coversToday(company, entry, collection.size) } : {}),
        });
        return answerOf({ budgets: page.rows }, page);
      },
    },
    {
      template: "/budgets/{id}",
      answer: ({ params }) => {
        const key = params["id"] ?? "";
        const entry = collection.get(budgetNumber(key));
        if (entry === undefined) throw notFound(`Budget '${key}'`);
        return { data: budgetDetail(company, entry, collection.size) };
      },
    },
  ];
}

function coversToday(company: Company, entry: Entry, size: number): boolean {
  const { start, end } = budgetFacts(company, entry, size);
  return start <= company.today() && company.today() <= end;
}
