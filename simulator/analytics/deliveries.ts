import { dayText } from "../calendar.ts";
import type { Route } from "../routes.ts";
import type { Values } from "../values.ts";
import type { Books, Delivery } from "./books.ts";
import { oldestFirst, share, sumsBy, total } from "./sums.ts";
import { described, periodOf, trailing, within } from "./window.ts";

const ANSWER = { summary: 30, byVendor: 31, trend: 32 } as const;

/** Deliveries counted by how they came. */
function countsOf(deliveries: readonly Delivery[]) {
  const count = deliveries.length;
  return {
    count,
    onTime: deliveries.filter(({ lateAsRequested }) => lateAsRequested <= 0).length,
    full: deliveries.filter(({ full }) => full).length,
    both: deliveries.filter(({ lateAsRequested, full }) => lateAsRequested <= 0 && full).length,
    promised: deliveries.filter(({ late }) => late <= 0).length,
    promisedFull: deliveries.filter(({ late, full }) => late <= 0 && full).length,
    late: count === 0 ? null : Math.round((total(deliveries, ({ lateAsRequested }) => lateAsRequested) * 100) / count),
  };
}

/** The five shares that all three answers have. */
function shares(v: Values, counts: ReturnType<typeof countsOf>) {
  const { count } = counts;
  return {
    otif_pct: v.decimal(share(counts.both, count), 2),
    on_time_pct: v.decimal(share(counts.onTime, count), 2),
    in_full_pct: v.decimal(share(counts.full, count), 2),
    otif_latest_promise_pct: v.decimal(share(counts.promisedFull, count), 2),
    on_time_latest_promise_pct: v.decimal(share(counts.promised, count), 2),
  };
}

/** /analytics/otif, /analytics/otif/by-vendor and /analytics/otif/trend. */
export function deliveryRoutes(books: Books): Route[] {
  const { company } = books;
  const year = () => trailing(company.today(), 365);
  return [
    {
      template: "/analytics/otif",
      answer: request => {
        const window = periodOf(company, request);
        const v = books.values(ANSWER.summary, window.days);
        return { data: { summary: summary(v, within(books.deliveries(), window)), ...around(v, books, window) } };
      },
    },
    {
      template: "/analytics/otif/by-vendor",
      answer: () => {
        const v = books.values(ANSWER.byVendor);
        const deliveries = within(books.deliveries(), year());
        const vendors = sumsBy(
          deliveries,
          ({ vendor }) => vendor,
          () => 0,
        ).slice(0, 40);
        const rows = vendors.map(({ key, count }) => {
          const counts = countsOf(deliveries.filter(({ vendor }) => vendor === key));
          return {
            vendor_name: key.name,
            vendor_id: v.maybe(key.id),
            total_deliveries: v.count(count),
            ...shares(v, counts),
            avg_days_variance: v.decimal(counts.late, 2),
            delivered_basis_count: v.count(count - Math.floor(count / 5)),
            received_basis_count: v.count(Math.floor(count / 5)),
            graded_basis_label: v.maybe("Delivered date, else received"),
          };
        });
        const unattributed = v.count(Math.floor(deliveries.length / 20));
        return { data: { vendors: rows, window: described(v, year()), unattributed_deliveries: unattributed } };
      },
    },
    {
      template: "/analytics/otif/trend",
      answer: () => {
        const v = books.values(ANSWER.trend);
        const deliveries = within(books.deliveries(), trailing(company.today(), 91));
        const weeks = oldestFirst(
          sumsBy(
            deliveries,
            ({ day }) => weekOf(day),
            () => 0,
          ),
        );
        const trend = weeks.map(({ key, count }) => {
          const counts = countsOf(deliveries.filter(({ day }) => weekOf(day) === key));
          return {
            week_start: key,
            ...shares(v, counts),
            total: v.count(count),
            total_deliveries: v.count(count),
            otif_count: v.count(counts.both),
            measured_deliveries: v.count(count),
          };
        });
        return { data: { trend, window: described(v, trailing(company.today(), 91)) } };
      },
    },
  ];
}

function summary(v: Values, deliveries: readonly Delivery[]) {
  const counts = countsOf(deliveries);
  return {
    ...shares(v, counts),
    total_deliveries: v.count(counts.count),
    measured_deliveries: v.count(counts.count),
    on_time_count: v.count(counts.onTime),
    in_full_count: v.count(counts.full),
    otif_count: v.count(counts.both),
    on_time_measured: v.count(counts.count),
    in_full_measured: v.count(counts.count),
    on_time_latest_promise_count: v.count(counts.promised),
    otif_latest_promise_count: v.count(counts.promisedFull),
    avg_days_variance: v.decimal(counts.late, 2),
    requested_share_pct: v.decimal(counts.count === 0 ? null : 8750, 2),
    metric_backing: v.maybe({ orders: counts.count }),
    graded_basis: v.maybe({
      requested: counts.count - Math.floor(counts.count / 8),
      promised: Math.floor(counts.count / 8),
    }),
  };
}

function around(v: Values, books: Books, window: { first: number; last: number; days: number }) {
  const worst = books.deliveries()[0];
  const alerts = worst === undefined ? [] : [{ vendor_id: worst.vendor.id, message: "Lieferquote gefallen" }];
  return { alerts: v.maybe<unknown>(alerts), window: described(v, window) };
}

/** The Monday of a day's week. */
function weekOf(day: number): string {
  return dayText(day - ((day + 3) % 7));
}
