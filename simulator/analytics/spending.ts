import type { Route } from "../routes.ts";
import type { Bill, Books } from "./books.ts";
import { largestFirst, oldestFirst, share, sumsBy, total } from "./sums.ts";
import { before, described, monthOf, periodOf, trailing, within } from "./window.ts";

const ANSWER = { spend: 1, discounts: 2, summary: 3 } as const;
const centsOf = ({ cents }: Bill): number => cents;

/** /analytics/spend, /analytics/discounts and /analytics/executive-summary. */
export function spendingRoutes(books: Books): Route[] {
  return [spendRoute(books), discountsRoute(books), summaryRoute(books)];
}

function spendRoute(books: Books): Route {
  const { company } = books;
  return {
    template: "/analytics/spend",
    answer: request => {
      const window = periodOf(company, request);
      const v = books.values(ANSWER.spend, window.days);
      const bills = within(books.bills(), window);
      const earlier = within(books.bills(), before(window));
      const sum = total(bills, centsOf);
      const past = total(earlier, centsOf);
      const vendors = largestFirst(
        sumsBy(bills, ({ vendor }) => vendor, centsOf),
        25,
      );
      const top = (count: number): number | null => share(total(vendors.slice(0, count), centsOfSum), sum);
      const data = {
        currency_code: company.currency,
        spend_over_time: oldestFirst(sumsBy(bills, ({ day }) => monthOf(day), centsOf)).map(month => ({
          month: month.key,
          total_spend: v.money(month.cents),
          invoice_count: v.count(month.count),
        })),
        spend_by_vendor: vendors.map(({ key, cents, count }) => ({
          vendor_id: v.maybe(key.id),
          vendor_name: key.name,
          total_spend: v.money(cents),
          invoice_count: v.count(count),
          spend_pct: v.decimal(share(cents, sum), 2),
        })),
        spend_by_category: largestFirst(
          sumsBy(bills, ({ category }) => category, centsOf),
          20,
        ).map(({ key, cents, count }) => ({
          category: key,
          total_spend: v.money(cents),
          invoice_count: v.count(count),
        })),
        trends: {
          current_total: v.money(sum),
          previous_total: v.money(past),
          change_pct: v.decimal(share(sum - past, past), 2),
          current_invoice_count: v.count(bills.length),
          previous_invoice_count: v.count(earlier.length),
        },
        concentration: {
          top5_pct: v.decimal(top(5), 2),
          top10_pct: v.decimal(top(10), 2),
          grand_total: v.money(sum),
          vendor_count: v.count(vendors.length),
        },
        period: String(window.days),
        base_currency: v.maybe(company.currency ?? "USD"),
      };
      return { data };
    },
  };
}

const centsOfSum = ({ cents }: { readonly cents: number }): number => cents;

function discountsRoute(books: Books): Route {
  const { company } = books;
  return {
    template: "/analytics/discounts",
    answer: request => {
      const window = periodOf(company, request);
      const v = books.values(ANSWER.discounts, window.days);
      const offered = within(books.bills(), window).filter(({ discount }) => discount > 0);
      const taken = offered.filter(({ paid }) => paid);
      const open = offered.filter(({ paid, day }) => !paid && day + 10 >= company.today());
      const missed = offered.filter(bill => !taken.includes(bill) && !open.includes(bill));
      const figures = (bills: readonly Bill[]) => {
        const [captured, lapsed] = [
          bills.filter(bill => taken.includes(bill)),
          bills.filter(bill => missed.includes(bill)),
        ];
        return { captured, lapsed, rate: share(captured.length, captured.length + lapsed.length) };
      };
      const amounts = (bills: readonly Bill[]) => {
        const { captured, lapsed } = figures(bills);
        return {
          captured: v.money(total(captured, ({ discount }) => discount)),
          missed: v.money(total(lapsed, ({ discount }) => discount)),
          captured_count: v.count(captured.length),
          missed_count: v.count(lapsed.length),
        };
      };
      const months = oldestFirst(sumsBy(offered, ({ day }) => monthOf(day), centsOf));
      const vendors = sumsBy(offered, ({ vendor }) => vendor, centsOf).slice(0, 25);
      const data = {
        currency_code: company.currency,
        totals: {
          total_captured: v.money(total(taken, ({ discount }) => discount)),
          total_missed: v.money(total(missed, ({ discount }) => discount)),
          captured_count: v.count(taken.length),
          missed_count: v.count(missed.length),
          capture_rate_pct: v.decimal(figures(offered).rate, 2),
          eligible_count: v.count(open.length),
          expiring_soon_count: v.count(open.filter(({ day }) => day + 7 <= company.today()).length),
          pipeline_savings: v.money(total(open, ({ discount }) => discount)),
          payment_data_available: v.maybe(company.seed % 5 !== 4),
        },
        over_time: months.map(({ key }) => ({
          month: key,
          ...amounts(offered.filter(({ day }) => monthOf(day) === key)),
        })),
        by_vendor: vendors.map(({ key }) => {
          const own = offered.filter(({ vendor }) => vendor === key);
          return {
            vendor_id: v.maybe(key.id),
            vendor_name: key.name,
            ...amounts(own),
            capture_rate_pct: v.decimal(figures(own).rate, 2),
          };
        }),
        period: String(window.days),
      };
      return { data };
    },
  };
}

function summaryRoute(books: Books): Route {
  const { company } = books;
  return {
    template: "/analytics/executive-summary",
    answer: () => {
      const window = trailing(company.today(), 365);
      const v = books.values(ANSWER.summary);
      const bills = within(books.bills(), window);
      const deliveries = within(books.deliveries(), window);
      const onTime = deliveries.filter(({ late }) => late <= 0);
      const sum = total(bills, centsOf);
      const covered = bills.filter(({ value }) => value % 3 === 0);
      const matched = bills.filter(({ status }) => status === "matched").length;
      const items = company.sizes.items;
      const data = {
        currency_code: company.currency,
        total_spend: v.money(sum),
        total_spend_window: described(v, window),
        total_spend_basis: v.maybe("invoices"),
        otif_pct: v.decimal(share(onTime.filter(({ full }) => full).length, deliveries.length), 2),
        otif_window: described(v, window),
        otif_deliveries: v.count(deliveries.length),
        otif_on_time_deliveries: v.count(onTime.length),
        otif_measured_deliveries: v.count(deliveries.length),
        first_pass_match_rate: v.decimal(share(matched, bills.length), 2),
        first_pass_match_window: described(v, window),
        first_pass_matched: v.count(matched),
        first_pass_match_eligible: v.count(bills.length),
        value_surfaced: v.money(Math.round(sum / 50)),
        value_currency_code: v.maybe(company.currency ?? "USD"),
        open_exceptions: v.count(bills.length - matched),
        active_contracts: v.count(Math.ceil(company.sizes.orders / 25)),
        on_contract_spend_pct: v.decimal(share(total(covered, centsOf), sum), 2),
        on_contract_spend: v.money(total(covered, centsOf)),
        total_spend_for_coverage: v.money(sum),
        on_contract_item_count: v.count(Math.floor(items / 4)),
        total_item_count: v.count(items),
      };
      return { data };
    },
  };
}
