import type { Vendor } from "../company/vendors.ts";
import { hash } from "../random.ts";
import { invalid } from "../refusal.ts";
import type { Request, Route } from "../routes.ts";
import type { Values } from "../values.ts";
import type { Books, Delivery } from "./books.ts";
import { freightOf } from "./freight.ts";
import { share, total } from "./sums.ts";
import { described, monthOf, periodOf, within } from "./window.ts";

const ANSWER = { scorecards: 20, lane: 21 } as const;
const BASIS = "Liefertag, sonst Wareneingang";

/** /analytics/carrier-scorecards and /analytics/lane-intelligence. */
export function carrierRoutes(books: Books): Route[] {
  return [scorecardsRoute(books), laneRoute(books)];
}

function scorecardsRoute(books: Books): Route {
  const { company, carriers } = books;
  return {
    template: "/analytics/carrier-scorecards",
    answer: request => {
      const window = periodOf(company, request);
      const v = books.values(ANSWER.scorecards, window.days);
      const deliveries = within(books.deliveries(), window);
      const onTime = deliveries.filter(({ late }) => late <= 0).length;
      const month = monthOf(company.today());
      const data = {
        currency_code: company.currency,
        window: described(v, window),
        carriers: carriers.map((carrier, i) =>
          scorecard(
            v,
            carrier,
            deliveries.filter(({ number }) => number % carriers.length === i),
            month,
          ),
        ),
        summary: {
          total_carriers: v.count(carriers.length),
          fleet_otif_strict_pct: v.decimal(share(onTime, deliveries.length), 2),
          fleet_otif_on_time: v.count(onTime),
          fleet_otif_measured: v.count(deliveries.length),
          graded_basis_label: v.maybe(BASIS),
          total_freight_spend: v.money(total(deliveries, freightOf)),
          active_rate_cards: v.count(carriers.length * 2),
        },
      };
      return { data };
    },
  };
}

function scorecard(v: Values, carrier: Vendor, deliveries: readonly Delivery[], month: string) {
  const count = deliveries.length;
  const onTime = deliveries.filter(({ late }) => late <= 0).length;
  const full = deliveries.filter(delivery => delivery.full).length;
  const strict = deliveries.filter(({ late, full }) => late <= 0 && full).length;
  const lateness = count === 0 ? null : Math.round((total(deliveries, ({ late }) => late) * 100) / count);
  return {
    vendor_id: v.maybe(carrier.id),
    carrier_name: carrier.name,
    total_deliveries: v.count(count),
    measured_deliveries: v.count(count),
    otif_pct: v.decimal(share(strict, count), 2),
    on_time_pct: v.decimal(share(onTime, count), 2),
    in_full_pct: v.decimal(share(full, count), 2),
    avg_days_variance: v.decimal(lateness, 2),
    carrier_otif_strict_pct: v.decimal(share(strict, count), 2),
    carrier_otif_strict_on_time: v.count(strict),
    carrier_otif_strict_measured: v.count(count),
    avg_strict_variance_days: v.decimal(lateness, 2),
    transit_time_actual_avg: v.decimal(count === 0 ? null : v.between(100, 900), 2),
    total_freight_spend: v.money(total(deliveries, freightOf)),
    invoice_count: v.count(count),
    anomaly_count: v.count(Math.floor(count / 3)),
    critical_count: v.count(Math.floor(count / 12)),
    active_rate_cards: v.count(v.below(4)),
    composite_score: v.decimal(v.below(10_001), 2),
    ...tenders(v, count, month),
    delivered_basis_count: v.count(count - Math.floor(count / 5)),
    received_basis_count: v.count(Math.floor(count / 5)),
    graded_basis_label: v.maybe(BASIS),
  };
}

function tenders(v: Values, sent: number, month: string) {
  const accepted = sent - Math.floor(sent / 6);
  return {
    tenders_sent: v.count(sent),
    tenders_accepted: v.count(accepted),
    acceptance_rate_pct: v.decimal(share(accepted, sent), 2),
    avg_acceptance_lag_hours: v.decimal(sent === 0 ? null : v.between(20, 2400), 2),
    acceptance_month_bucket: v.maybe(month),
  };
}

