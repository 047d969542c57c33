import { DAY_MS, dayOf, dayText } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { type Company, vendorFor } from "../company/company.ts";
import { documentId, trackingNumber } from "../company/order_papers.ts";
import { orderFacts, orderKey } from "../company/orders.ts";
import { hash } from "../random.ts";
import type { Route } from "../routes.ts";
import { atTheHead, type Family, type Row, type Source } from "../source.ts";
import { Values } from "../values.ts";
import { completeRows } from "./complete.ts";
import { DRAWN_FOR } from "./purposes.ts";
import { siteName } from "./sites.ts";

const STATES = ["scheduled", "checked_in", "departed", "no_show"] as const;

function keyed(prefix: string): Pick<Family, "key" | "number"> {
  const pattern = new RegExp(`^${prefix}[1-9]\\d{0,14}$`);
  return {
    key: number => `${prefix}${number}`,
    number: key => (pattern.test(key) ? Number(key.slice(prefix.length)) : Number.NaN),
  };
}

/** The day of an appointment: the base ones lie within sixty days around the anchor. */
function appointmentDay(company: Company, { number, insertedAt }: Entry): number {
  const value = hash(company.seed, DRAWN_FOR.appointment, number);
  return insertedAt === undefined ? company.anchorDay + 20 - (value % 60) : dayOf(insertedAt) + 3;
}

function appointmentState(company: Company, entry: Entry): (typeof STATES)[number] {
  const left = appointmentDay(company, entry) - company.anchorDay;
  if (left > 0) return "scheduled";
  if (left === 0) return "checked_in";
  return entry.number % 9 === 0 ? "no_show" : "departed";
}

export function appointmentFamily(company: Company): Family {
  return {
    path: "/dock-appointments",
    keyField: "id",
    ...keyed("DA-"),
    row: entry => appointmentRow(company, entry),
    ranks: atTheHead,
  };
}

function appointmentRow(company: Company, entry: Entry): Row {
  const { number, revision } = entry;
  const value = hash(company.seed, DRAWN_FOR.appointment, number);
  const v = new Values(hash(value, 1));
  const day = appointmentDay(company, entry);
  const state = appointmentState(company, entry);
  const came = state === "checked_in" || state === "departed";
  const carrier = vendorFor(company, (value >>> 6) % 12);
  const ordered = 1 + ((value >>> 3) % Math.max(1, company.sizes.orders));
  const order = orderFacts(company, { number: ordered, revision: 0, insertedAt: undefined });
  const hour = 7 + (value % 9);
  const notes = v.maybe("Bitte Rampe freihalten");
  return {
    id: `DA-${number}`,
    appointment_number: v.maybe(`APT-${day}-${number}`),
    appointment_type: v.maybe(value % 3 === 0 ? "outbound" : "inbound"),
    status: v.maybe(state),
    carrier_id: v.maybe(carrier.id),
    carrier_name: v.maybe(carrier.name),
    carrier_display_name: v.maybe(carrier.name.toUpperCase()),
    dock_door: v.maybe(String(1 + (value % 6))),
    facility_location: v.maybe(siteName(1 + (value % 5))),
    scheduled_date: v.date(day),
    slot_start: v.maybe(`${String(hour).padStart(2, "0")}:00`),
    slot_end: v.maybe(`${String(hour + 1).padStart(2, "0")}:30`),
    po_numbers: company.sizes.orders === 0 ? null : v.maybe(orderKey(ordered)),
    shipment_doc_id: v.maybe(documentId(order, "B")),
    tracking_number: v.maybe(trackingNumber(order)),
    trailer_number: v.maybe(`T-${value % 9000}`),
    seal_number: v.maybe(`SL${value % 70_000}`),
    commodity_description: v.maybe("Steel parts, verzinkt"),
    total_weight: v.decimal(5000 + v.below(200_000), 1),
    total_pallets: v.count(1 + v.below(33)),
    special_instructions: v.chance(0.3) ? 'Liftgate; "call ahead"' : null,
    notes: revision > 0 ? `Verschoben, ${revision}. Mal` : notes,
    check_in_at: came ? v.maybe(v.moment(day * DAY_MS + hour * 3_600_000)) : null,
    check_in_by: came ? v.maybe("Pförtner Süd") : null,
    actual_departure: state === "departed" ? v.maybe(v.moment(day * DAY_MS + (hour + 1) * 3_600_000)) : null,
    created_by: v.maybe("dispatch@example.com"),
    created_at: v.maybe(v.moment((day - 25) * DAY_MS + (value % DAY_MS))),
    updated_at: v.maybe(v.moment((day - 24) * DAY_MS + (value % DAY_MS))),
  };
}

export function doorFamily(company: Company): Family {
  return {
    path: "/dock-doors",
    keyField: "id",
    ...keyed("DOOR-"),
    row: ({ number, revision }) => {
      const v = new Values(hash(company.seed, DRAWN_FOR.door, number));
      const notes = v.maybe("Tor klemmt bei Frost");
      return {
        id: `DOOR-${number}`,
        door_number: String(number),
        door_type: v.pick(["inbound", "outbound", "both"]),
        facility_location: v.maybe(siteName(1 + (number % 5))),
        capabilities: v.maybe("leveler, liftgate"),
        notes: revision > 0 ? `serviced ${revision} time(s)` : notes,
        is_active: v.chance(0.9),
      };
    },
    ranks: atTheHead,
  };
}

/** /dock-appointments, its stats of today, and /dock-doors. */
export function dockRoutes(company: Company, appointments: Source, doors: Source): Route[] {
  return [
    {
      template: "/dock-appointments",
      answer: request => {
        const rows = completeRows(appointments, request);
        return { data: { appointments: rows, total: rows.length } };
      },
    },
    {
      template: "/dock-appointments/stats",
      answer: () => {
        const today = company.today();
        const counts: Record<string, number> = {};
        let total = 0;
        for (const entry of appointments.collection.walk(Number.NEGATIVE_INFINITY)) {
          if (appointmentDay(company, entry) !== today) continue;
          const state = appointmentState(company, entry);
          counts[state] = (counts[state] ?? 0) + 1;
          total += 1;
        }
        return { data: { date: dayText(today), total, by_status: counts } };
      },
    },
    { template: "/dock-doors", answer: request => ({ data: { doors: completeRows(doors, request) } }) },
  ];
}
