import { z } from "zod";

/** Where a listing goes on. `nextCursor` may be missing although `hasMore` is true: that is the reader's to judge. */
export interface Pagination {
  readonly nextCursor: string | undefined;
  readonly hasMore: boolean;
  readonly limit: number | undefined;
}

export interface Envelope {
  readonly data: unknown;
  readonly pagination: Pagination | undefined;
  /** What stands around the data: `pagination` and `meta`, and whatever is not documented. */
  readonly around: Readonly<Record<string, unknown>>;
}

/** What the service said about a failure, fit to be shown. */
export interface Complaint {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly requestId: string | undefined;
}

const documented = new Set(["pagination", "meta"]);
const pagination = z.object({
  next_cursor: z.string().nullish(),
  has_more: z.boolean(),
  limit: z.number().nullish().catch(undefined),
});

/** The fields of an answer's envelope that the documents don't name, a few of them, fit to be shown. */
export const undocumentedIn = ({ around }: Envelope): readonly string[] =>
  Object.keys(around)
    .filter(field => !documented.has(field))
    .slice(0, 5)
    .map(field => shown(field, 80));

const said = z.coerce.string().nullish().catch(undefined);
const failure = z.object({ error: z.object({ code: said, message: said, request_id: said }) });

/**
 * The envelope of a 2xx answer; undefined without `data`. The pagination may also stand beside the rows within `data`, or beside
 * `data`: an answer that was whole so far begins to come in pages one day.
 */
export function readEnvelope(json: unknown, paged = false): Envelope | undefined {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  const { data, ...around } = json as { readonly data?: unknown; readonly pagination?: unknown };
  if (data === undefined) return undefined;
  const places = [around.pagination, data, around].filter(namesPages);
  const pagination = firstOf(places, readPagination) ?? (paged ? undefined : firstOf(places, readCursor));
  return { data, pagination, around };
}

/** Looked at before anything is parsed: most answers say nothing of pages, and there is one for each detail. */
const namesPages = (block: unknown): block is object =>
  typeof block === "object" && block !== null && ("has_more" in block || "next_cursor" in block);

function firstOf<T, R>(places: readonly T[], read: (place: T) => R | undefined): R | undefined {
  for (const place of places) {
    const found = read(place);
    if (found !== undefined) return found;
  }
  return undefined;
}

function readPagination(block: object): Pagination | undefined {
  const read = pagination.safeParse(block);
  if (!read.success) return undefined;
  const { next_cursor, has_more, limit } = read.data;
  return { nextCursor: next_cursor || undefined, hasMore: has_more, limit: limit ?? undefined };
}

/** A next page that is named without `has_more`. */
function readCursor(block: { readonly next_cursor?: unknown }): Pagination | undefined {
  const { next_cursor: cursor } = block;
  return typeof cursor === "string" && cursor !== ""
    ? { nextCursor: cursor, hasMore: true, limit: undefined }
    : undefined;
}

/** Longer ones no server takes in a request's first line. */
const LONGEST_CURSOR = 8_000;

/** Why a cursor cannot be kept, or sent again; undefined where it can. */
export function cursorFault(cursor: string): string | undefined {
  if (cursor.length > LONGEST_CURSOR)
    return `a next_cursor of ${cursor.length} characters, which no address has room for`;
  if (cursor.isWellFormed() && !cursor.includes("\0")) return undefined;
  return "a next_cursor with a NUL or half a character, which cannot be stored";
}

/** The error envelope of an answer, or undefined when the answer is not the service's. */
export function readComplaint(json: unknown): Complaint | undefined {
  const read = failure.safeParse(json);
  if (!read.success) return undefined;
  const { code, message, request_id } = read.data.error;
  const brief = (text: string | null | undefined, most: number) => (text ? shown(text, most) : undefined);
  return { code: brief(code, 80), message: brief(message, 300), requestId: brief(request_id, 80) };
}

/** The beginning of a text, fit for a terminal, a log and a database: no control characters, none that turn the reading direction. */
export function shown(text: string, most: number): string {
  return text
    .slice(0, most)
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ");
}
