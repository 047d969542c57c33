import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { orderFacts, orderKey } from "../company/orders.ts";
import { parentOf } from "../company/relations.ts";
import type { MakeDomain } from "../domain.ts";
import { hash } from "../random.ts";
import type { Family, Row, Source } from "../source.ts";
import { DRAWN, lockGroupOf, sizeOf, wholeList } from "./family.ts";

const STATUSES = ["new", "acknowledged", "resolved"] as const;

function alertCount(company: Company): number {
  return sizeOf(company.sizes.orders, 15, 3, 200);
}

function statusOf(company: Company, { number, revision }: Entry): (typeof STATUSES)[number] {
  return STATUSES[(hash(company.seed, DRAWN.drift, number, 1) + revision) % STATUSES.length] ?? "new";
}

function alertFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/alerts/date-drift",
    keyField: "alert_id",
    prefix: "DRF-",
    drawn: DRAWN.drift,
    row: (entry, v) => {
      const { number, revision } = entry;
      const order = parentOf(number, alertCount(company), Math.max(1, company.sizes.orders));
      const facts = orderFacts(company, { number: order, revision, insertedAt: undefined });
      const status = statusOf(company, entry);
      const shown = v.maybe(status);
      return {
        alert_id: `DRF-${number}`,
        po_number: orderKey(order),
        vendor_name: v.maybe(facts.vendor.name),
        line_item: v.maybe(String(1 + (number % facts.lines))),
        requested_date: v.date(facts.requestedDay),
        promised_date: v.date(facts.promisedDay),
        drift_days: v.count(facts.promisedDay - facts.requestedDay),
        status: revision > 0 ? status : shown,
        created_at: v.maybe(v.moment(entry.insertedAt ?? (facts.day + 2) * DAY_MS + number * 1000)),
      };
    },
  });
}

function figures(company: Company, alerts: Source): Row {
  const counts = { new: 0, acknowledged: 0, resolved: 0 };
  for (const entry of alerts.collection.walk(Number.NEGATIVE_INFINITY)) counts[statusOf(company, entry)] += 1;
  return { counts, new_count: counts.new };
}

/** /alerts/date-drift and /alerts/date-drift/count. */
export const dateDrift: MakeDomain = ({ company, source }) => {
  const alerts = source(alertFamily(company), alertCount(company));
  return {
    sources: { date_drift_alerts: alerts },
    routes: [
      wholeList(alerts, "alerts"),
      { template: "/alerts/date-drift/count", answer: () => ({ data: figures(company, alerts) }) },
    ],
  };
};
