import { setImmediate as nextTurn } from "node:timers/promises";
import type { Api, Query } from "../api/client.ts";
import { type Page, type PageRequest, readPages } from "../api/pages.ts";
import type { Encoder } from "../encoder.ts";
import { ApiError, DestinationError, HeldError } from "../errors.ts";
import { valueAt } from "../record.ts";
import { placeOfRows, sectionsIn } from "../rows.ts";
import type { ScanRecord } from "../state.ts";
import type { Listing } from "../stream.ts";
import type { Batches } from "./batches.ts";
import type { Tally } from "./tally.ts";

/** Rows asked for a page: the most the service gives. */
export const PAGE_ROWS = 100;

/** A listing to read, from where its record says. */
export interface ListingJob {
  readonly api: Api;
  readonly path: string;
  /** Read one after another: together they are the scan. */
  readonly queries: readonly Query[];
  readonly listing: Listing;
  readonly encoder: Encoder;
  readonly batches: Batches;
  readonly record: ScanRecord;
  readonly signal: AbortSignal;
  readonly tally: Tally;
}

/**
 * The page loop: pages become batches until the listing ends; returns the record of the complete scan, everything stored.
 * When it can't go on (ApiError, the signal's reason) what was read is stored first, so that the next run continues there.
 */
export async function readListing(job: ListingJob): Promise<ScanRecord> {
  const { encoder, batches, tally } = job;
  let record = job.record;
  encoder.sequence = record.sequence;
  try {
    while (record.phase !== "read") {
      for await (const page of readPages(job.api, requestOf(job, record))) {
        const { data, rows } = await takePage(job, page, Number.POSITIVE_INFINITY);
        record = advance(job, record, page, data, rows.length);
        tally.rows(rows.length, record);
        if (batches.due || record.phase === "read") record = await batches.put(record);
      }
    }
    await batches.flush();
    return record;
  } catch (error) {
    if (error instanceof DestinationError || error instanceof HeldError) throw error;
    tally.failedRequest(error);
    // Stored with the pages before it: three runs that end here mean the listing cannot be completed this way.
    const failed = error instanceof ApiError && !isPause(error);
    await batches.put(failed ? failedOnceMore(record) : record);
    await batches.flush();
    throw error;
  }
}

/** Encodes a page's rows, `atOnce` of them at a time: between, answers that have come are taken. @throws ApiError when it doesn't hold any list of rows */
export async function takePage(
  { path, listing, encoder, tally }: Pick<ListingJob, "path" | "listing" | "encoder" | "tally">,
  page: Page,
  atOnce: number,
): Promise<{ readonly data: Record<string, unknown>; readonly rows: readonly unknown[] }> {
  tally.page(page);
  const data = asObject(page.data, path);
  const rows = sectionsIn(data, listing.rows)?.flatMap(section => section.rows);
  if (rows === undefined) throw malformed(path, `rows at ${placeOfRows(listing.rows)}`, data);
  for (const [index, row] of rows.entries()) {
    if (index > 0 && index % atOnce === 0) await nextTurn();
    encoder.add(row, data, {});
  }
  return { data, rows };
}

function requestOf(job: ListingJob, record: ScanRecord): PageRequest {
  return {
    path: job.path,
    query: job.queries[record.part] ?? {},
    limit: PAGE_ROWS,
    paged: true,
    signal: job.signal,
    ...(record.cursor === null ? {} : { cursor: record.cursor }),
  };
}

/** The record once a page has been read. Totals of several requests add up to nothing: only a single one's count. */
function advance(
  job: ListingJob,
  record: ScanRecord,
  page: Page,
  data: Record<string, unknown>,
  rows: number,
): ScanRecord {
  const { total: path } = job.listing;
  const total = path === undefined || job.queries.length > 1 ? null : asTotal(valueAt(path.split("."), data));
  const ended = page.nextCursor === undefined;
  return {
    ...record,
    pages: record.pages + 1,
    rows: record.rows + rows,
    part: ended ? record.part + 1 : record.part,
    cursor: page.nextCursor ?? null,
    phase: ended && record.part + 1 >= job.queries.length ? "read" : "reading",
    firstTotal: record.pages === 0 ? total : record.firstTotal,
    lastTotal: total,
    date: record.date ?? page.date?.toISOString() ?? null,
  };
}

/** Counted by the place, not since the last page: one that names itself as the next is read in each of the runs that end there. */
function failedOnceMore(record: ScanRecord): ScanRecord {
  const failedAt = `${record.part} ${record.cursor ?? ""}`;
  return { ...record, failures: record.failedAt === failedAt ? record.failures + 1 : 1, failedAt };
}

/** Whether an error says "later" or "other key", not "this listing cannot be read". */
function isPause(error: ApiError): boolean {
  return error.failure === "limited" || error.failure === "budget" || error.failure === "unauthorized";
}

function asObject(data: unknown, path: string): Record<string, unknown> {
  if (typeof data === "object" && data !== null && !Array.isArray(data)) return data as Record<string, unknown>;
  throw malformed(path, "an object as data", data);
}

function asTotal(value: unknown): number | null {
  const total = typeof value === "string" ? Number(value) : value;
  return typeof total === "number" && Number.isInteger(total) ? total : null;
}

function malformed(path: string, wanted: string, came: unknown): ApiError {
  const what = came === null ? "null" : Array.isArray(came) ? "an array" : typeof came;
  return new ApiError(
    `${path}: expected ${wanted}, got ${what}. The scan stays incomplete and the next run tries again.`,
    {
      failure: "malformed",
      path,
    },
  );
}
