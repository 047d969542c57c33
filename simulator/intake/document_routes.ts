import type { Company } from "../company/company.ts";
import { answerOf, search } from "../endpoints/lists.ts";
import { type PagingMode, pageOf } from "../paging.ts";
import { notFound } from "../refusal.ts";
import type { Request, Route } from "../routes.ts";
import { atTheHead, type Family, patchedWith, type Row, type Source } from "../source.ts";
import { documentFacts, documentKey, documentNumber, documentRecord, documentRow } from "./documents.ts";

/** `uploaded` tells the number of a document that was uploaded. */
export function documentFamily(company: Company, uploaded: (id: string) => number | undefined): Family {
  return {
    path: "/documents",
    keyField: "doc_id",
    key: number => documentKey(company, number),
    number: id => uploaded(id) ?? documentNumber(company, id),
    row: entry => documentRow(company, documentFacts(company, entry)),
    ordered: true,
    ranks: atTheHead,
  };
}

/** The list and its details. Where the rows stand is not documented: here it is the list's own name. */
export function documentRoutes(company: Company, source: Source, mode: PagingMode): Route[] {
  return [
    {
      template: "/documents",
      answer: request => {
        const page = pageOf(source, request, mode, { keep: row => wanted(row, request.query) });
        return answerOf({ documents: page.rows }, page);
      },
    },
    {
      template: "/documents/{doc_id}",
      answer: ({ params }) => {
        const id = params["doc_id"] ?? "";
        const entry = source.collection.get(source.family.number(id));
        if (entry === undefined) throw notFound(`Document '${id}'`);
        const record = documentRecord(company, documentFacts(company, entry));
        return { data: patchedWith(record, source.patches.get(entry.number)) };
      },
    },
  ];
}

function wanted(row: Row, query: Request["query"]): boolean {
  for (const name of ["doc_type", "vendor_name", "document_date"] as const)
    if (query[name] !== undefined && row[name] !== query[name]) return false;
  if (query["status"] !== undefined && row["processing_status"] !== query["status"]) return false;
  return search(row, query["search"], ["file_name", "document_number", "vendor_name", "doc_id"]);
}
