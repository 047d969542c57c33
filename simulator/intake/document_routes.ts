import type { Company } from "../company/company.ts";
import type { World } from "../domain.ts";
import { answerOf, search } from "../endpoints/lists.ts";
import { pageOf } from "../paging.ts";
import { notFound } from "../refusal.ts";
import type { Request, Route } from "../routes.ts";
import { atTheHead, type Family, patchedWith, type Row, type Source } from "../source.ts";
import {
  type DocumentFacts,
  documentFacts,
  documentKey,
  documentNumber,
  documentRecord,
  documentRow,
  documentThreads,
  documentWorkbook,
} from "./documents.ts";
import type { Uploads } from "./uploads.ts";

export function documentFamily(company: Company): Family {
  return {
    path: "/documents",
    keyField: "doc_id",
    key: number => documentKey(company, number),
    number: id => documentNumber(company, id),
    row: entry => documentRow(company, documentFacts(company, entry)),
    ordered: true,
    ranks: atTheHead,
  };
}

/** /documents with all that hangs on a document. Where the rows stand is not documented: here it is the list's own name. */
export function documentRoutes({ company, mode }: World, source: Source, uploads: Uploads): Route[] {
  const detail = (below: string, data: (facts: DocumentFacts) => unknown): Route => ({
    template: `/documents/{doc_id}${below}`,
    answer: ({ params }) => {
      const id = params["doc_id"] ?? "";
      const entry = source.collection.get(uploads.numberOf(id) ?? documentNumber(company, id));
      if (entry === undefined) throw notFound(`Document '${id}'`);
      return { data: data(documentFacts(company, entry)) };
    },
  });
  return [
    {
      template: "/documents",
      answer: request => {
        const page = pageOf(source, request, mode, { keep: row => wanted(row, request.query) });
        return answerOf({ documents: page.rows }, page);
      },
    },
    detail("", facts => patchedWith(documentRecord(company, facts), source.patches.get(facts.number))),
    detail("/threads", facts => ({ threads: documentThreads(company, facts) })),
    detail("/workbook", facts => documentWorkbook(company, facts)),
  ];
}

function wanted(row: Row, query: Request["query"]): boolean {
  for (const name of ["doc_type", "vendor_name", "document_date"] as const)
    if (query[name] !== undefined && row[name] !== query[name]) return false;
  if (query["status"] !== undefined && row["processing_status"] !== query["status"]) return false;
  return search(row, query["search"], ["file_name", "document_number", "vendor_name", "doc_id"]);
}
