import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { hash } from "../random.ts";
import { atTheHead, type Family, type Row } from "../source.ts";
import { Values } from "../values.ts";

/** What a hash is taken for in this domain; far from the numbers of the core and of the other domains. */
export const DRAWN = {
  time: 301,
  issue: 302,
  anomaly: 303,
  insight: 304,
  pastInsight: 305,
  insightRun: 306,
  insightFigures: 307,
  agentRun: 308,
  agentFigures: 309,
  lineage: 310,
  draft: 311,
  intel: 312,
  negotiation: 313,
  brief: 314,
  openItem: 315,
  invoiceStatus: 316,
  invoiceIntelligence: 317,
  amendment: 318,
  changeOrder: 319,
  landedCost: 320,
  promise: 321,
  asOf: 322,
  itemVendors: 323,
  itemPrices: 324,
  itemTransactions: 325,
  itemDocuments: 326,
  itemIntelligence: 327,
} as const;

/** How the rows of a list are made. */
export interface Making {
  readonly path: string;
  readonly keyField: string;
  readonly prefix: string;
  readonly drawn: number;
  readonly row: (entry: Entry, v: Values) => Row;
}

/** A newest-first list whose rows are numbered behind a prefix. */
export function lockGroupOf(company: Company, { path, keyField, prefix, drawn, row }: Making): Family {
  return {
    path,
    keyField,
    key: number => `${prefix}${number}`,
    number: key => numberBehind(prefix, key),
    row: entry => row(entry, valuesOf(company, drawn, entry.number)),
    ranks: atTheHead,
  };
}

/** The number behind a key's prefix; NaN for what is no such key. */
export function numberBehind(prefix: string, key: string): number {
  const digits = key.startsWith(prefix) ? key.slice(prefix.length) : "";
  return /^[1-9]\d{0,14}$/.test(digits) ? Number(digits) : Number.NaN;
}

export function valuesOf(company: Company, drawn: number, number: number): Values {
  return new Values(hash(company.seed, drawn, number));
}

/** One row for every `each` of the company's, three at least; none for a company without any. */
export function sizeOf(count: number, each: number, most: number): number {
  return count === 0 ? 0 : Math.min(most, Math.max(3, Math.ceil(count / each)));
}

/** When a row came about (UNIX milliseconds): the `size` base rows are spread evenly over the days before the anchor day. */
export function timeOf(
  company: Company,
  entry: Pick<Entry, "number" | "insertedAt">,
  size: number,
  days: number,
): number {
  const step = (days * DAY_MS) / Math.max(1, size);
  const jitter = (hash(company.seed, DRAWN.time, entry.number, size) / 4294967296) * step * 0.9;
  return entry.insertedAt ?? Math.floor(company.anchorDay * DAY_MS - (size - entry.number) * step - jitter) - 1000;
}

/** A base row of another list, as it was before any change: what is derived from it never moves with it. */
export function baseEntry(number: number, size: number): Entry {
  return { number, revision: 0, insertedAt: undefined, rank: size - number };
}
