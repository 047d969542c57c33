import type { Entry } from "../collection.ts";
import { type Company, PURPOSE } from "../company/company.ts";
import { invoiceFacts, invoiceKey } from "../company/invoices.ts";
import { itemFacts, itemKey } from "../company/items.ts";
import { type OrderFacts, type OrderLine, orderDocument, orderFacts, orderKey, orderLine } from "../company/orders.ts";
import { invoicesOfOrder } from "../company/relations.ts";
import { hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import type { Row, Source } from "../source.ts";
import { Values } from "../values.ts";

/** One line of a base order that orders an item. */
interface Purchase {
  readonly order: OrderFacts;
  readonly index: number;
  readonly line: OrderLine;
}

/** So many orders are looked through, the newest; and so many lines of an item are remembered. */
const ORDERS = 20_000;
const LINES = 30;

/** What an item cost, and the lines of orders and invoices that name it: models work prices out of both. */
export function itemRecordRoutes(company: Company, { family, collection }: Source): Route[] {
  const purchases = itemPurchases(company);
  const of = (name: string, data: (entry: Entry) => Row): Route => ({
    template: `/items/{item_id}/${name}`,
    answer: ({ params }) => {
      const entry = collection.get(family.number(params["item_id"] ?? ""));
      if (entry === undefined) throw notFound(`Item '${params["item_id"]}'`);
      return { data: data(entry) };
    },
  });
  return [
    of("price-history", entry => priceHistory(company, entry)),
    of("transactions", entry => transactions(company, entry, purchases(entry.number))),
  ];
}

/** Which lines of the base orders order an item, the newest first; looked up once, when the first item asks. */
function itemPurchases(company: Company): (item: number) => readonly Purchase[] {
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
    const order = orderFacts(company, { number, revision: 0, insertedAt: undefined });
    for (let index = 0; index < order.lines; index += 1) {
      const line = orderLine(company, order, index);
      const lines = found.get(line.item) ?? [];
      if (lines.length < LINES) lines.push({ order, index, line });
      found.set(line.item, lines);
    }
  }
  return found;
}

/** Prices over the months around the item's list price, some rising, some falling, none steadily; a change of the item adds a point. */
function priceHistory(company: Company, { number, revision }: Entry): Row {
  const v = new Values(hash(company.seed, PURPOSE.itemPrices, number));
  const { price } = itemFacts(company, number);
  const points = (number % 7 === 0 ? 0 : 4 + (number % 9)) + Math.min(5, revision);
  const drift = ((number * 37) % 13) - 5;
  return {
    currency_code: v.maybe(company.currency ?? "USD"),
    item_id: itemKey(number),
    history: Array.from({ length: points }, (_, i) => {
      const unrest = ((i * 7 + number * 3) % 5) - 2;
      const average = Math.max(1, Math.round(price * (1 + (drift * i * 6 + unrest * 11) / 1_000)));
      return {
        date: v.date(company.anchorDay - 30 * (points - i)),
        avg_price: v.decimal(average, 4),
        min_price: v.decimal(Math.round(average * 0.95), 4),
        max_price: v.decimal(Math.round(average * 1.05), 4),
        transaction_count: v.count(1 + v.below(9)),
        total_spend: v.money(Math.round(average / 10)),
      };
    }),
  };
}

/** The order and invoice lines that name the item, and how many invoices each order has. */
function transactions(company: Company, { number }: Entry, purchases: readonly Purchase[]): Row {
  const v = new Values(hash(company.seed, PURPOSE.itemTransactions, number));
  const about = itemFacts(company, number);
  const rows: Row[] = [];
  const rollup = new Map<string, number>();
  for (const { order, index, line } of purchases) {
    const shared = {
      vendor_name: v.maybe(order.vendor.name),
      vendor_id: v.maybe(order.vendor.id),
      quantity: v.decimal(line.quantity, 3),
      unit_price: v.decimal(line.price, 4),
      line_total: v.money(line.cents),
      uom: v.maybe(about.uom),
      currency_code: v.maybe(order.vendor.currency),
      po_number: v.maybe(orderKey(order.number)),
    };
    const invoices = invoicesFor(company, order.number);
    rollup.set(orderKey(order.number), invoices.length);
    rows.push({
      line_item_id: v.maybe(`${order.number}-${index + 1}`),
      doc_id: v.maybe(orderDocument(order.number)),
      document_number: v.maybe(orderKey(order.number)),
      doc_type: v.maybe("purchase_order"),
      date: v.date(order.day),
      ...shared,
      invoice_number: null,
    });
    for (const invoice of invoices.slice(0, 3)) {
      const facts = invoiceFacts(company, { number: invoice, revision: 0, insertedAt: undefined });
      rows.push({
        line_item_id: v.maybe(String(invoice * 1000 + index)),
        doc_id: v.maybe(invoiceKey(invoice)),
        document_number: v.maybe(`RE-${invoice}/${facts.value % 100}`),
        doc_type: v.maybe("invoice"),
        date: v.date(facts.day),
        ...shared,
        invoice_number: v.maybe(`RE-${invoice}/${facts.value % 100}`),
      });
    }
  }
  return {
    transactions: rows,
    po_invoice_rollup: [...rollup].map(([po_number, invoice_count]) => ({ po_number, invoice_count })),
  };
}

/** The base invoices that were matched to an order. */
function invoicesFor(company: Company, order: number): number[] {
  const { first, last } = invoicesOfOrder(company, order);
  const numbers: number[] = [];
  for (let number = first; number <= last && numbers.length < 20; number += 1)
    if (invoiceFacts(company, { number, revision: 0, insertedAt: undefined }).order !== null) numbers.push(number);
  return numbers;
}
