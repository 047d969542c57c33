import type { World } from "../domain.ts";
import { answerOf } from "../endpoints/lists.ts";
import { pageOf } from "../paging.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import type { Source } from "../source.ts";
import { rfqDetail } from "./rfq_details.ts";
import { rfqNumber } from "./rfqs.ts";

/** /rfqs, which answers its rows twice and its pagination inside the data too, and /rfqs/{id}. */
export function rfqRoutes({ company, mode }: World, source: Source): Route[] {
  const { collection } = source;
  const total = (): number | string | null => {
    if (company.seed % 5 === 4) return null;
    return company.seed % 2 === 0 ? collection.count : String(collection.count);
  };
  return [
    {
      template: "/rfqs",
      answer: request => {
        const page = pageOf(source, request, mode);
        return answerOf({ data: page.rows, rfqs: page.rows, ...page.next, total: total() }, page);
      },
    },
    {
      template: "/rfqs/{id}",
      answer: ({ params }) => {
        const key = params["id"] ?? "";
        const entry = collection.get(rfqNumber(key));
        if (entry === undefined) throw notFound(`RFQ '${key}'`);
        return { data: rfqDetail(company, entry) };
      },
    },
  ];
}
