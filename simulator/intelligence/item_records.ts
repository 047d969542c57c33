import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { invoiceFacts, invoiceKey } from "../company/invoices.ts";
import { itemFacts, itemKey, itemRow } from "../company/items.ts";
import { orderDocument, orderKey } from "../company/orders.ts";
import { invoicesOfOrder } from "../company/relations.ts";
import type { Row } from "../source.ts";
import { baseEntry, DRAWN, valuesOf } from "./family.ts";
import type { Purchase } from "./item_purchases.ts";

/** Prices over the months around the item's list price, some rising, some falling, none steadily; a change of the item adds a point. */
export function priceHistory(company: Company, { number, revision }: Entry): Row {
  const v = valuesOf(company, DRAWN.itemPrices, number);
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
export function transactions(company: Company, { number }: Entry, purchases: readonly Purchase[]): Row {
  const v = valuesOf(company, DRAWN.itemTransactions, number);
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
      const facts = invoiceFacts(company, baseEntry(invoice, company.sizes.invoices));
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
    if (invoiceFacts(company, baseEntry(number, company.sizes.invoices)).order !== null) numbers.push(number);
  return numbers;
}

/** Drawings, certificates and quotes of the item; the service answers the same rows twice. */
export function linkedDocuments(company: Company, { number, revision }: Entry): Row {
  const v = valuesOf(company, DRAWN.itemDocuments, number);
  const count = (number % 4) + Math.min(3, revision);
  const rows = Array.from({ length: count }, (_, i) => {
    const at = (company.anchorDay - 10 - ((number * 7 + i) % 500)) * DAY_MS;
    return {
      doc_id: `DOC-T${number}-${1 + (i % 3)}`,
      link_type: v.maybe(v.pick(["drawing", "certificate"])),
      match_method: v.maybe(v.pick(["part_number", "manual"])),
      confidence: v.decimal(v.between(5000, 10_000), 4),
      linked_at: v.maybe(v.moment(at + 60_000)),
      file_name: v.maybe(`Zeichnung „${number}“.pdf`),
      doc_type: v.maybe("certificate"),
      processing_status: v.maybe(v.pick(["processed", "review"])),
      uploaded_at: v.maybe(v.moment(at)),
      generic_type: v.maybe("technical"),
      extracted_fields: v.maybe({ material: "A2-70", rev: i }),
      tables: v.pick<string[]>([[], ["dimensions"]]),
    };
  });
  return { item_id: itemKey(number), linked_documents: rows, documents: rows, total: rows.length };
}

/** The service's account of the item, where its row says that there is one. */
export function itemIntelligence(company: Company, entry: Entry): Row {
  const row = itemRow(company, entry);
  const v = valuesOf(company, DRAWN.itemIntelligence, entry.number);
  const enriched = row["last_enriched_at"] !== null;
  return {
    intelligence: enriched
      ? v.maybe({ criticality: row["criticality_class"], documents: row["document_count"], note: "Einzelquelle?" })
      : null,
    generated_at: row["last_enriched_at"],
  };
}
