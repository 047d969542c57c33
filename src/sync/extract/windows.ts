import { setImmediate as nextTurn } from "node:timers/promises";
import type { Feed, Stream } from "../../catalog/stream.ts";
import { ApiError, DestinationError, endOf, LockedError } from "../../errors.ts";
import { differentRows, type OldRow, PLURAL } from "../../rows/old_rows.ts";
import type { Api, Query } from "../../source/api.ts";
import { telling } from "../../source/archive/about.ts";
import { type Page, readPages } from "../../source/pages.ts";
import type { ScanRecord, Window } from "../../warehouse/state/stream_state.ts";
import { mayBeCursor, PAGE_ROWS, takePage } from "./listing.ts";
import { merged } from "./merging.ts";
import { extractMessages } from "./messages.ts";
import type { Reading } from "./reading.ts";
import { edgesOf } from "./rows_in_answer.ts";

const DAY_US = 86_400_000_000;
/** Rows encoded in one turn, half a millisecond: with whole pages each answer waited 4 ms for our encoder. */
const AT_ONCE = 20;

/** A feed that can be asked for a range of dates. */
export type DatedFeed = Feed & { readonly narrow: { readonly by: "dates" } };

export interface WindowsJob {
  /** The windows of its record are what there is to read, `width` of them at the same time, at least. */
  readonly reading: Reading;
  readonly stream: Stream;
  readonly mode: DatedFeed;
  /** Where the window without an end ends, ms since 1970. */
  readonly now: number;
  /** Which row it is, and when it came about; undefined for one that doesn't say when. */
  readonly datedRow: (row: unknown) => OldRow | undefined;
  /** Rows that the filter should have left out before. */
  readonly strays: readonly OldRow[];
  /** Called between batches, with the record of all rows handed over so far; returns the record to go on with. */
  readonly between: (record: ScanRecord) => Promise<ScanRecord>;
}

export interface WindowsResult {
  readonly record: ScanRecord;
  /** Rows that their windows exclude. Where they and those before are several the rest was not read. */
  readonly strays: readonly OldRow[];
}

/** So many windows that the service fails at end the reading: it may be down. A window with malformed pages behind others that came does not count. */
const FAILED_WINDOWS = 3;

interface WindowPage {
  readonly index: number;
  readonly page: Page;
}

/**
 * Reads the windows that aren't done, each from its own cursor, into the same batches: each batch's record says of every window how far the stored rows go.
 * When it can't go on (ApiError, the signal's reason) what was read is stored first.
 */
export async function readWindows(job: WindowsJob): Promise<WindowsResult> {
  const { batches, encoder, progress, api, width } = job.reading;
  const { stream, mode } = job;
  const taker = { path: stream.path, listing: mode, encoder, progress };
  let { record } = job.reading;
  const { windows: begun } = record;
  encoder.sequence = record.sequence;
  const coverage = createCoverage(record.windows, job.now);
  let read = 0;
  let strays: readonly OldRow[] = [];
  const unread: { readonly index: number; readonly error: ApiError }[] = [];
  const leave = (index: number, error: unknown): void => {
    if (!(error instanceof ApiError) || endOf(error) !== "request") throw error;
    const isDown = (each: { readonly index: number; readonly error: ApiError }) =>
      each.error.failure !== "malformed" || record.windows[each.index] === begun[each.index];
    const isLast = isDown({ index, error }) && unread.filter(isDown).length + 1 >= FAILED_WINDOWS;
    if (isLast) throw error;
    progress.failedRequest(error);
    unread.push({ index, error });
  };
  const asked = () => telling(api, { scan: record.scan, full: false, window: true });
  const sources = record.windows.flatMap((window, index) =>
    window.done
      ? []
      : [() => leaving(pagesOf(job, asked(), index, { window, current: () => record.windows[index]! }), index, leave)],
  );
  try {
    for await (const { index, page } of merged(sources, width)) {
      const rows = await takePage(taker, page, {}, AT_ONCE);
      const dated = rows.map(job.datedRow).filter(row => row !== undefined);
      strays = differentRows([...strays, ...straysAmong(record.windows[index]!, dated)]);
      record = advance(record, index, page, rows.length);
      progress.rows(rows.length);
      read += rows.length;
      const times = dated.map(row => row.at);
      coverage.page(index, record.windows[index]!, times);
      const left = coverage.rowsLeft(read);
      progress.activity.total = left === undefined ? undefined : progress.activity.rows + left;
      if (differentRows([...strays, ...job.strays]).length >= PLURAL)
        return { record: await batches.end(record), strays };
      if (batches.due) record = await job.between(await batches.put(record));
      await nextTurn();
    }
    if (unread.length > 0) throw windowsUnread(stream.path, unread, record, read > 0);
    return { record: await batches.end({ ...record, phase: "read" }), strays };
  } catch (error) {
    if (error instanceof DestinationError || error instanceof LockedError) throw error;
    progress.failedRequest(error);
    await batches.end(record);
    throw error;
  }
}

