import { DAY_MS, dayText } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { itemFacts } from "../company/items.ts";
import { legs } from "../company/order_commitments.ts";
import { type OrderFacts, orderFacts, orderKey, orderLine } from "../company/orders.ts";
import { invalid } from "../refusal.ts";
import type { Row } from "../source.ts";
import type { Values } from "../values.ts";
import { DRAWN, valuesOf } from "./family.ts";

/** The order as it was known at a time: nothing before its day, afterwards its lines before any change. */
export function orderAsOf(company: Company, entry: Entry, at: string | undefined): Row {
  const asked = at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(asked)) throw invalid("at", `at must be an ISO timestamp, got '${at}'`);
  const now = orderFacts(company, entry);
  const then = orderFacts(company, { ...entry, revision: 0 });
  const v = valuesOf(company, DRAWN.asOf, now.number);
  const known = asked >= now.day * DAY_MS;
  const changes = known ? changesSince(company, then, now, v) : [];
  return {
    po_number: orderKey(now.number),
    as_of: new Date(asked).toISOString(),
    no_data_as_of: !known,
    first_seen: v.maybe(dayText(now.day)),
    header: known ? v.maybe({ vendor: then.vendor.name, promised: dayText(then.promisedDay) }) : null,
    lines: known ? Array.from({ length: then.lines }, (_, i) => line(company, then, now, i, v)) : [],
    changed_count: v.count(changes.length),
    changes,
    legs: known ? legs(then, v) : [],
  };
}

function line(company: Company, then: OrderFacts, now: OrderFacts, index: number, v: Values): Row {
  const { item, quantity, price, cents } = orderLine(company, then, index);
  const about = itemFacts(company, item);
  const changed = orderLine(company, now, index).quantity !== quantity;
  return {
    line_no: v.count((index + 1) * 10),
    description: v.maybe(about.description),
    uom: v.maybe(about.uom),
    part_number: v.maybe(`B-${item}`),
    quantity: v.decimal(quantity, 3),
    unit_price: v.decimal(price, 4),
    line_total: v.money(cents),
    changed_fields: changed ? ["quantity"] : [],
    inconsistent: about.value % 19 === 0,
  };
}

/** What has changed since, and a remark on the order's head that every third one has. */
function changesSince(company: Company, then: OrderFacts, now: OrderFacts, v: Values): Row[] {
  const changes: Row[] = [];
  const add = (field: string, before: unknown, after: unknown, onLine: boolean): void => {
    changes.push({
      field,
      label: v.maybe(field.replaceAll("_", " ")),
      line_no: onLine ? v.count(10) : null,
      as_of_value: before,
      current_value: after,
      changed_by: v.maybe({ kind: "email", id: `EML-${now.number}-1` }),
    });
  };
  if (now.value % 3 === 0) add("ship_to_name", null, v.maybe("Werk Süd"), false);
  if (now.value % 4 === 0) add("unit_price", "10.50", v.pick<unknown>([10.2, "10.20"]), true);
  if (now.revision > 0) {
    add("expected_date", dayText(then.promisedDay), dayText(now.promisedDay), false);
    add("quantity", orderLine(company, then, 0).quantity / 1000, orderLine(company, now, 0).quantity / 1000, true);
  }
  return changes;
}
