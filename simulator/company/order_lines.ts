import { dayText } from "../calendar.ts";
import type { Values } from "../values.ts";
import type { Company } from "./company.ts";
import { itemFacts, manufacturerPart } from "./items.ts";
import { CARRIERS, documentId, trackingNumber } from "./order_papers.ts";
import { type OrderFacts, orderKey, orderLine } from "./orders.ts";
import { invoicesOfOrder } from "./relations.ts";

/** One ordered line with what was acknowledged, shipped, received and billed of it; all documented fields present. */
export function lineItem(company: Company, facts: OrderFacts, v: Values, index: number): Record<string, unknown> {
  const line = orderLine(company, facts, index);
  const item = itemFacts(company, line.item);
  const { quantity, price } = line;
  const { fresh, deliveredDay, promisedDay, requestedDay } = facts;
  const received = Math.round((quantity * facts.received) / 100);
  const rejected = deliveredDay !== null && item.value % 17 === 0 ? 1000 : 0;
  const billed = !fresh && facts.received > 0 && invoicesOfOrder(company, facts.number).length > 0;
  const acknowledged = !fresh && facts.state !== "unconfirmed";
  const arrived = facts.received > 0;
  const shippedDay = arrived || facts.state === "in_transit" ? promisedDay - 4 : null;
  const late = deliveredDay === null ? null : deliveredDay - promisedDay;
  const amount = v.money(line.cents);
  const ordered = v.decimal(quantity, 3);
  const more = index === 0 && facts.revision > 0;
  const mailPromise = item.value % 4 === 0 ? promisedDay : null;
  return {
    line_no: v.chance(0.1) ? `${index + 1}.0` : v.count((index + 1) * 10),
    part_number: v.maybe(`B-${line.item}`),
    vendor_part_number: v.maybe(`${facts.vendor.id}-${item.value % 10000}`),
    manufacturer_part_number: v.maybe(manufacturerPart(item.value)),
    description: v.maybe(item.description),
    quantity: more ? quantity / 1000 : ordered,
    qty_ordered: more ? quantity / 1000 : ordered,
    unit_price: v.decimal(price, 4),
    unit: v.maybe(item.uom),
    uom: v.maybe(item.uom),
    amount,
    line_total: amount,
    qty_received: v.decimal(received, 3),
    qty_accepted: v.decimal(Math.max(0, received - rejected), 3),
    qty_arrived: v.decimal(received, 3),
    qty_rejected: v.decimal(Math.min(rejected, received), 3),
    qty_received_source: arrived ? v.maybe(v.pick(["receipt", "packing_slip"])) : null,
    qty_shipped: shippedDay === null ? null : v.decimal(quantity, 3),
    qty_invoiced: billed ? v.decimal(quantity, 3) : null,
    qty_acked: acknowledged ? v.decimal(quantity, 3) : null,
    expected_date: v.date(promisedDay),
    actual_delivery_date: v.date(deliveredDay),
    on_time: late === null ? null : v.maybe(late <= 0),
    in_full: deliveredDay === null ? null : v.maybe(rejected === 0),
    days_variance: v.count(late),
    delivery_status: v.maybe(deliveredDay === null ? "pending" : "delivered"),
    match_status: v.maybe(billed ? "matched" : "not_invoiced"),
    invoice_price: billed ? v.decimal(price, 4) : null,
    contract_price: item.value % 5 === 0 ? v.decimal(item.price, 4) : null,
    ack_unit_price: acknowledged ? v.decimal(price, 4) : null,
    invoice_unit_price: billed ? v.decimal(price, 4) : null,
    po_requested_date: v.date(requestedDay),
    ack_promised_date: acknowledged ? v.date(promisedDay) : null,
    email_promised_date: v.date(mailPromise),
    promise_vs_request: acknowledged ? v.maybe({ days: promisedDay - requestedDay }) : null,
    ack_promised_ship_date: acknowledged ? v.date(promisedDay - 4) : null,
    email_promised_ship_date: mailPromise === null ? null : v.date(mailPromise - 4),
    actual_ship_date: v.date(shippedDay),
    ship_on_time: shippedDay === null ? null : v.maybe(true),
    ship_variance_days: shippedDay === null ? null : v.count(0),
    on_time_basis: late === null ? null : v.maybe("vendor_promise"),
    actual_date: v.date(deliveredDay),
    actual_date_source: deliveredDay === null ? null : v.maybe("receipt"),
    receipt_date_confidence: deliveredDay === null ? null : v.decimal(70 + (item.value % 31), 2),
    carrier_delivered_date: v.date(deliveredDay),
    carrier_delivered_source: deliveredDay === null ? null : v.maybe("tracking"),
    promise_source: v.maybe(acknowledged ? "acknowledgement" : null),
    receipt_doc_id: arrived ? v.maybe(documentId(facts, "R")) : null,
    bol_doc_id: shippedDay === null ? null : v.maybe(documentId(facts, "B")),
    pod_doc_id: deliveredDay === null ? null : v.maybe(documentId(facts, "D")),
    variance_days: v.count(late),
    part_number_mismatch: v.maybe(item.value % 13 === 0),
    delivery: v.maybe({ basis: "vendor_promise", date: dayText(promisedDay) }),
    schedule: item.value % 3 === 0 ? [{ date: dayText(promisedDay), quantity: quantity / 1000 }] : [],
    receipts: arrived ? [{ doc_id: documentId(facts, "R"), quantity: received / 1000 }] : [],
    shipments: shippedDay === null ? [] : [{ tracking: trackingNumber(facts), date: dayText(shippedDay) }],
    comm_updates:
      item.value % 9 === 0 ? [{ kind: "delay", text: `${orderKey(facts.number)}: "eine Woche später"` }] : [],
    ship_tracking: shippedDay === null ? null : v.maybe(trackingNumber(facts)),
    carrier_name: shippedDay === null ? null : v.maybe(CARRIERS[facts.value % CARRIERS.length] ?? null),
  };
}
