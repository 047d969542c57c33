import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { itemFacts } from "../company/items.ts";
import { CARRIERS, trackingNumber } from "../company/order_papers.ts";
import { type OrderFacts, orderFacts, orderKey, orderLine, orderRow } from "../company/orders.ts";
import type { World } from "../domain.ts";
import { answerOf } from "../endpoints/lists.ts";
import { perVersion } from "../endpoints/tally.ts";
import { pageOf } from "../paging.ts";
import { hash } from "../random.ts";
import type { Route } from "../routes.ts";
import type { Row, Source } from "../source.ts";
import type { Values } from "../values.ts";
import { baseEntry, DRAWN, lockGroupOf } from "./family.ts";

const STANDINGS = [
  "overdue",
  "unconfirmed",
  "awaiting_receipt",
  "due_soon",
  "at_risk",
  "on_track",
  "delivered",
  "over_shipped",
] as const;
/** The list holds so many lines at most, of the newest orders. */
const LINES = 400;
const ORDERS = 5000;

interface Place {
  readonly order: number;
  readonly line: number;
}

/** /ops/open-items: the lines of the base orders that are still open, by the newest order. */
export function openItems(world: World): { source: Source; route: Route } {
  const { company, mode } = world;
  const places = openLines(company);
  const family = lockGroupOf(company, {
    path: "/ops/open-items",
    keyField: "po_number",
    prefix: "OPEN-",
    drawn: DRAWN.openItem,
    row: (entry, v) => openRow(company, entry, placeOf(company, places, entry.number), v),
  });
  const source = world.source(family, places.length);
  const stats = perVersion(source.collection, () => {
    const standings = Object.fromEntries(STANDINGS.map(name => [name, 0]));
    for (const { number } of source.collection.walk(Number.NEGATIVE_INFINITY)) {
      const standing = standingOf(company, placeOf(company, places, number));
      standings[standing] = (standings[standing] ?? 0) + 1;
    }
    return { total: source.collection.count, ...standings, max_overdue_days: standings["overdue"] === 0 ? 0 : 12 };
  });
  return {
    source,
    route: {
      template: "/ops/open-items",
      answer: request => {
        const page = pageOf(source, request, mode);
        return answerOf({ items: page.rows, stats: { ...stats() } }, page);
      },
    },
  };
}

/** Oldest first, so that the newest line has the highest number. */
function openLines(company: Company): Place[] {
  const places: Place[] = [];
  const { orders } = company.sizes;
  for (let order = orders; order > Math.max(0, orders - ORDERS) && places.length < LINES; order -= 1) {
    const facts = baseOrder(company, order);
    if (facts.state === "closed") continue;
    for (let line = facts.lines - 1; line >= 0; line -= 1) places.push({ order, line });
  }
  return places.slice(0, LINES).reverse();
}

/** A line that comes onto the list later is one more of some order. */
function placeOf(company: Company, places: readonly Place[], number: number): Place {
  const known = places[number - 1];
  if (known !== undefined) return known;
  const value = hash(company.seed, DRAWN.openItem, number, 1);
  return { order: 1 + (value % Math.max(1, company.sizes.orders)), line: (value >>> 8) % 4 };
}

function baseOrder(company: Company, order: number): OrderFacts {
  return orderFacts(company, baseEntry(order, company.sizes.orders));
}

function standingOf(company: Company, { order }: Place): string {
  return String(orderRow(company, baseEntry(order, company.sizes.orders))["delivery_standing"] ?? "on_track");
}

function openRow(company: Company, entry: Entry, place: Place, v: Values): Row {
  const facts = baseOrder(company, place.order);
  const row = orderRow(company, baseEntry(place.order, company.sizes.orders));
  const { item, quantity, price } = orderLine(company, facts, place.line);
  const about = itemFacts(company, item);
  const shipped = facts.received > 0 || facts.state === "in_transit";
  const late = company.today() - facts.promisedDay;
  const ordered = v.decimal(quantity, 3);
  return {
    po_number: orderKey(facts.number),
    line_no: v.count((place.line + 1) * 10),
    part_number: v.maybe(`B-${item}`),
    vendor_part_number: v.maybe(`${facts.vendor.id}-${about.value % 10000}`),
    description: v.maybe(about.description),
    vendor_name: v.maybe(facts.vendor.name),
    vendor_id: row["vendor_id"],
    qty_ordered: entry.revision > 0 ? (quantity + entry.revision * 1000) / 1000 : ordered,
    qty_received: v.decimal(Math.round((quantity * facts.received) / 100), 3),
    qty_shipped: shipped ? v.decimal(quantity, 3) : null,
    expected_date: v.date(facts.promisedDay),
    expected_basis: v.maybe(v.pick(["vendor_promise", "requested_date"])),
    delivery_standing: row["delivery_standing"],
    days_late: v.count(Math.max(0, late)),
    status: v.maybe(facts.state),
    days_variance: v.count(late),
    uom: v.maybe(about.uom),
    unit_price: v.decimal(price, 4),
    tracking_number: shipped ? v.maybe(trackingNumber(facts)) : null,
    carrier_name: shipped ? v.maybe(CARRIERS[facts.value % CARRIERS.length] ?? null) : null,
    ship_date: shipped ? v.date(facts.promisedDay - 4) : null,
  };
}
