import { setImmediate as nextTurn } from "node:timers/promises";
import type { Feed, Listing, Scan, Stream } from "../../catalog/stream.ts";
import { ApiError, DestinationError, LockedError, meetsOthers } from "../../errors.ts";
import { valueAt } from "../../rows/encode_value.ts";
import type { Encoder } from "../../rows/encoder.ts";
import type { Answer, Query } from "../../source/api.ts";
import { telling } from "../../source/archive/about.ts";
import { countIn } from "../../source/evidence.ts";
import { type Page, type PageRequest, readPages } from "../../source/pages.ts";
import type { ScanRecord } from "../../warehouse/state/stream_state.ts";
import type { StreamProgress } from "../stream_progress.ts";
import { noteOnce, notesLack } from "./answer.ts";
import { extractMessages } from "./messages.ts";
import type { Reading } from "./reading.ts";
import {
  besideRows,
  digestsOf,
  edgesOf,
  hasNullRows,
  insteadOfRows,
  nameOf,
  placeOfRows,
  rowsIn,
  sectionsIn,
} from "./rows_in_answer.ts";

/** Rows asked for a page: the most the service gives. */
export const PAGE_ROWS = 100;

export const pagesOf = (rows: number): number => Math.max(1, Math.ceil(rows / PAGE_ROWS));

export interface ListingJob extends Reading {
  readonly path: string;
  /** Its own parameters narrow nothing; any other does. */
  readonly stream: Pick<Stream, "query">;
  /** Read one after another: together they are the scan. */
  readonly queries: readonly Query[];
  readonly listing: Scan | Feed;
  /** Called with the first page of a scan that is begun anew: what the scan before it staged goes. */
  readonly begin?: () => Promise<void>;
  /** Collects the first and last rows of its pages. */
  readonly edges?: Set<string> | undefined;
}

/** The page loop: pages become batches until the listing ends. When it can't go on (ApiError, the signal's reason) what was read is stored first, and the next run continues there. */
export async function readListing(job: ListingJob): Promise<ScanRecord> {
  const { encoder, batches, progress } = job;
  let record = job.record;
  encoder.sequence = record.sequence;
  const { rows } = job.listing;
  const read = typeof rows === "string" ? encoder.pageReader(rows) : undefined;
  try {
    while (record.phase !== "read") {
      const { scan, full, part } = record;
      const api = telling(job.api, { scan, full, part, parts: job.queries.length });
      for await (const page of readPages(api, { ...requestOf(job, record), read })) {
        const rows = await takePage(job, page, {}, Number.POSITIVE_INFINITY);
        if (record.pages === 0) await job.begin?.();
        record = advance(job, record, page, rows.length);
        progress.rows(rows.length, record);
        if (batches.due || record.phase === "read") record = await batches.put(record);
      }
    }
    await batches.flush();
    return record;
  } catch (error) {
    if (error instanceof DestinationError || error instanceof LockedError) throw error;
    progress.failedRequest(error);
    // What the scan before it staged stays until it has a page of its own.
    if (job.begin !== undefined && record.pages === 0) throw error;
    // Stored with the pages before it: three runs that end so mean the listing cannot be completed.
    const failed = error instanceof ApiError && !meetsOthers(error);
    await batches.end(failed ? { ...record, failures: record.failures + 1 } : record);
    throw error;
  }
}

/**
 * Reads the rest of a listing that broke off at `record.part`, as far as its other orders and its further requests reach. An order ends where it meets the
 * first or last row of a page of its own order or of the opposite one, or a page that the service fails at.
 */
