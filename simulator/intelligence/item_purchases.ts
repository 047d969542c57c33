import type { Company } from "../company/company.ts";
import { type OrderFacts, type OrderLine, orderFacts, orderLine } from "../company/orders.ts";
import { baseEntry } from "./family.ts";

/** One line of a base order that orders an item. */
export interface Purchase {
  readonly order: OrderFacts;
  readonly index: number;
  readonly line: OrderLine;
}

/** So many orders are looked through, the newest; and so many lines of an item are remembered. */
const ORDERS = 20_000;
const LINES = 30;

/** Which lines of the base orders order an item, the newest first; looked up once, when the first item asks. */
export function itemPurchases(company: Company): (item: number) => readonly Purchase[] {
  let known: Map<number, Purchase[]> | undefined;
  return item => {
    known ??= allPurchases(company);
    return known.get(item) ?? [];
  };
}

function allPurchases(company: Company): Map<number, Purchase[]> {
  const { orders } = company.sizes;
  const found = new Map<number, Purchase[]>();
  for (let number = orders; number > Math.max(0, orders - ORDERS); number -= 1) {
    const order = orderFacts(company, baseEntry(number, orders));
    for (let index = 0; index < order.lines; index += 1) {
      const line = orderLine(company, order, index);
      const lines = found.get(line.item) ?? [];
      if (lines.length < LINES) lines.push({ order, index, line });
      found.set(line.item, lines);
    }
  }
  return found;
}
