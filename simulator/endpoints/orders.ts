import type { Company } from "../company/company.ts";
import { orderDetail } from "../company/order_details.ts";
import { type OrderState, orderFacts, orderKey, orderNumber, orderRow } from "../company/orders.ts";
import { type PagingMode, pageOf } from "../paging.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import { atTheHead, type Family, type Source } from "../source.ts";
import { answerOf } from "./lists.ts";
import { perVersion } from "./tally.ts";

export function orderFamily(company: Company): Family {
  return {
    path: "/po",
    keyField: "po_number",
    key: orderKey,
    number: orderNumber,
    row: entry => orderRow(company, entry),
    ranks: atTheHead,
  };
}

/** /po, /po/{po_number} and /po/stats. */
export function orderRoutes(company: Company, source: Source, mode: PagingMode): Route[] {
  const { collection } = source;
  const tally = perVersion(collection, () => {
    const states: Record<OrderState, number> = {
      open: 0,
      past_due: 0,
      due_this_week: 0,
      unconfirmed: 0,
      in_transit: 0,
      closed: 0,
    };
    for (const entry of collection.walk(Number.NEGATIVE_INFINITY)) states[orderFacts(company, entry).state] += 1;
    return states;
  });
  const stats = (): Record<string, number | null> => {
    const states = tally();
    return {
      total: collection.count,
      // `open` is the sum of all that is still expected; some companies have the breakdown switched off.
      open: company.seed % 5 === 4 ? null : collection.count - states.closed,
      past_due: company.seed % 5 === 4 ? null : states.past_due,
      due_this_week: company.seed % 5 === 4 ? null : states.due_this_week,
      unconfirmed: company.seed % 5 === 4 ? null : states.unconfirmed,
      in_transit: company.seed % 5 === 4 ? null : states.in_transit,
      closed: company.seed % 5 === 4 ? null : states.closed,
    };
  };
  return [
    {
      template: "/po",
      answer: request => {
        const page = pageOf(source, request, mode);
        const view = company.seed % 3 === 0 ? null : { name: "all", sort: "po_date desc" };
        return answerOf({ currency_code: company.currency, purchase_orders: page.rows, stats: stats(), view }, page);
      },
    },
    { template: "/po/stats", answer: () => ({ data: stats() }) },
    {
      template: "/po/{po_number}",
      answer: ({ params }) => {
        const key = params["po_number"] ?? "";
        const entry = collection.get(orderNumber(key));
        if (entry === undefined) throw notFound(`Purchase order '${key}'`);
        return { data: orderDetail(company, entry) };
      },
    },
  ];
}