/** The same pages; a failure ends them, and `leave` throws it if it ends the reading. */
async function* leaving(
  pages: AsyncGenerator<WindowPage>,
  index: number,
  leave: (index: number, error: unknown) => void,
): AsyncGenerator<WindowPage> {
  try {
    yield* pages;
  } catch (error) {
    leave(index, error);
  }
}

/** The failure of a reading that left windows open. The requests of each are counted already. */
function windowsUnread(
  path: string,
  unread: readonly { readonly index: number; readonly error: ApiError }[],
  { windows }: ScanRecord,
  hasRows: boolean,
): ApiError {
  const [{ error }] = unread as [(typeof unread)[number]];
  const named = unread.map(({ index }) => windows[index]!).map(({ from, to }) => ({ from, to }));
  const failure = hasRows ? "malformed" : error.failure;
  const facts = { failure, path, status: error.status, attempts: 0 };
  return new ApiError(extractMessages.windows_unread({ path, windows: named, reason: error.message }), facts, error);
}

/** A window's pages; when the service no longer takes a cursor, once from its first page on. */
async function* pagesOf(
  { stream, mode, reading }: WindowsJob,
  api: Api,
  index: number,
  { window: { from, to, cursor }, current }: { readonly window: Window; readonly current: () => Window },
): AsyncGenerator<WindowPage> {
  const request = {
    path: stream.path,
    query: { ...stream.query, ...datesOf(mode, { from, to }) },
    limit: PAGE_ROWS,
    paged: true,
    edgesOf: (data: unknown) => edgesOf(data, mode.rows, (row, context) => reading.encoder.digest(row, context)),
    signal: reading.signal,
    skips: !reading.encoder.isPlaced,
  };
  let read = 0;
  const pagesBefore = current().pages;
  const pages = async function* (start: string | null): AsyncGenerator<WindowPage> {
    for await (const page of readPages(api, start === null ? request : { ...request, cursor: start, pagesBefore })) {
      read++;
      yield { index, page };
    }
  };
  try {
    yield* pages(cursor);
  } catch (error) {
    if (!(error instanceof ApiError) || current().cursor === null || !mayBeCursor(error, read === 0)) throw error;
    reading.progress.failedRequest(error);
    yield* pages(null);
  }
}

export const datesOf = ({ narrow }: DatedFeed, { from, to }: Pick<Window, "from" | "to">): Query => ({
  ...{ [narrow.from]: from },
  ...(to === null ? {} : { [narrow.to]: to }),
});

function advance(record: ScanRecord, index: number, page: Page, rows: number): ScanRecord {
  const windows = record.windows.with(index, {
    ...record.windows[index]!,
    cursor: page.nextCursor ?? null,
    pages: page.cursor === undefined ? 1 : record.windows[index]!.pages + 1,
    done: page.isLast,
  });
  return {
    ...record,
    windows,
    pages: record.pages + 1,
    rows: record.rows + rows,
    date: record.date ?? page.date?.toISOString() ?? null,
  };
}

/** A day of slack on both sides: in which zone the service cuts its days is not known, nor whether the last day belongs to it. */
function straysAmong({ from, to }: Window, rows: readonly OldRow[]): readonly OldRow[] {
  const earliest = Date.parse(from) * 1000 - DAY_US;
  const latest = to === null ? Number.POSITIVE_INFINITY : Date.parse(to) * 1000 + 2 * DAY_US;
  return rows.filter(({ at }) => at < earliest || at >= latest);
}

const FEW_ROWS = 500;

/** How much of a range of time has been read: what tells how long the rest takes, where a list has no total. */
interface Coverage {
  /** A page of a window was read, with rows of these times, in the order of the rows (microseconds since 1970). */
  page(index: number, window: Window, times: readonly number[]): void;
  /** Rows still to come, by those that `rows` of this reading covered; undefined while that says too little. */
  rowsLeft(rows: number): number | undefined;
}

/** The windows of a reading, each as long as its dates say; the open one ends at `now` (ms). */
export function createCoverage(windows: readonly Window[], now: number): Coverage {
  const spans = windows.map(({ from, to }) => {
    const begin = Date.parse(from);
    return { begin, length: Math.max(1, (to === null ? now : Date.parse(to)) - begin) };
  });
  const shares: number[] = windows.map(window => (window.done ? 1 : 0));
  const whole = spans.reduce((sum, span) => sum + span.length, 0);
  const covered = () => shares.reduce((sum, share, index) => sum + share * spans[index]!.length, 0) / whole;
  const before = covered();
  return {
    page(index, { done }, times) {
      const { begin, length } = spans[index]!;
      if (done) shares[index] = 1;
      if (done || times.length === 0) return;
      // Read from its newer end or from its older one: the page itself tells, if it stands in an order of time at all.
      const falls = times.every((time, i) => i === 0 || time <= times[i - 1]!);
      if (!falls && times.some((time, i) => i > 0 && time < times[i - 1]!)) return;
      const last = times.at(-1)! / 1000;
      const share = (falls ? begin + length - last : last - begin) / length;
      shares[index] = Math.max(shares[index]!, Math.min(1, share));
    },
    rowsLeft(rows) {
      const share = covered();
      if (rows < FEW_ROWS || share <= before) return undefined;
      return Math.round((rows * (1 - share)) / (share - before));
    },
  };
}