function laneRoute(books: Books): Route {
  const { company, carriers } = books;
  return {
    template: "/analytics/lane-intelligence",
    answer: request => {
      const origin = required(request, "origin_zip");
      const dest = required(request, "dest_zip");
      const mode = request.query["mode"] ?? "LTL";
      const lane = [...`${origin}|${dest}|${mode}`].reduce((value, char) => hash(value, char.codePointAt(0) ?? 0), 0);
      const v = books.values(ANSWER.lane, lane);
      const month = monthOf(company.today());
      const median = v.between(20_000, 300_000);
      const served = carriers.filter((_, i) => (lane >>> i) % 2 === 0);
      const data = {
        lane: {
          origin_zip: origin,
          dest_zip: dest,
          mode,
          lane_id: v.maybe(`LANE-${lane % 100_000}`),
          origin_country: v.maybe("US"),
          dest_country: v.maybe("US"),
          haversine_km: v.maybe(v.between(100, 45_000) / 10),
          region_pair: v.maybe("Midwest → Südost"),
          transit_prediction: v.maybe({ days: v.between(1, 9), p90_days: v.between(3, 14) }),
        },
        recommendations: served.map(carrier => recommendation(v, carrier, median, month)),
        lane_stats: {
          total_shipments: v.count(served.length * 7),
          carrier_count: v.count(served.length),
          avg_cost: v.money(Math.round(median * 1.04)),
          median_cost: v.money(median),
        },
        rate_cards: served.slice(0, 4).map(carrier => laneRate(v, carrier)),
      };
      return { data };
    },
  };
}

function recommendation(v: Values, carrier: Vendor, median: number, month: string) {
  const cost = Math.round((median * v.between(80, 120)) / 100);
  const carded = v.chance(0.6);
  return {
    carrier_name: carrier.name,
    carrier_vendor_id: v.maybe(carrier.id),
    shipment_count: v.count(v.between(1, 60)),
    avg_cost: v.money(Math.round(cost * 1.02)),
    median_cost: v.money(cost),
    min_cost: v.money(Math.round(cost * 0.7)),
    max_cost: v.money(Math.round(cost * 1.6)),
    otif_pct: v.decimal(v.between(5000, 10_000), 2),
    on_time_pct: v.decimal(v.between(6000, 10_000), 2),
    avg_days_variance: v.decimal(v.between(-200, 500), 2),
    has_rate_card: v.maybe(carded),
    rate_card_rate: carded ? v.money(cost) : null,
    rate_type: carded ? v.maybe("flat") : null,
    cost_score: v.decimal(v.below(10_001), 2),
    otif_score: v.decimal(v.below(10_001), 2),
    volume_score: v.decimal(v.below(10_001), 2),
    composite_score: v.decimal(v.below(10_001), 2),
    ...tenders(v, v.between(0, 40), month),
  };
}

function laneRate(v: Values, carrier: Vendor) {
  return {
    carrier_name: carrier.name,
    scac_code: v.maybe(carrier.domain.slice(0, 4).toUpperCase()),
    discount_pct: v.decimal(v.between(0, 8000), 2),
    rate_per_cwt: v.money(v.between(500, 9000)),
    flat_rate: v.money(v.between(10_000, 400_000)),
    rate_per_mile: v.money(v.between(90, 600)),
    minimum_charge: v.money(v.between(5000, 20_000)),
    freight_class: v.maybe("77.5"),
    weight_break_min: v.decimal(v.below(5) * 50_000, 2),
    weight_break_max: v.decimal(v.between(6, 20) * 50_000, 2),
  };
}

function required(request: Request, name: string): string {
  const value = request.query[name] ?? "";
  if (value === "") throw invalid(name, `${name} is required`);
  return value;
}
