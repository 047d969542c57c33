import { DAY_MS } from "../calendar.ts";
import { invoiceKey } from "../company/invoices.ts";
import { hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import { Values } from "../values.ts";
import type { Books } from "./books.ts";
import { total } from "./sums.ts";

const ANSWER = { briefing: 70, completeness: 71 } as const;
const LABELS = [
  ["Bestell-Nr.", "po_number", "reference"],
  ["Lieferdatum", "delivery_date", "date"],
  ["Ship via", "carrier_name", "logistics"],
  ["税额", "tax_amount", "amount"],
] as const;

/** /briefing and /completeness/vendors/{vendorId}. */
export function briefingRoutes(books: Books): Route[] {
  return [briefingRoute(books), completenessRoute(books)];
}

function briefingRoute(books: Books): Route {
  const { company } = books;
  return {
    template: "/briefing",
    answer: () => {
      const today = company.today();
      const v = books.values(ANSWER.briefing, today);
      const open = books.bills().filter(({ status, paid }) => !paid && status !== "matched");
      const mails = Math.ceil(company.sizes.ingested / 2);
      const data = {
        currency_code: company.currency,
        hero: {
          open_issues: open.length,
          dollars_caught: Math.round(total(open, ({ cents }) => cents) / 50) / 100,
          emails_processed: mails,
          action_items: Math.ceil(open.length / 2),
        },
        action_buckets: [
          { label: "Invoices to approve", count: open.length, link: "/reconciliation?status=pending_approval" },
          { label: "Bestellungen ohne Bestätigung", count: Math.ceil(company.sizes.orders / 9), link: "/po" },
        ],
        highlights: open.slice(0, 5).map(({ number, vendor, cents, day, value }) => ({
          source: v.maybe("reconciliation"),
          severity: v.maybe(value % 2 === 0 ? "high" : "medium"),
          title: `${vendor.name}: invoice differs`,
          subtitle: v.maybe("Price above the order"),
          link: v.maybe(`/reconciliation/${invoiceKey(number)}`),
          amount: v.money(cents),
          created_at: v.maybe(v.moment(day * DAY_MS + (value % 86_400) * 1000)),
        })),
        email: {
          total: mails,
          action_required: Math.ceil(mails / 5),
          urgent: Math.ceil(mails / 40),
          inbound: mails - Math.floor(mails / 3),
          outbound: Math.floor(mails / 3),
        },
        generated_at: v.maybe(v.moment(today * DAY_MS + 3_600_000)),
      };
      return { data };
    },
  };
}

function completenessRoute({ company }: Books): Route {
  return {
    template: "/completeness/vendors/{vendorId}",
    answer: ({ params }) => {
      const id = params["vendorId"] ?? "";
      const index = company.vendors.findIndex(vendor => vendor.id === id);
      const vendor = company.vendors[index];
      if (vendor === undefined) throw notFound(`Vendor '${id}'`);
      const v = new Values(hash(company.seed, ANSWER.completeness, index));
      const documents = v.between(0, 80);
      const audited = v.below(documents + 1);
      const data = {
        vendor_id: id,
        vendor_name: vendor.name,
        doc_count: documents,
        avg_completeness_score: audited === 0 ? null : v.between(400, 1000) / 1000,
        docs_with_audit: audited,
        docs_without_audit: documents - audited,
        missed_labels: LABELS.slice(0, v.below(LABELS.length + 1)).map(([label, key, category]) => {
          const seen = v.between(1, 60);
          const missed = v.between(1, seen);
          return {
            label_text: label,
            suggested_canonical_key: key,
            category,
            miss_count: missed,
            doc_count_seen: seen,
            miss_rate: Math.round((missed * 10_000) / seen) / 10_000,
          };
        }),
      };
      return { data };
    },
  };
}
