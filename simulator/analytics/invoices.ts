import { dayText } from "../calendar.ts";
import type { Route } from "../routes.ts";
import type { Books } from "./books.ts";
import { cashFlowRoute } from "./cash_flow.ts";
import { sumsBy, total } from "./sums.ts";

const ANSWER = { stats: 80, funnel: 81 } as const;
const STAGES = ["received", "matched", "approved", "scheduled", "paid"];

/** The figures beside the invoice list: stats, facets, payment-funnel, cash-flow and vendors. */
export function invoiceFigureRoutes(books: Books): Route[] {
  return [statsRoute(books), facetsRoute(books), funnelRoute(books), cashFlowRoute(books), vendorsRoute(books)];
}

function statsRoute(books: Books): Route {
  const { company } = books;
  return {
    template: "/reconciliation/stats",
    answer: () => {
      const v = books.values(ANSWER.stats);
      const bills = books.bills();
      const today = company.today();
      const states = new Map(
        sumsBy(
          bills,
          ({ state }) => state,
          () => 0,
        ).map(({ key, count }) => [key, count]),
      );
      const discounts = bills.filter(({ discount, paid, day }) => discount > 0 && !paid && day + 10 >= today);
      const matched = bills.filter(({ status }) => status === "matched");
      const matches = books.matches();
      const data = {
        currency_code: company.currency,
        reconciliation: {
          total: books.invoiceCount(),
          ...matches,
          actionable_review: states.get("actionable_review") ?? 0,
          pending_approval: states.get("pending_approval") ?? 0,
          blocked: states.get("blocked") ?? 0,
          approved: states.get("approved") ?? 0,
          hold: states.get("hold") ?? 0,
          rejected: states.get("rejected") ?? 0,
          past_due: bills.filter(({ paid, due }) => !paid && due < today).length,
          discount_available: discounts.length,
          approval_rules_count: 4,
          uncoded_invoice_count: Math.floor(bills.length / 11),
          matched_amount: v.money(total(matched, ({ cents }) => cents)),
          discount_available_amount: v.money(total(discounts, ({ discount }) => discount)),
        },
        anomalies: {
          total: matches.discrepancy * 2,
          critical: Math.floor(matches.discrepancy / 3),
          high: Math.floor(matches.discrepancy / 2),
        },
        period_days: 90,
      };
      return { data };
    },
  };
}

function facetsRoute(books: Books): Route {
  return {
    template: "/reconciliation/facets",
    answer: () => ({
      data: {
        facets: {
          match_status: books.matches(),
          uploaded: { to: dayText(books.company.today()) },
          payment_status: ["paid", "unpaid"],
        },
      },
    }),
  };
}

function funnelRoute(books: Books): Route {
  const { company } = books;
  return {
    template: "/reconciliation/payment-funnel",
    answer: () => {
      const today = company.today();
      const v = books.values(ANSWER.funnel);
      const bills = books.bills();
      const stages = STAGES.map((stage, at) => {
        const own = bills.filter(({ paid, value }) => (paid ? at === 4 : at === value % 4));
        return {
          stage,
          invoice_count: own.length,
          stage_total: v.money(total(own, ({ cents }) => cents)),
          avg_age_days:
            own.length === 0 ? 0 : Math.round((total(own, ({ day }) => today - day) * 10) / own.length) / 10,
          moved_in_last_7d: own.filter(({ day }) => day > today - 7).length,
        };
      });
      return { data: { currency_code: company.currency, gl_coding_enabled: company.seed % 2 === 0, stages } };
    },
  };
}

/** Some companies get objects, others only names. */
function vendorsRoute(books: Books): Route {
  const { company } = books;
  return {
    template: "/reconciliation/vendors",
    answer: () => {
      const vendors = sumsBy(
        books.bills(),
        ({ vendor }) => vendor,
        () => 0,
      );
      const rows = vendors.map(({ key, count }) =>
        company.seed % 3 === 0 ? key.name : { vendor_id: key.id, vendor_name: key.name, invoice_count: count },
      );
      return { data: { vendors: rows } };
    },
  };
}
