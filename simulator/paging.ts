import type { Entry, Listing } from "./collection.ts";
import { type Faults, happens } from "./faults.ts";
import { hash } from "./random.ts";
import { invalid, Refusal } from "./refusal.ts";
import type { Pagination, Request } from "./routes.ts";
import type { Row, Source } from "./source.ts";

/** How cursors point into a list: behind the last row's place, or at a count of rows that moves when rows go. */
export type PagingMode = "keyset" | "offset";

/** A part of a list: from a rank on, until an entry says stop, only the rows that are kept. */
export interface Selection {
  /** Another order than the list's own, with ranks of its own. */
  readonly listing?: Listing;
  /** Where to begin and to end as long as the rows stand by their age; `keep` alone decides what belongs. */
  readonly from?: number;
  readonly until?: (entry: Entry) => boolean;
  /** Decided before a row is made, where the entry alone tells. */
  readonly entry?: (entry: Entry) => boolean;
  readonly keep?: (row: Row) => boolean;
}

/** Rows looked at for one page at most; a filter that keeps none of them gives an empty page that has more. */
const LOOKED_AT = 50_000;

interface Cursor {
  readonly at: number;
  readonly page: number;
  readonly list: number;
}

export interface Page {
  readonly rows: Row[];
  /** Where the list goes on, also of an answer that doesn't say so in its envelope. */
  readonly next: Pick<Pagination, "next_cursor" | "has_more">;
  readonly pagination: Pagination | undefined;
}

/** Reads one page; refuses a malformed limit, and a cursor that is not this list's or has expired, with 422. */
export function pageOf(source: Source, request: Request, mode: PagingMode, selection: Selection = {}): Page {
  const { faults, draw } = request;
  const limit = limitOf(request);
  const list = fingerprint(request, mode);
  const text = request.query["cursor"];
  const cursor = text === undefined || text === "" ? undefined : readCursor(text, list);
  if (cursor !== undefined) expire(cursor, faults);
  const page = cursor?.page ?? 0;
  const wantsEmpty = happens(faults, "emptyPage", draw);
  const listing = selection.listing ?? source.listing;
  const start = (listing === source.collection ? selection.from : undefined) ?? Number.NEGATIVE_INFINITY;
  const from = faults.endless === "first" ? undefined : cursor?.at;
  const at = from ?? (mode === "keyset" ? start : listing.position(start));
  const read = wantsEmpty
    ? { rows: [], next: at }
    : readRows(source, mode, selection, at, from === undefined, limit, faults);
  if (faults.repeatRows > 0 && cursor !== undefined) {
    read.rows.unshift(...rowsBefore(source, mode, selection, cursor.at, Math.min(faults.repeatRows, limit), faults));
  }
  const goesOn = read.next ?? (faults.endless === "last" ? at : undefined);
  const next = goesOn === undefined ? null : writeCursor({ at: goesOn, page: page + 1, list });
  const pagination = { next_cursor: next, has_more: next !== null, limit };
  if (cursor !== undefined && next !== null && happens(faults, "repeatCursor", draw))
    pagination.next_cursor = text ?? null;
  if (happens(faults, "hasMoreWithoutCursor", draw)) {
    pagination.next_cursor = null;
    pagination.has_more = true;
  }
  const { next_cursor, has_more } = pagination;
  return {
    rows: read.rows,
    next: { next_cursor, has_more },
    pagination: happens(faults, "missingPagination", draw) ? undefined : pagination,
  };
}

function readRows(
  source: Source,
  mode: PagingMode,
  selection: Selection,
  at: number,
  first: boolean,
  limit: number,
  faults: Faults,
): { rows: Row[]; next: number | undefined } {
  const rows: Row[] = [];
  let looked = 0;
  let last = at;
  const listing = selection.listing ?? source.listing;
  const until = listing === source.collection ? selection.until : undefined;
  const from = mode === "keyset" ? at : listing.rankAt(at);
  for (const entry of listing.walk(from, mode === "keyset" && !first)) {
    if (until?.(entry) === true) return { rows, next: undefined };
    // One row more than the page is looked for, so that has_more is never a guess.
    if (rows.length === limit || looked === LOOKED_AT) {
      if (looked === LOOKED_AT || selected(source, selection, entry, faults) !== undefined) {
        return { rows, next: mode === "keyset" ? last : at + looked };
      }
      looked += 1;
      continue;
    }
    looked += 1;
    const row = selected(source, selection, entry, faults);
    if (row !== undefined) rows.push(row);
    last = entry.rank;
  }
  return { rows, next: undefined };
}

function selected(source: Source, selection: Selection, entry: Entry, faults: Faults): Row | undefined {
  // Another order has ranks of its own; the row is made from the rank it has in the list.
  const isOwn = (selection.listing ?? source.listing) === source.collection;
  const listed = isOwn ? entry : (source.collection.get(entry.number) ?? entry);
  if (selection.entry?.(listed) === false && !source.patches.has(entry.number)) return undefined;
  const row = source.row(listed, faults);
  return selection.keep?.(row) === false ? undefined : row;
}

function rowsBefore(
  source: Source,
  mode: PagingMode,
  selection: Selection,
  at: number,
  count: number,
  faults: Faults,
): Row[] {
  const listing = selection.listing ?? source.listing;
  const end = mode === "offset" ? at : listing.position(at) + (listing.standsAt(at) ? 1 : 0);
  const rows: Row[] = [];
  let left = Math.min(count, end);
  if (left === 0) return rows;
  for (const entry of listing.walk(listing.rankAt(end - left))) {
    const row = selected(source, selection, entry, faults);
    if (row !== undefined) rows.push(row);
    left -= 1;
    if (left === 0) break;
  }
  return rows;
}

function limitOf(request: Request): number {
  const text = request.query["limit"];
  if (text === undefined) return 25;
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > 100) {
    throw invalid("limit", `limit must be a whole number from 1 to 100, got '${text}'`);
  }
  return limit;
}

function expire(cursor: Cursor, faults: Faults): void {
  const rule = faults.expireCursorAfterPages;
  const pages = typeof rule === "number" ? rule : rule.pages;
  if (pages <= 0 || cursor.page < pages) return;
  if (typeof rule !== "number") {
    if (rule.times <= 0) return;
    rule.times -= 1;
    if (rule.status !== undefined) throw new Refusal(rule.status, "CURSOR_EXPIRED", "cursor has expired");
  }
  throw invalid("cursor", "cursor has expired");
}

/** A cursor belongs to its path, filters and sorting; the page size may change under way. */
function fingerprint(request: Request, mode: PagingMode): number {
  const names = Object.keys(request.query).filter(name => name !== "cursor" && name !== "limit");
  const text = names.sort().map(name => `${name}=${request.query[name]}`);
  let value = 0;
  for (const char of `${mode} ${request.path}?${text.join("&")}`) value = hash(value, char.codePointAt(0) ?? 0);
  return value;
}

function writeCursor(cursor: Cursor): string {
  const at = Number.isFinite(cursor.at) ? cursor.at : "start";
  return Buffer.from(JSON.stringify([cursor.list, cursor.page, at])).toString("base64url");
}

function readCursor(text: string, list: number): Cursor {
  const parts = parse(text);
  const [from, page, at] = Array.isArray(parts) ? parts : [];
  if (from !== list || typeof page !== "number" || (typeof at !== "number" && at !== "start")) {
    throw invalid("cursor", "cursor is not valid for this list");
  }
  return { list, page, at: at === "start" ? Number.NEGATIVE_INFINITY : at };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}
