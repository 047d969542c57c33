import type { Entry } from "../collection.ts";
import type { World } from "../domain.ts";
import { notFound } from "../refusal.ts";
import type { Answer, Route } from "../routes.ts";
import type { Row, Source } from "../source.ts";
import { amendments, invoiceByNumber } from "./invoice_amendments.ts";
import { glCoding, invoiceIntelligence, invoiceTimeline, statusHistory } from "./invoice_records.ts";
import { itemPurchases } from "./item_purchases.ts";
import { itemIntelligence, linkedDocuments, priceHistory, transactions } from "./item_records.ts";
import { itemVendors } from "./item_vendors.ts";
import { orderAsOf } from "./order_as_of.ts";
import { blanketReleases, changeOrders, landedCost, promises } from "./order_changes.ts";

/** What hangs on each invoice. */
export function invoiceDetails({ company }: World, invoices: Source): Route[] {
  return [
    of(invoices, "/reconciliation/{doc_id}/gl-coding", entry => glCoding(company, entry)),
    of(invoices, "/reconciliation/{doc_id}/history", entry => statusHistory(company, entry)),
    of(invoices, "/reconciliation/{doc_id}/timeline", entry => invoiceTimeline(company, entry)),
    of(invoices, "/invoices/{doc_id}/intelligence", entry => invoiceIntelligence(company, entry)),
    {
      template: "/invoices/{invoice_number}/amendments",
      answer: ({ params }) => ({
        data: amendments(company, invoiceByNumber(company, invoices, params["invoice_number"] ?? "")),
      }),
    },
  ];
}

/** What hangs on each order. */
export function orderDetails({ company }: World, orders: Source): Route[] {
  return [
    of(orders, "/po/{po_number}/change-orders", entry => changeOrders(company, entry)),
    of(orders, "/po/{po_number}/blanket-releases", entry => blanketReleases(company, entry)),
    of(orders, "/orders/{po_number}/landed-cost", entry => landedCost(company, entry)),
    of(orders, "/lineage/promise/{po_number}", entry => promises(company, entry)),
    of(orders, "/po/{po_number}/as-of", (entry, query) => orderAsOf(company, entry, query["at"])),
  ];
}

/** What hangs on each item. */
export function itemDetails({ company }: World, items: Source): Route[] {
  const purchases = itemPurchases(company);
  return [
    of(items, "/items/{item_id}/vendors", entry => itemVendors(company, entry, purchases(entry.number))),
    of(items, "/items/{item_id}/price-history", entry => priceHistory(company, entry)),
    of(items, "/items/{item_id}/transactions", entry => transactions(company, entry, purchases(entry.number))),
    of(items, "/items/{item_id}/linked-documents", entry => linkedDocuments(company, entry)),
    of(items, "/items/{item_id}/intelligence", entry => itemIntelligence(company, entry)),
  ];
}

/** A detail of a list's rows, asked for by the row's key; 404 for a row that isn't there. */
function of(
  { family, collection }: Source,
  template: string,
  data: (entry: Entry, query: Readonly<Record<string, string>>) => Row,
): Route {
  const answer: Route["answer"] = ({ params, query }): Answer => {
    const key = Object.values(params)[0] ?? "";
    const entry = collection.get(family.number(key));
    if (entry === undefined) throw notFound(`'${key}'`);
    return { data: data(entry, query) };
  };
  return { template, answer };
}
