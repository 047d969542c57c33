import type { Entry } from "../collection.ts";
import { type Company, PURPOSE } from "../company/company.ts";
import { branchOf, documentCount, rowOfInvoice } from "../company/feed.ts";
import { type FeedFacts, feedFacts, feedKey, feedNumber, feedRow } from "../company/ingested.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";

const MOST = 300;
/** Where the documents stand among ten rows of the intake feed. */
const PLACES = [1, 3, 6, 9] as const;

/** What a document is: a row of the intake feed, the invoices among the rest. */
export interface DocumentFacts {
  readonly number: number;
  readonly revision: number;
  readonly value: number;
  readonly feed: FeedFacts;
  readonly came: Row;
}

/** How many documents are listed: the newest of the feed. */
export function listedDocuments(company: Company): number {
  return Math.min(MOST, documentCount(company));
}

function olderDocuments(company: Company): number {
  return documentCount(company) - listedDocuments(company);
}

function feedRowOf(company: Company, number: number): number {
  const ordinal = number + olderDocuments(company);
  return Math.floor((ordinal - 1) / 4) * 10 + (PLACES[(ordinal - 1) % 4] ?? 0);
}

export function documentKey(company: Company, number: number): string {
  return feedKey(company, feedRowOf(company, number));
}

/** The number behind a document's id; NaN for what is none, or is too old to be listed. */
export function documentNumber(company: Company, id: string): number {
  const row = feedNumber(id, invoice => rowOfInvoice(company, invoice));
  if (Number.isNaN(row) || branchOf(row) !== "document" || feedKey(company, row) !== id) return Number.NaN;
  const place = PLACES.findIndex(candidate => candidate === row % 10);
  const number = Math.floor(row / 10) * 4 + place + 1 - olderDocuments(company);
  return number >= 1 ? number : Number.NaN;
}

export function documentFacts(company: Company, entry: Entry): DocumentFacts {
  const { number, revision, insertedAt } = entry;
  const inFeed = { number: feedRowOf(company, number), revision, insertedAt, rank: 0 };
  const value = hash(company.seed, PURPOSE.document, number);
  return { number, revision, value, feed: feedFacts(company, inFeed), came: feedRow(company, inFeed) };
}

/** One row of the document list. Its fields are not documented: these are what a list of documents might show. */
export function documentRow(company: Company, facts: DocumentFacts): Row {
  const v = new Values(hash(company.seed, PURPOSE.document, facts.number, 1));
  const { came, feed } = facts;
  return {
    doc_id: feed.id,
    file_name: came["title"],
    doc_type: came["type"],
    document_number: came["document_number"],
    document_date: v.date(Math.floor(feed.at / 86_400_000)),
    vendor_id: came["vendor_id"],
    vendor_name: came["vendor_name"],
    total_amount: came["total_amount"],
    currency_code: came["currency_code"],
    processing_status: came["status"],
    source: came["source"],
    page_count: came["page_count"],
    uploaded_at: came["ts"],
  };
}

/** A document's own record; its fields are not documented either. */
export function documentRecord(company: Company, facts: DocumentFacts): Row {
  const v = new Values(hash(company.seed, PURPOSE.document, facts.number, 2));
  return {
    ...documentRow(company, facts),
    summary: facts.came["summary"],
    size_bytes: facts.came["size_bytes"],
    extraction: { model_tier: v.pick(["standard", "high"]), confidence: v.decimal(v.below(10_001), 4) },
    labels: v.pick<unknown[]>([[], ["Wareneingang", "到着済み"]]),
    pages: Array.from({ length: 1 + (facts.value % 2) }, (_, i) => ({ page: i + 1, text: `„Seite ${i + 1}“` })),
  };
}
