import { DAY_MS, dayText } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import type { World } from "../domain.ts";
import { answerOf } from "../endpoints/lists.ts";
import { pageOf } from "../paging.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import type { Source } from "../source.ts";
import { requisitionDetail } from "./requisition_details.ts";
import {
  approvedAt,
  type RequisitionState,
  requisitionCents,
  requisitionFacts,
  requisitionNumber,
} from "./requisitions.ts";

/** /requisitions, /requisitions/{id} and /requisitions/stats. */
export function requisitionRoutes({ company, mode }: World, source: Source): Route[] {
  return [
    {
      template: "/requisitions",
      answer: request => {
        const page = pageOf(source, request, mode);
        return answerOf({ requisitions: page.rows }, page);
      },
    },
    { template: "/requisitions/stats", answer: () => ({ data: stats(company, source) }) },
    {
      template: "/requisitions/{id}",
      answer: ({ params }) => {
        const key = params["id"] ?? "";
        const entry = source.collection.get(requisitionNumber(key));
        if (entry === undefined) throw notFound(`Requisition '${key}'`);
        return { data: requisitionDetail(company, entry) };
      },
    },
  ];
}

function stats(company: Company, { collection }: Source): Record<string, number> {
  const states: Record<RequisitionState, number> = {
    draft: 0,
    pending: 0,
    approved: 0,
    rejected: 0,
    changes_requested: 0,
    po_generated: 0,
    cancelled: 0,
  };
  const month = dayText(company.today()).slice(0, 7);
  const inMonth = (day: number): boolean => dayText(day).startsWith(month);
  let begun = 0;
  let cents = 0;
  for (const entry of collection.walk(Number.NEGATIVE_INFINITY)) {
    const facts = requisitionFacts(company, entry);
    states[facts.state] += 1;
    if (inMonth(facts.day)) begun += 1;
    const at = approvedAt(facts);
    if (at !== null && inMonth(Math.floor(at / DAY_MS))) cents += requisitionCents(facts);
  }
  const { draft, ...others } = states;
  return { drafts: draft, ...others, this_month: begun, approved_this_month_amount: cents / 100 };
}
