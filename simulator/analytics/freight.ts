import { DAY_MS } from "../calendar.ts";
import { hash } from "../random.ts";
import type { Route } from "../routes.ts";
import type { Books, Delivery } from "./books.ts";
import { largestFirst, oldestFirst, sumsBy, total } from "./sums.ts";
import { monthOf, periodOf, within } from "./window.ts";

const ANSWER = { spend: 10, audits: 11, recent: 12 } as const;
const PLACES = ["Hamburg 20095", "Toledo, OH 43604", "大阪 530-0001", "Łódź 90-001", "Long Beach, CA 90802"];
const CHARGES = ["linehaul", "fuel_surcharge", "liftgate", "detention", "Maut"];
const TYPES = ["rate_mismatch", "duplicate_charge", "unauthorized_accessorial", "fuel_surcharge", "weight_break"];
const SEVERITIES = ["low", "medium", "high", "critical"];

/** What a delivery cost to bring, in cents. */
export function freightOf({ number }: Delivery): number {
  return 4_500 + (hash(number, ANSWER.spend) % 180_000);
}

/** /analytics/freight-spend, /analytics/freight-audit and /analytics/intermodal-audit. */
export function freightRoutes(books: Books): Route[] {
  return [spendRoute(books), auditRoute(books, "freight-audit", 3), auditRoute(books, "intermodal-audit", 7)];
}

function spendRoute(books: Books): Route {
  const { company, carriers } = books;
  return {
    template: "/analytics/freight-spend",
    answer: request => {
      const window = periodOf(company, request);
      const v = books.values(ANSWER.spend, window.days);
      const shipments = within(books.deliveries(), window);
      const sum = total(shipments, freightOf);
      const months = oldestFirst(sumsBy(shipments, ({ day }) => monthOf(day), freightOf));
      const byCarrier = sumsBy(shipments, ({ number }) => carriers[number % carriers.length] ?? carriers[0], freightOf);
      const lanes = sumsBy(shipments, ({ number }) => number % PLACES.length, freightOf);
      const data = {
        currency_code: company.currency,
        kpis: {
          shipment_count: v.count(shipments.length),
          total_freight_spend: v.money(sum),
          avg_cost_per_shipment: v.money(shipments.length === 0 ? null : Math.round(sum / shipments.length)),
        },
        spend_over_time: months.map(({ key, cents, count }) => ({
          month: key,
          invoice_count: v.count(count),
          total_spend: v.money(cents),
        })),
        by_carrier: largestFirst(byCarrier, 15).map(({ key, cents, count }) => ({
          carrier_name: key.name,
          invoice_count: v.count(count),
          total_spend: v.money(cents),
        })),
        by_charge_type: CHARGES.map((charge, i) => ({
          charge_type: charge,
          line_count: v.count(Math.ceil(shipments.length / (i + 1))),
          total_amount: v.money(Math.round(sum / 2 ** (i + 1))),
        })),
        top_lanes: largestFirst(lanes, 10).map(({ key, cents, count }) => ({
          origin: v.maybe(PLACES[key] ?? null),
          dest: v.maybe(PLACES[(key + 2) % PLACES.length] ?? null),
          shipment_count: v.count(count),
          total_spend: v.money(cents),
          avg_cost: v.money(Math.round(cents / count)),
        })),
      };
      return { data };
    },
  };
}

interface Anomaly {
  readonly number: number;
  readonly day: number;
  readonly type: string;
  readonly severity: string;
  readonly resolved: boolean;
}

/** Every `nth` delivery was billed with something wrong. */
function auditRoute(books: Books, name: string, nth: number): Route {
  const { company, carriers } = books;
  return {
    template: `/analytics/${name}`,
    answer: request => {
      const window = periodOf(company, request);
      const v = books.values(ANSWER.audits + nth, window.days);
      const anomalies = within(books.deliveries(), window)
        .filter(({ number }) => number % nth === 0)
        .map(({ number, day }): Anomaly => {
          const value = hash(company.seed, ANSWER.recent, number, nth);
          return {
            number,
            day,
            type: TYPES[value % TYPES.length] ?? "other",
            severity: SEVERITIES[(value >>> 4) % 4] ?? "low",
            resolved: (value >>> 8) % 3 === 0,
          };
        });
      const critical = (of: readonly Anomaly[]): number => of.filter(({ severity }) => severity === "critical").length;
      const grave = (severity: string) => v.count(anomalies.filter(anomaly => anomaly.severity === severity).length);
      const recent = anomalies.slice(0, 20).map(anomaly => {
        const carrier = carriers[anomaly.number % carriers.length] ?? carriers[0];
        return {
          id: v.maybe(`${nth === 3 ? "FRA" : "IMA"}-${anomaly.number}`),
          anomaly_type: v.maybe(anomaly.type),
          severity: v.maybe(anomaly.severity),
          status: v.maybe(anomaly.resolved ? "resolved" : "open"),
          message: v.maybe(`Charge on shipment ${anomaly.number} differs from the agreed rate – bitte prüfen`),
          vendor_name: v.maybe(carrier.name),
          vendor_id: v.maybe(carrier.id),
          created_at: v.maybe(v.moment(anomaly.day * DAY_MS + (anomaly.number % 86_400) * 1000)),
        };
      });
      const data = {
        totals: {
          total_anomalies: v.count(anomalies.length),
          high_count: grave("high"),
          critical_count: grave("critical"),
          medium_count: grave("medium"),
          low_count: grave("low"),
          resolved_count: v.count(anomalies.filter(({ resolved }) => resolved).length),
        },
        by_type: sumsBy(
          anomalies,
          ({ type }) => type,
          () => 0,
        ).map(({ key, count }) => ({
          anomaly_type: key,
          count: v.count(count),
          critical_count: v.count(critical(anomalies.filter(({ type }) => type === key))),
        })),
        trend: oldestFirst(
          sumsBy(
            anomalies,
            ({ day }) => monthOf(day),
            () => 0,
          ),
        ).map(({ key, count }) => ({
          month: key,
          anomaly_count: v.count(count),
          critical_count: v.count(critical(anomalies.filter(({ day }) => monthOf(day) === key))),
        })),
        recent,
      };
      return { data };
    },
  };
}
