import { DAY_MS, dayText } from "../calendar.ts";
import type { Values } from "../values.ts";
import { type OrderFacts, orderKey } from "./orders.ts";

const LEGS = ["requested", "promised", "shipped", "delivered"] as const;

/** What was said and seen about each leg of the delivery, as far as the order has come. */
export function legs(facts: OrderFacts, v: Values): Record<string, unknown>[] {
  const reached = facts.deliveredDay !== null ? 4 : facts.received > 0 ? 3 : facts.state === "unconfirmed" ? 1 : 2;
  return LEGS.slice(0, reached).map((leg, i) => {
    const entries = Array.from({ length: facts.value % 3 }, (_, k) => ({ fact_id: `fact-${facts.number}-${i}-${k}` }));
    const onLine = (facts.value >>> i) % 3 === 0;
    const day = leg === "requested" ? facts.requestedDay : facts.promisedDay;
    return {
      leg,
      scope_kind: onLine ? "line" : "order",
      scope_ref: v.maybe(onLine ? "10" : orderKey(facts.number)),
      scope_key: onLine ? v.maybe(`${facts.number}:10`) : null,
      basis: i < 2 ? "stated" : "observed",
      source: { kind: i < 2 ? "email" : "carrier", id: `EML-${facts.number}-1` },
      asserted_by: { role: i === 0 ? "buyer" : "vendor", name: facts.vendor.contact },
      stated_at: v.maybe(v.moment(facts.day * DAY_MS + i * 3_600_000)),
      observed_at: i < 2 ? null : v.maybe(v.moment(day * DAY_MS)),
      recorded_at: v.maybe(v.moment(facts.day * DAY_MS + i * 3_700_000)),
      stated: { date: dayText(day), quantity: null },
      entries,
      entry_count: entries.length,
    };
  });
}

interface Obligation {
  readonly [field: string]: unknown;
  readonly status: string | null;
}

/** Who owes whom an answer or a paper about the order. */
export function obligations(facts: OrderFacts, v: Values): Obligation[] {
  return Array.from({ length: facts.value % 3 }, (_, i) => ({
    obligation_id: `OBL-${facts.number}-${i + 1}`,
    type: v.maybe(v.pick(["confirm_order", "send_tracking", "issue_credit"])),
    status: v.maybe(facts.deliveredDay === null ? "open" : "met"),
    owed_by: v.maybe("vendor"),
    owed_to: v.maybe("buyer"),
    subject: v.maybe(`Confirm ${orderKey(facts.number)}, please`),
    opened_by_fact_id: v.maybe(`fact-${facts.value % 100_000}`),
    opened_at: v.maybe(v.moment(facts.day * DAY_MS + 3_600_000 * (i + 1))),
    sla_due_at: v.maybe(v.moment((facts.day + 2) * DAY_MS)),
  }));
}
