import { DAY_MS, momentText } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import { documentCount } from "../company/feed.ts";
import type { MakeDomain } from "../domain.ts";
import { hash } from "../random.ts";
import type { Family, Row } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWN, lockGroupOf, timeOf, wholeList } from "./family.ts";

/** The history shows so many items at most. */
const SHOWN = 200;

function itemCount(company: Company): number {
  return Math.min(SHOWN, documentCount(company));
}

function itemFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/billing/usage-history",
    keyField: "id",
    prefix: "USE-",
    drawn: DRAWN.usageItem,
    row: (entry, v) => {
      const { number, revision } = entry;
      const isDocument = v.chance(0.8);
      const name = `${isDocument ? "Rechnung" : "Import"} ${number}.${isDocument ? "pdf" : "xlsx"}`;
      return {
        id: `USE-${number}`,
        counted_at: v.maybe(v.moment(timeOf(company, entry, itemCount(company), 60))),
        item_name: revision > 0 ? `${name} (${revision})` : v.maybe(name),
        kind: isDocument ? "document" : "import",
        doc_type: isDocument ? v.maybe(v.pick(["invoice", "purchase_order", "quote"])) : null,
      };
    },
  });
}

/** What the company has used by today; grows from day to day. */
function usage(company: Company): Row {
  const v = new Values(hash(company.seed, DRAWN.usage));
  const limit = v.chance(0.85) ? v.pick([100, 500, 2500]) : null;
  const today = company.today();
  const used = 40 + 7 * (today % 30) + v.below(20);
  const over = limit === null ? 0 : Math.max(0, used - limit);
  const moment = (day: number): string => momentText(day * DAY_MS, 1);
  const pilot = v.chance(0.3);
  const pilotEnd = company.anchorDay + 20;
  return {
    plan: v.pick(["starter", "growth", "enterprise"]),
    current_usage: used,
    limit,
    within_limit: over === 0,
    percentage_used: limit === null ? 0 : Math.round((used * 1000) / limit) / 10,
    is_grandfathered: v.chance(0.2),
    subscription_status: v.maybe("active"),
    company_id: company.id,
    lifetime_usage: documentCount(company) + used,
    is_overage: over > 0,
    overage_count: over,
    overage_price_cents: over * 25,
    per_doc_price_cents: v.chance(0.8) ? v.pick([25, 12.5]) : null,
    trial_ends_at: v.chance(0.3) ? moment(company.anchorDay - 500) : null,
    pilot_active: pilot,
    pilot_ends_at: pilot ? moment(pilotEnd) : null,
    pilot_days_remaining: pilot ? Math.max(0, pilotEnd - today) : 0,
    cancel_at_period_end: v.chance(0.1),
    current_period_end: v.maybe(moment(today - (today % 30) + 30)),
    company_created_at: v.maybe(moment(company.anchorDay - 800)),
    dollars_caught: v.below(90_000_000) / 100,
    is_demo: false,
    org_usage: v.maybe({ companies: 2, used: used + 11 }),
  };
}

/** /billing/…; the publishable key is meant for browsers, and for no warehouse. */
export const billing: MakeDomain = ({ company, source }) => {
  const items = source(itemFamily(company), itemCount(company));
  const truncated = documentCount(company) > SHOWN;
  return {
    sources: { billing_usage_history: items },
    routes: [
      { template: "/billing/config", answer: () => ({ data: { publishable_key: `pk_test_${company.id}` } }) },
      { template: "/billing/usage", answer: () => ({ data: usage(company) }) },
      wholeList(items, "items", () => ({ truncated })),
    ],
  };
};
