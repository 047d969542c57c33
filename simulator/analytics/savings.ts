import { DAY_MS } from "../calendar.ts";
import { invoiceKey } from "../company/invoices.ts";
import { manufacturerPart } from "../company/items.ts";
import type { Route } from "../routes.ts";
import type { Bill, Books } from "./books.ts";
import { oldestFirst, share, sumsBy, total } from "./sums.ts";
import { monthOf, monthsOf, within } from "./window.ts";

const ANSWER = { savings: 40, value: 41 } as const;
const KINDS = [
  "duplicate_prevented",
  "price_variance",
  "overbilling",
  "price_outlier",
  "early_payment_discount",
] as const;

/** Every fourth invoice brought up some money: a fiftieth of itself. */
function events(bills: readonly Bill[]) {
  return bills
    .filter(({ number }) => number % 4 === 0)
    .map(bill => ({ ...bill, saved: Math.round(bill.cents / 50), kind: KINDS[bill.value % KINDS.length] ?? KINDS[0] }));
}

/** /analytics/savings and /analytics/value-surfaced. */
export function savingsRoutes(books: Books): Route[] {
  return [savingsRoute(books), valueRoute(books)];
}

function savingsRoute(books: Books): Route {
  const { company } = books;
  return {
    template: "/analytics/savings",
    answer: request => {
      const window = monthsOf(company, request);
      const v = books.values(ANSWER.savings, window.months);
      const bills = within(books.bills(), window);
      const found = events(bills);
      const saved = total(found, event => event.saved);
      const spent = total(bills, ({ cents }) => cents);
      const of = (kind: number) =>
        total(
          found.filter(event => event.kind === KINDS[kind]),
          event => event.saved,
        );
      const data = {
        currency_code: company.currency,
        totals: {
          total_savings: v.money(saved),
          duplicates_prevented: v.money(of(0)),
          price_variances: v.money(of(1)),
          overbilling_caught: v.money(of(2)),
          price_outliers: v.money(of(3)),
          cumulative_fraud: v.money(0),
          sourcing_opportunities: v.money(Math.round(spent / 90)),
          early_payment_discounts: v.money(of(4)),
          sole_source_risk: v.money(Math.round(spent / 30)),
          late_delivery_cost: v.money(Math.round(spent / 400)),
          email_credit_memos: v.money(Math.round(spent / 700)),
          discount_captured: v.money(
            total(
              bills.filter(({ paid }) => paid),
              ({ discount }) => discount,
            ),
          ),
          discount_missed: v.money(
            total(
              bills.filter(({ paid }) => !paid),
              ({ discount }) => discount,
            ),
          ),
          total_events: v.count(found.length),
          docs_with_value: v.count(found.length),
        },
        savings_over_time: oldestFirst(
          sumsBy(
            found,
            ({ day }) => monthOf(day),
            event => event.saved,
          ),
        ).map(month => ({
          month: month.key,
          total_savings: v.money(month.cents),
          event_count: v.count(month.count),
        })),
        recent_items: found.slice(0, 20).map(({ number, value, day, vendor, kind, saved: cents }) => ({
          event_id: v.maybe(`SAV-${number}`),
          doc_id: v.maybe(invoiceKey(number)),
          event_type: v.maybe(kind),
          amount_usd: v.money(cents),
          severity: v.maybe(cents > 100_000 ? "high" : "low"),
          part_number: v.maybe(manufacturerPart(value)),
          details: v.maybe(`"${kind}" – ${vendor.name}`),
          created_at: v.maybe(v.moment(day * DAY_MS + (value % 86_400) * 1000)),
          vendor_name: v.maybe(vendor.name),
          document_number: v.maybe(`RE-${number}/${value % 100}`),
        })),
        roi: {
          total_invoices_processed: v.count(bills.length),
          total_invoice_spend: v.money(spent),
          total_savings: v.money(saved),
          savings_rate_pct: v.decimal(share(saved, spent), 2),
        },
        tracker_identified: v.money(Math.round(spent / 60)),
        tracker_recovered: v.money(Math.round(spent / 200)),
        months: String(window.months),
      };
      return { data };
    },
  };
}

function valueRoute(books: Books): Route {
  const { company } = books;
  return {
    template: "/analytics/value-surfaced",
    answer: request => {
      const window = monthsOf(company, request);
      const v = books.values(ANSWER.value, window.months);
      const found = events(within(books.bills(), window));
      const value = total(found, event => event.saved);
      const data = {
        currency_code: company.currency ?? "USD",
        currency_complete: company.currency !== null,
        unresolved_currency_events: company.currency === null ? found.length : 0,
        window: { months: v.maybe(window.months), label: `Last ${window.months} months`, undated_events: v.below(3) },
        metric_backing: v.maybe({ events: found.length }),
        totals: {
          total_value: v.money(value),
          verified_value: v.money(Math.round(value / 2)),
          identified_value: v.money(value - Math.round(value / 2)),
          recovered_value: v.money(Math.round(value / 5)),
          total_events: v.count(found.length),
          total_docs: v.count(found.length),
        },
        categories: KINDS.map(kind => {
          const own = found.filter(event => event.kind === kind);
          const cents = total(own, event => event.saved);
          return { key: kind, label: kind.replaceAll("_", " "), total: v.money(cents), events: own.length };
        }),
        monthly: oldestFirst(
          sumsBy(
            found,
            ({ day }) => monthOf(day),
            event => event.saved,
          ),
        ).map(month => ({
          month: month.key,
          total: v.money(month.cents),
          events: v.count(month.count),
        })),
      };
      return { data };
    },
  };
}
