import { DAY_MS } from "../calendar.ts";
import { hash } from "../random.ts";
import { type Company, PURPOSE } from "./company.ts";

/** The branches of the unified feed; ten rows in a row hold four documents, five mails and one import. */
const PATTERN = [
  "email",
  "document",
  "email",
  "document",
  "import",
  "email",
  "document",
  "email",
  "email",
  "document",
] as const;
const DOCUMENT_PLACES = [1, 3, 6, 9] as const;
const DOCUMENTS_BEFORE = [0, 0, 1, 1, 2, 2, 2, 3, 3, 3] as const;

export type Branch = (typeof PATTERN)[number];

export function branchOf(number: number): Branch {
  return PATTERN[number % 10] ?? "email";
}

/** How many documents the base feed holds. */
export function documentCount(company: Company): number {
  return documentsUpTo(company.sizes.ingested);
}

/** Documents among the feed's rows 1..number. */
function documentsUpTo(number: number): number {
  const next = number + 1;
  return Math.floor(next / 10) * 4 + (DOCUMENTS_BEFORE[next % 10] ?? 0);
}

/** The feed row of the document at `ordinal` (1-based, oldest first). */
function rowOfDocument(ordinal: number): number {
  return Math.floor((ordinal - 1) / 4) * 10 + (DOCUMENT_PLACES[(ordinal - 1) % 4] ?? 0);
}

/** The invoice that a feed row of the document branch is, or undefined where it is another kind of document. */
export function invoiceOfRow(company: Company, number: number): number | undefined {
  const documents = documentCount(company);
  const { invoices } = company.sizes;
  const ordinal = documentsUpTo(number);
  const invoice = Math.ceil((ordinal * invoices) / Math.max(1, documents));
  return invoice >= 1 && ordinalOf(invoice, invoices, documents) === ordinal ? invoice : undefined;
}

/** The feed row of a base invoice, or undefined where the feed is too short to show it. */
export function rowOfInvoice(company: Company, invoice: number): number | undefined {
  const documents = documentCount(company);
  const ordinal = ordinalOf(invoice, company.sizes.invoices, documents);
  if (ordinal < 1 || Math.ceil((ordinal * company.sizes.invoices) / Math.max(1, documents)) !== invoice)
    return undefined;
  return rowOfDocument(ordinal);
}

function ordinalOf(invoice: number, invoices: number, documents: number): number {
  return Math.floor((invoice * documents) / Math.max(1, invoices));
}

/** When a base feed row came in, UNIX milliseconds; falls strictly from row to row, the newest just before the anchor day. */
export function feedTime(company: Company, number: number): number {
  const step = feedStep(company);
  const jitter = (hash(company.seed, PURPOSE.ingestedFacts, number, 1) / 4294967296) * step * 0.9;
  return Math.floor(company.anchorDay * DAY_MS - (company.sizes.ingested - number) * step - jitter) - 1;
}

/** Milliseconds between two base rows of the feed. */
export function feedStep(company: Company): number {
  return (company.historyDays * DAY_MS) / Math.max(1, company.sizes.ingested);
}
