import { DAY_MS } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import { feedStep, rowOfInvoice } from "../company/feed.ts";
import { feedFacts, feedKey, feedNumber, feedRow, NOISE } from "../company/ingested.ts";
import { type PagingMode, pageOf, type Selection } from "../paging.ts";
import { invalid } from "../refusal.ts";
import type { Request, Route } from "../routes.ts";
import { atTheHead, type Family, type Row, type Source } from "../source.ts";
import { answerOf, isOn, search } from "./lists.ts";

export function ingestedFamily(company: Company): Family {
  return {
    path: "/ingested",
    keyField: "id",
    key: number => feedKey(company, number),
    number: id => feedNumber(id, invoice => rowOfInvoice(company, invoice)),
    row: entry => feedRow(company, entry),
    ranks: atTheHead,
  };
}

/** /ingested: documents, mails and imports, the newest first; filed noise mail only on request. */
export function ingestedRoutes(company: Company, source: Source, mode: PagingMode): Route[] {
  return [
    {
      template: "/ingested",
      answer: request => {
        const page = pageOf(source, request, mode, selectionOf(company, request.query));
        return answerOf({ items: page.rows, view: company.seed % 3 === 0 ? null : { name: "all" } }, page);
      },
    },
  ];
}

/** Both dates are calendar days in UTC and belong to the window; rows without a time are outside every window. */
function selectionOf(company: Company, query: Request["query"]): Selection {
  const from = dayParameter(query, "date_from");
  const to = dayParameter(query, "date_to");
  const before = to === undefined ? undefined : to + DAY_MS;
  const keep = (row: Row): boolean => branchWanted(row, query) && inWindow(row, from, before) && matches(row, query);
  return {
    ...(before === undefined ? {} : { from: rankBefore(company, before) }),
    ...(from === undefined ? {} : { until: entry => feedFacts(company, entry).at < from }),
    keep,
  };
}

/** Base times fall with the rank, so the window's newer end is found without reading up to it. */
function rankBefore(company: Company, before: number): number {
  const behind = company.anchorDay * DAY_MS - before;
  return behind <= 0 ? Number.NEGATIVE_INFINITY : Math.max(0, Math.floor(behind / feedStep(company)) - 1) - 0.5;
}

function branchWanted(row: Row, query: Request["query"]): boolean {
  const branch = row["row_type"];
  if (isOn(query["docs_only"]) && branch !== "document") return false;
  if (isOn(query["emails_only"]) && branch !== "email") return false;
  if (isOn(query["imports_only"]) && branch !== "import") return false;
  if (branch !== "email") return true;
  const filed = (NOISE as readonly unknown[]).includes(row["email_class"]);
  return isOn(query["filed_only"]) ? filed : !filed || isOn(query["include_filed"]);
}

function inWindow(row: Row, from: number | undefined, before: number | undefined): boolean {
  if (from === undefined && before === undefined) return true;
  const at = typeof row["ts"] === "string" ? Date.parse(row["ts"]) : Number.NaN;
  return at >= (from ?? Number.NEGATIVE_INFINITY) && at < (before ?? Number.POSITIVE_INFINITY);
}

function matches(row: Row, query: Request["query"]): boolean {
  if (query["source"] !== undefined && row["source"] !== query["source"]) return false;
  if (query["type"] !== undefined && row["type"] !== query["type"]) return false;
  if (query["direction"] !== undefined && row["email_direction"] !== query["direction"]) return false;
  return search(row, query["search"], ["title", "subject", "party", "document_number"]);
}

function dayParameter(query: Request["query"], name: string): number | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(`${text.slice(0, 10)}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(at)) throw invalid(name, `${name} must be a calendar date such as 2026-03-01, got '${text}'`);
  return at;
}
