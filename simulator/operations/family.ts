import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { hash } from "../random.ts";
import type { Route } from "../routes.ts";
import { atTheHead, type Family, type Row, type Source } from "../source.ts";
import { Values } from "../values.ts";

/** What a hash is taken for in this domain; far from the numbers of the core. */
export const DRAWN = {
  event: 401,
  history: 402,
  execution: 403,
  executionDetail: 404,
  rule: 405,
  template: 406,
  action: 407,
  trigger: 408,
  figures: 409,
  pendingAction: 410,
  reasoning: 411,
  drift: 412,
  approval: 413,
  approvalRule: 414,
  usage: 415,
  usageItem: 416,
  notification: 417,
  preference: 418,
  erpConnection: 419,
  fieldMapping: 420,
  importConnection: 421,
  importRun: 422,
  importRows: 423,
  erpMapping: 424,
  syncLog: 425,
  unmapped: 426,
  customField: 427,
  glMapping: 428,
  account: 429,
  settings: 430,
} as const;

/** How the rows of a list are made. */
export interface Making {
  readonly path: string;
  readonly keyField: string;
  /** Keys of the first rows; all others are numbered behind the prefix. */
  readonly names?: readonly string[];
  readonly prefix: string;
  readonly drawn: number;
  readonly row: (entry: Entry, v: Values) => Row;
}

export function lockGroupOf(company: Company, making: Making): Family {
  const { path, keyField, names = [], prefix, drawn } = making;
  return {
    path,
    keyField,
    key: number => names[number - 1] ?? `${prefix}${number}`,
    number: key => {
      const named = names.indexOf(key) + 1;
      if (named > 0) return named;
      const digits = key.startsWith(prefix) ? key.slice(prefix.length) : "";
      const number = /^[1-9]\d{0,14}$/.test(digits) ? Number(digits) : Number.NaN;
      return number > names.length ? number : Number.NaN;
    },
    row: entry => making.row(entry, new Values(hash(company.seed, drawn, entry.number))),
    ranks: atTheHead,
  };
}

/** A list that comes whole; `beside` stands beside its rows. */
export function wholeList(source: Source, field: string, beside: (rows: Row[]) => Row = () => ({})): Route {
  return {
    template: source.family.path,
    answer: ({ faults }) => {
      const rows = Array.from(source.collection.walk(Number.NEGATIVE_INFINITY), entry => source.row(entry, faults));
      return { data: { ...beside(rows), [field]: rows } };
    },
  };
}

/** One row for every `each` of the company's, within bounds; none for a company without any. */
export function sizeOf(count: number, each: number, least: number, most: number): number {
  return count === 0 ? 0 : Math.min(most, Math.max(least, Math.ceil(count / each)));
}

/** When a row came about (UNIX milliseconds), `size` base rows being spread over so many days before the anchor day. */
export function timeOf(
  company: Company,
  entry: Pick<Entry, "number" | "insertedAt">,
  size: number,
  days: number,
): number {
  const step = (days * DAY_MS) / Math.max(1, size);
  const jitter = (hash(company.seed, DRAWN.figures, entry.number, size) / 4294967296) * step * 0.9;
  return entry.insertedAt ?? Math.floor(company.anchorDay * DAY_MS - (size - entry.number) * step - jitter) - 1000;
}
