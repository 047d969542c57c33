import { dayText } from "../calendar.ts";
import type { Route } from "../routes.ts";
import type { Bill, Books } from "./books.ts";
import { oldestFirst, sumsBy, total } from "./sums.ts";
import { monthOf } from "./window.ts";

const ANSWER = 90;
const amount = (bills: readonly Bill[]): number => total(bills, ({ cents }) => cents) / 100;
const discounts = (bills: readonly Bill[]): number => total(bills, ({ discount }) => discount) / 100;

function dueIn(bills: readonly Bill[]) {
  return {
    total_due: amount(bills),
    approved_due: amount(bills.filter(({ state }) => state === "approved")),
    pending_approval_due: amount(bills.filter(({ state }) => state === "pending_approval")),
    invoice_count: bills.length,
  };
}

/** /reconciliation/cash-flow: what is not paid yet, by when it is due. */
export function cashFlowRoute(books: Books): Route {
  const { company } = books;
  return {
    template: "/reconciliation/cash-flow",
    answer: () => {
      const today = company.today();
      const v = books.values(ANSWER, today);
      const open = books.bills().filter(({ paid }) => !paid);
      const overdue = open.filter(({ due }) => due < today);
      const within = (days: number) => open.filter(({ due }) => due >= today && due < today + days);
      const week = (at: number) => {
        const first = today + at * 7;
        const [start, end] = [dayText(first), dayText(first + 6)];
        const own = open.filter(({ due }) => due >= first && due < first + 7);
        return {
          bucket_type: "week",
          week_start: start,
          week_end: end,
          bucket_start: start,
          bucket_end: end,
          ...dueIn(own),
        };
      };
      const past = { bucket_type: "overdue", week_start: null, week_end: null, bucket_start: null };
      const later = open.filter(({ due }) => due >= today + 56);
      const capturable = open.filter(({ discount, day }) => discount > 0 && day + 10 >= today);
      const missed = open.filter(({ discount, day }) => discount > 0 && day + 10 < today);
      const data = {
        currency_code: company.currency,
        buckets: [
          { ...past, bucket_end: dayText(today - 1), ...dueIn(overdue) },
          ...Array.from({ length: 8 }, (_, at) => week(at)),
          { ...past, bucket_type: "later", bucket_start: dayText(today + 56), bucket_end: null, ...dueIn(later) },
        ],
        monthly_buckets: [
          { bucket_type: "overdue", bucket_start: null, bucket_end: dayText(today - 1), ...dueIn(overdue) },
          ...oldestFirst(
            sumsBy(
              within(365),
              ({ due }) => monthOf(due),
              () => 0,
            ),
          ).map(({ key }) => ({
            bucket_type: "month",
            bucket_start: `${key}-01`,
            bucket_end: v.maybe(`${key}-28`),
            ...dueIn(within(365).filter(({ due }) => monthOf(due) === key)),
          })),
        ],
        discount_opportunities: oldestFirst(
          sumsBy(
            capturable,
            ({ day }) => weekOf(day + 10),
            () => 0,
          ),
        ).map(({ key }) => {
          const own = capturable.filter(({ day }) => weekOf(day + 10) === key);
          return { deadline_week: v.maybe(key), capturable: discounts(own), invoice_count: own.length };
        }),
        summary: {
          overdue: amount(overdue),
          next_7d: amount(within(7)),
          next_30d: amount(within(30)),
          next_90d: amount(within(90)),
          total_outstanding: amount(open),
          pending_approval_total: amount(open.filter(({ state }) => state === "pending_approval")),
          discount_capturable: discounts(capturable),
          discount_capturable_count: capturable.length,
          missed_discount_12mo: discounts(missed),
          missed_discount_count_12mo: missed.length,
        },
      };
      return { data };
    },
  };
}

function weekOf(day: number): string {
  return dayText(day - ((day + 3) % 7));
}
