import { dayText } from "../calendar.ts";
import { hash } from "../random.ts";
import type { Route } from "../routes.ts";
import type { Values } from "../values.ts";
import type { Books } from "./books.ts";
import { total } from "./sums.ts";
import { trailing, within } from "./window.ts";

const ANSWER = 60;
const KINDS = [
  { kind: "commodity", label: "Commodity prices", names: ["Stahl (HRC)", "Copper", "Nickel"] },
  { kind: "currency", label: "Exchange rates", names: ["EUR/USD", "USD/JPY"] },
  { kind: "logistics", label: "Logistics", names: ["Panama Canal drought", "紅海"] },
] as const;

/** /exposure: what the company's spend of a quarter is exposed to. */
export function exposureRoutes(books: Books): Route[] {
  const { company } = books;
  return [
    {
      template: "/exposure",
      answer: () => {
        const v = books.values(ANSWER);
        const today = company.today();
        const spent = total(within(books.bills(), trailing(today, 90)), ({ cents }) => cents);
        const signals = KINDS.flatMap(({ kind, label, names }) =>
          names.map(name => ({
            kind,
            label,
            name,
            cents: Math.round((spent * (1 + (hash(ANSWER, name.length) % 9))) / 100),
          })),
        );
        const available = company.seed % 6 !== 5;
        const data = {
          as_of_date: v.maybe(dayText(today)),
          base_currency: company.currency ?? "USD",
          total_exposed_usd: v.maybe(total(signals, ({ cents }) => cents) / 100),
          currency_code: "USD",
          money_available: available,
          money_unavailable_reason: available ? null : "no exchange rates",
          portfolio_as_of_date: v.maybe(dayText(today - 1)),
          events_linked: signals.length,
          briefing: v.maybe({ headline: "Stahl verteuert sich" }),
          by_kind: KINDS.map(({ kind, label, names }) => ({
            signal_kind: kind,
            label,
            total_usd: v.maybe(
              total(
                signals.filter(signal => signal.kind === kind),
                ({ cents }) => cents,
              ) / 100,
            ),
            ...shown,
            count: names.length,
          })),
          signals: signals.map(signal => signalRow(v, signal, today)),
        };
        return { data };
      },
    },
  ];
}

const shown = { amount_label: "Exposed spend", currency_code: "USD", window_label: "Last 90 days" };

function signalRow(
  v: Values,
  { kind, label, name, cents }: { kind: string; label: string; name: string; cents: number },
  today: number,
) {
  return {
    signal_kind: kind,
    signal_kind_label: label,
    signal_ref: `SIG-${name.toUpperCase().replaceAll(/[^A-Z]+/g, "-")}${name.length}`,
    signal_label: name,
    exposure_amount_usd: v.maybe(cents / 100),
    ...shown,
    exposure_basis: "invoiced_spend",
    confidence: v.maybe(v.below(101) / 100),
    as_of_date: v.maybe(dayText(today - v.below(3))),
    snapshot_status: v.pick(["fresh", "stale"]),
    source: v.maybe({ name: "market data", url: "https://markets.example/feed" }),
    evidence_summary: { invoices: v.below(40) },
    related_events: v.chance(0.5) ? [] : [{ event: name, weight: 0.5 }],
  };
}