export async function readBeyond(job: ListingJob): Promise<ScanRecord> {
  const { encoder, batches, progress, listing, queries } = job;
  let { record } = job;
  encoder.sequence = record.sequence;
  const api = telling(job.api, { confirms: true });
  const queryOf = (part: number): Query => requestOf(job, { ...job.record, part }).query;
  const orders = (listing.orders ?? []).map(order => ({ ...queryOf(job.record.part), ...listing.sortedBy, ...order }));
  const further = queries.map((_, part) => queryOf(part)).slice(job.record.part + 1);
  const ordered = new Set(listing.sortedBy === undefined ? job.edges : []);
  for (const query of [...orders, ...further]) {
    const known = new Set(orders.includes(query) ? ordered : []);
    const request = { ...requestOf({ ...job, edges: ordered }, job.record), query, ahead: false } as const;
    try {
      for await (const page of readPages(api, request)) {
        const met = digestsOf(page.data, listing.rows, (row, context) => encoder.digest(row, context));
        if (known.has(met[0] ?? "")) {
          progress.page(page);
          break;
        }
        const rows = await takePage(job, page, {}, Number.POSITIVE_INFINITY);
        record = { ...record, pages: record.pages + 1, rows: record.rows + rows.length };
        progress.rows(rows.length);
        if (batches.due) record = await batches.put(record);
        if (met.some(digest => known.has(digest))) break;
      }
    } catch (error) {
      if (error instanceof DestinationError || error instanceof LockedError) throw error;
      progress.failedRequest(error);
      if (error instanceof ApiError && !meetsOthers(error)) continue;
      await batches.flush();
      throw error;
    }
  }
  return batches.end(record);
}

interface Taker {
  readonly path: string;
  readonly listing: Listing;
  readonly encoder: Encoder;
  readonly progress: StreamProgress;
}

/** Encodes a page's rows, `atOnce` at a time: between, answers that have come are taken. @throws ApiError when it holds no list of rows */
export async function takePage(
  { path, listing, encoder, progress }: Taker,
  page: Pick<Page, "data" | "skipped" | "requests" | "retries" | "bytes">,
  context: Record<string, unknown>,
  atOnce: number,
): Promise<readonly unknown[]> {
  progress.page(page);
  if (page.skipped !== undefined) {
    encoder.unreadable(page.skipped);
    return [undefined];
  }
  const { rows: place } = listing;
  // Null for a list is an empty one, which the deletion guard holds back; a working list has no such guard.
  const sections = sectionsIn(page.data, place, listing.absence !== "left");
  if (sections === undefined) throw malformed(path, place, page.data);
  const beside = besideRows(page.data);
  let taken = 0;
  for (const { section, rows } of sections) {
    const own = typeof place === "string" ? context : { ...context, [place.column]: section };
    for (const row of rows) {
      if (taken > 0 && taken % atOnce === 0) await nextTurn();
      encoder.add(row, beside, own);
      taken++;
    }
  }
  return sections.length === 1 ? sections[0]!.rows : sections.flatMap(({ rows }) => rows);
}

function requestOf(job: ListingJob, record: ScanRecord): PageRequest {
  const { paged, limit } = shapeOf(job.listing);
  const query = job.queries[record.part] ?? {};
  return {
    path: job.path,
    query: limit === undefined ? query : { ...query, limit },
    limit: PAGE_ROWS,
    paged,
    pagesBefore: record.pages,
    edgesOf(data) {
      const edges = edgesOf(data, job.listing.rows, (row, context) => job.encoder.digest(row, context));
      for (const edge of edges) job.edges?.add(edge);
      return edges;
    },
    signal: job.signal,
    skips: !job.encoder.isPlaced,
    ...(record.cursor === null ? {} : { cursor: record.cursor }),
  };
}

