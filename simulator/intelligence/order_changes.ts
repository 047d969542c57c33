import { DAY_MS, dayText } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { orderCents, orderFacts, orderKey, orderLine } from "../company/orders.ts";
import type { Row } from "../source.ts";
import { DRAWN, valuesOf } from "./family.ts";

/** The order's change orders; a change of the order adds one. */
export function changeOrders(company: Company, entry: Entry): Row {
  const facts = orderFacts(company, entry);
  const v = valuesOf(company, DRAWN.changeOrder, facts.number);
  const count = (facts.value % 4 === 0 ? 1 : 0) + Math.min(5, facts.revision);
  return {
    change_orders: Array.from({ length: count }, (_, i) => ({
      change_order_id: `CO-${facts.number}-${i + 1}`,
      change_type: v.maybe(v.pick(["quantity", "date"])),
      description: v.maybe(`Menge geändert – "${i + 1} more"`),
      created_at: v.maybe(v.moment((facts.day + i + 1) * DAY_MS)),
      created_by: v.maybe("Zoë Čapková"),
      vendor_acked: v.maybe(v.chance(0.6)),
      line_items: v.pick<unknown[]>([[], [{ line_no: 10, quantity: "20.000" }], ["10"]]),
      decision_status: v.maybe(v.pick(["accepted", "pending"])),
    })),
  };
}

/** What was called off a blanket order, the same sums as in its detail. */
export function blanketReleases(company: Company, entry: Entry): Row {
  const facts = orderFacts(company, entry);
  if (facts.value % 6 !== 0) return { releases: [], summary: null };
  const cents = orderCents(company, facts);
  const releases = [{ release: 1, amount: cents / 100, on: dayText(facts.day + 3) }, "open rest"];
  return {
    releases: releases.slice(0, 1 + (facts.value % 2)),
    summary: { total: (cents * 4) / 100, released: cents / 100 },
  };
}

/** What the order costs once it has arrived: its lines, freight and duty on top. */
export function landedCost(company: Company, entry: Entry): Row {
  const facts = orderFacts(company, entry);
  const v = valuesOf(company, DRAWN.landedCost, facts.number);
  const goods = orderCents(company, facts);
  const freight = Math.round(goods * 0.06);
  const duty = facts.value % 3 === 0 ? Math.round(goods * 0.03) : 0;
  const other = 1500;
  const lines = Array.from({ length: facts.lines }, (_, i) => ({
    line_no: (i + 1) * 10,
    goods: orderLine(company, facts, i).cents / 100,
  }));
  return {
    currency_code: v.maybe(facts.vendor.currency),
    po_number: orderKey(facts.number),
    line_items: facts.value % 5 === 0 ? [] : lines,
    total_landed: v.money(goods + freight + duty + other),
    freight_total: v.money(freight),
    duty_total: v.money(duty),
    other_total: v.money(other),
  };
}

/** The promises for the order's delivery; the last one agrees with its dates, each change of the order has moved it by a day. */
export function promises(company: Company, entry: Entry): Row {
  const facts = orderFacts(company, entry);
  const v = valuesOf(company, DRAWN.promise, facts.number);
  const confirmed = !facts.fresh && facts.state !== "unconfirmed";
  const count = (confirmed ? 1 + (facts.value % 2) : 0) + facts.revision;
  const history = Array.from({ length: count }, (_, i) => {
    const at = (facts.day + 1 + i) * DAY_MS + (facts.value % DAY_MS);
    return {
      value: dayText(facts.promisedDay - (count - 1 - i)),
      source: v.maybe(v.pick(["acknowledgement", "email"])),
      effective_at: v.maybe(v.moment(at)),
      evidence_quote: v.maybe(`"Lieferung am ${dayText(facts.promisedDay - (count - 1 - i))}"`),
      sender: v.maybe(facts.vendor.contact),
      channel: v.maybe("email"),
      received_at: v.maybe(v.moment(at + 60_000)),
      open_ref: v.maybe({ kind: "email", id: `EML-${facts.number}-${i + 1}` }),
      superseded: i < count - 1,
    };
  });
  return {
    po_number: orderKey(facts.number),
    active: count === 0 ? null : { value: dayText(facts.promisedDay), sender: facts.vendor.contact },
    history,
    po_requested_date: v.date(facts.requestedDay),
  };
}
