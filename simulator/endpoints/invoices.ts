import type { Company } from "../company/company.ts";
import { invoiceMatch } from "../company/invoice_lines.ts";
import { invoiceKey, invoiceNumber, invoiceRow } from "../company/invoices.ts";
import { type PagingMode, pageOf } from "../paging.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import { atTheHead, type Family, type Source } from "../source.ts";
import { answerOf } from "./lists.ts";

export function invoiceFamily(company: Company): Family {
  return {
    path: "/reconciliation",
    keyField: "doc_id",
    key: invoiceKey,
    number: invoiceNumber,
    row: entry => invoiceRow(company, entry),
    ranks: atTheHead,
  };
}

/** /reconciliation and /reconciliation/{doc_id}/line-items. */
export function invoiceRoutes(company: Company, source: Source, mode: PagingMode): Route[] {
  return [
    {
      template: "/reconciliation",
      answer: request => {
        const page = pageOf(source, request, mode);
        const stats = company.seed % 5 === 4 ? null : { total: source.collection.count };
        return answerOf({ invoices: page.rows, stats, view: company.seed % 3 === 0 ? null : { name: "all" } }, page);
      },
    },
    {
      template: "/reconciliation/{doc_id}/line-items",
      answer: ({ params }) => {
        const key = params["doc_id"] ?? "";
        const entry = source.collection.get(invoiceNumber(key));
        if (entry === undefined) throw notFound(`Document '${key}'`);
        return { data: invoiceMatch(company, entry) };
      },
    },
  ];
}