/** The record once a page has been read. Totals of several requests add up to nothing: only a single one's count. */
function advance(job: ListingJob, record: ScanRecord, page: Page, rows: number): ScanRecord {
  const { limit, paged } = shapeOf(job.listing);
  const isSkipped = page.skipped !== undefined;
  const total = job.queries.length > 1 ? null : isSkipped ? record.lastTotal : totalIn(page.data, job.listing);
  const ended = page.isLast;
  noteOddTotal(page.data, job);
  const [first = {}] = job.queries;
  const isNarrowed = Object.keys(first).length > Object.keys(job.stream.query ?? {}).length;
  const came = record.rows + rows;
  // Of the field that the stream names as its count the publish tells.
  const isCounted = total !== null && total > came;
  const isSaidShort = ended && !paged && !isCounted && notesLack(page, came, job.path, job.progress);
  // The guard of an empty list stands where null is all that comes. Beside other pages nobody knows what it left out.
  const isNull = (page.cursor !== undefined || !ended) && hasNullRows(page.data, job.listing.rows);
  if (isNull) noteOnce(job.progress, extractMessages.null_rows({ path: job.path }));
  const isWhole = ended && record.pages === 0 && job.queries.length === 1 && !isNarrowed;
  return {
    ...record,
    pages: record.pages + 1,
    rows: record.rows + rows,
    part: ended ? record.part + 1 : record.part,
    cursor: page.nextCursor ?? null,
    phase: ended && record.part + 1 >= job.queries.length ? "read" : "reading",
    firstTotal: record.pages === 0 ? total : record.firstTotal,
    lastTotal: total,
    oneAnswer: isWhole && rows < (page.limit ?? limit ?? Infinity),
    capped: record.capped || isNull || isSaidShort || (ended && limit !== undefined && rows >= limit),
    date: record.date ?? page.date?.toISOString() ?? null,
  };
}

/** Whether a failure may be the cursor's: of the first request with a kept one any that others don't meet, of one under way a refusal. */
export function mayBeCursor(error: ApiError, isFirst: boolean): boolean {
  if (isFirst) return !meetsOthers(error);
  return error.failure === "invalid" || error.failure === "not_found" || error.failure === "forbidden";
}

/** Whether a list comes in pages, and the most rows that one request for all of it brings. */
export function shapeOf(listing: Scan | Feed): { readonly paged: boolean; readonly limit: number | undefined } {
  if (listing.kind === "feed") return { paged: true, limit: undefined };
  return { paged: listing.paged !== false, limit: listing.limit };
}

/** How many rows a list says it has; null: it doesn't say. */
export function totalIn(data: unknown, { total: path }: Pick<Scan | Feed, "total">): number | null {
  return path === undefined ? null : countIn(valueAt(path.split("."), besideRows(data)));
}

/** A total that is no count is none, which a note says once a run: the list is then compared by its rows alone. */
function noteOddTotal(data: unknown, { path, listing: { total: field }, progress }: ListingJob): void {
  const came = field === undefined ? undefined : valueAt(field.split("."), besideRows(data));
  if (field === undefined || came === undefined || came === null || countIn(came) !== null) return;
  const shown = typeof came === "object" ? nameOf(came) : JSON.stringify(came).slice(0, 40);
  noteOnce(progress, extractMessages.odd_total({ path, field, got: shown }));
}

export interface FirstPage {
  readonly data: unknown;
  readonly rows: readonly unknown[];
  readonly total: number | null;
  readonly hasMore: boolean;
}

/** Asks for the first rows of a list: as many as one request brings, or `most` where it takes a limit. */
export async function firstPage(
  listing: Scan | Feed,
  query: Query | undefined,
  ask: (query: Query, paged: boolean) => Promise<Answer>,
  most?: number,
): Promise<FirstPage> {
  const { paged, limit } = shapeOf(listing);
  const rows = paged ? PAGE_ROWS : limit;
  const { data, pagination } = await ask({ ...query, ...(rows === undefined ? {} : { limit: most ?? rows }) }, paged);
  const hasMore = pagination?.hasMore === true;
  return { data, rows: rowsIn(data, listing.rows), total: totalIn(data, listing), hasMore };
}

function malformed(path: string, rows: Listing["rows"], data: unknown): ApiError {
  const facts = { path, place: placeOfRows(rows), got: insteadOfRows(data, rows) };
  return new ApiError(extractMessages.no_rows(facts), { failure: "malformed", path });
}
