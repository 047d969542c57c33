import { type OrderFacts, orderKey } from "../company/orders.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWS } from "./draws.ts";

/** A business thread: the course of an order, or a conversation without one. `revision`: changes of what it hangs on. */
export function threadRow(seed: number, number: number, order: OrderFacts | null, revision: number): Row {
  const v = new Values(hash(seed, DRAWS.thread, number, order?.number ?? 0));
  const closed = order?.state === "closed";
  return {
    thread_id: order === null ? `THR-C${number}` : `THR-${order.number}`,
    thread_kind: order === null ? "conversation" : "purchase_order",
    primary_po_number: order === null ? null : v.maybe(orderKey(order.number)),
    status: closed ? "closed" : "open",
    outcome: closed ? v.maybe(v.pick(["delivered", "cancelled"])) : null,
    summary: revision > 0 ? `Read again (${revision})` : v.maybe("Termin bestätigt,\nPreis „offen“"),
    has_anomaly: v.chance(0.2),
    delivered_in_full: order === null ? null : v.maybe(order.received === 100),
    relationships: order === null ? [] : [{ kind: "vendor", id: order.vendor.id }],
    events: Array.from({ length: v.below(3) }, (_, i) => ({ step: i + 1, event: v.pick(["mail", "receipt"]) })),
  };
}
