import { DAY_MS, dayText } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { hash } from "../random.ts";
import { Values } from "../values.ts";
import { type Company, PURPOSE } from "./company.ts";
import { legs, obligations } from "./order_commitments.ts";
import { lineItem } from "./order_lines.ts";
import { linkedDocuments, narrativeComms, priceMoves, shipmentTracking } from "./order_papers.ts";
import { type OrderFacts, orderCents, orderFacts, orderRow, SITES } from "./orders.ts";

const TERMS = ["EXW", "FOB Destination", "DAP Werk Süd", "CIF 大阪"];

/** One order in full. What it shares with its list row is taken from that row, so the two never disagree. */
export function orderDetail(company: Company, entry: Entry): Record<string, unknown> {
  const facts = orderFacts(company, entry);
  const row = orderRow(company, entry);
  const v = new Values(hash(company.seed, PURPOSE.orderDetail, facts.number));
  const { value, vendor, fresh } = facts;
  const blanket = value % 6 === 0;
  const cents = orderCents(company, facts);
  const owed = obligations(facts, v);
  const confirmed = fresh || facts.state === "unconfirmed" ? null : facts.day + 1 + (value % 4);
  const site = SITES[value % SITES.length] ?? null;
  return {
    po_number: row["po_number"],
    po_date: row["po_date"],
    order_date: v.date(facts.day),
    // Named like the days of other records, and no time of day.
    order_placed_date: v.maybe(v.moment(facts.day * DAY_MS + (value % DAY_MS)).slice(0, 10)),
    confirmation_received_date: v.date(confirmed),
    confirmation:
      confirmed === null ? null : v.maybe({ source: "email", date: dayText(confirmed), lines: facts.lines }),
    status: v.maybe(row["lifecycle_status"]),
    fulfillment_state: row["fulfillment_state"],
    is_open: row["is_open"],
    state_source: v.maybe(v.pick(["receipts", "email", "carrier"])),
    state_confidence: v.maybe(v.pick(["high", "medium", "low"])),
    fulfillment_status: row["fulfillment_status"],
    match_status: row["match_status"],
    match_receipt_backed: v.maybe(facts.received > 0),
    open_obligation_count: v.maybe(owed.filter(({ status }) => status === "open").length),
    legs: legs(facts, v),
    obligations: owed,
    expected_date: v.date(facts.promisedDay),
    delivery_date: v.date(facts.deliveredDay),
    ship_to_address: v.maybe("Industriestraße 7\n70565 Stuttgart\nDeutschland"),
    ship_to_name: v.maybe(site),
    payment_terms: v.maybe(v.pick(["Net 30", "2/10 net 30", "14 Tage netto"])),
    currency_code: v.maybe(vendor.currency),
    freight_terms: v.maybe(TERMS[value % TERMS.length] ?? null),
    source: v.maybe(v.pick(["email", "upload", "erp"])),
    buyer_name: v.maybe(v.pick(["Zoë Čapková", 'Robert "Bob" Hale', "李伟"])),
    blanket_type: blanket ? v.maybe("value") : null,
    blanket_total: blanket ? v.money(cents * 4) : null,
    blanket_released: blanket ? v.money(cents) : null,
    status_summary: v.maybe({ headline: `${facts.received} % received`, open_lines: row["is_open"] ? facts.lines : 0 }),
    vendor: v.maybe({ vendor_id: row["vendor_id"], name: vendor.name, contact: vendor.contact }),
    amounts: v.maybe({ total: cents / 100, tax: "0.00", currency: vendor.currency }),
    delivery: v.maybe({ standing: row["delivery_standing"], promised: dayText(facts.promisedDay) }),
    delivery_site: v.maybe({ name: site, city: "Stuttgart" }),
    shipping: v.maybe({ method: v.pick(["LTL", "parcel", "sea"]), prepaid: value % 2 === 0 }),
    line_items: Array.from({ length: facts.lines }, (_, i) => lineItem(company, facts, v, i)),
    linked_documents: linkedDocuments(company, facts, v),
    shipment_tracking: shipmentTracking(facts, v),
    intelligence: v.maybe({ severity: row["intelligence_severity"], findings: row["anomaly_count"] }),
    exceptions: exceptions(facts),
    delivery_health: v.pick<unknown>([{ score: 0.82, trend: "flat" }, "good", 3, null]),
    contract_nte: value % 7 === 0 ? [{ contract_id: `CTR-${value % 90}`, limit: 250000, used: "118000.50" }] : [],
    narrative_comms: narrativeComms(facts, v),
    promise_move: facts.revision === 0 ? null : { days: facts.revision, to: dayText(facts.promisedDay) },
    price_moves: priceMoves(company, facts, v),
  };
}

/** Undocumented entries: objects, plain strings and numbers come mixed. */
function exceptions(facts: OrderFacts): unknown[] {
  if (facts.state !== "past_due") return [];
  const all = [{ kind: "late", days: 4 }, "no confirmation on file", 17];
  return all.slice(0, 1 + (facts.value % all.length));
}
