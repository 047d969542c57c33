import type { Scan, Stream } from "../../catalog/stream.ts";
import { ApiError, DestinationError, LockedError, meetsOthers } from "../../errors.ts";
import type { Query } from "../../source/api.ts";
import { type About, telling } from "../../source/archive/about.ts";
import { proofIn } from "../../source/evidence.ts";
import { getWhole, type Page, readPages } from "../../source/pages.ts";
import type { ScanRecord } from "../../warehouse/state/stream_state.ts";
import { noteOnce, notesLack, otherThanAsked } from "./answer.ts";
import { PAGE_ROWS, takePage } from "./listing.ts";
import { extractMessages } from "./messages.ts";
import type { Reading } from "./reading.ts";
import { edgesOf, hasNullRows, rowsIn } from "./rows_in_answer.ts";

/** One question of a lookup: its path is built, `context` holds the values by their columns. */
export interface Question {
  readonly path: string;
  readonly query: Query;
  readonly context: Readonly<Record<string, string>>;
}

export interface LookupJob extends Reading {
  readonly stream: Stream;
  readonly questions: readonly Question[];
  readonly listing: Scan;
}

/** When so many questions fail, and more than are answered, the rest would fail too: it is not their values. */
const HOPELESS = 20;

/** Answers wait for the ones before them: so many pages' worth at once. */
const PAGES_WAITING = 4;

type Came = Pick<Page, "data" | "around" | "date" | "skipped" | "requests" | "retries" | "bytes">;

/** All pages of an answer: usually one. */
type Answered = { readonly pages: readonly Came[] } | { readonly error: unknown };

/**
 * Asks every question, several at once, and takes the answers in order: the record says how far the stored rows go, and which questions were refused.
 * When it can't go on (ApiError, the signal's reason) what was read is stored first.
 */
export async function readLookup(job: LookupJob): Promise<ScanRecord> {
  const { encoder, batches, questions } = job;
  let record = job.record;
  encoder.sequence = record.sequence;
  const own = new AbortController();
  const signal = AbortSignal.any([job.signal, own.signal]);
  const coming: Promise<Answered>[] = [];
  let asked = record.part;
  const { pageBytes = Number.POSITIVE_INFINITY } = job.api;
  let largest = 0;
  const refill = (): void => {
    const fitting = largest === 0 ? PAGES_WAITING : Math.floor((PAGES_WAITING * pageBytes) / largest);
    const width = Math.min(job.width, Math.max(1, fitting));
    for (; coming.length < width && asked < questions.length; asked++) coming.push(askOne(job, asked, signal));
  };
  try {
    refill();
    while (record.part < questions.length) {
      const answered = await coming.shift()!;
      largest = Math.max(largest, "pages" in answered ? bytesOf(answered.pages) : 1);
      refill();
      record = await takeAnswer(job, record, answered, coming);
      if (batches.due) record = await batches.put(record);
    }
    return await batches.end({ ...record, phase: "read" });
  } catch (error) {
    own.abort();
    if (error instanceof DestinationError || error instanceof LockedError) throw error;
    await batches.end(record);
    throw error;
  }
}

const bytesOf = (pages: readonly Came[]): number => pages.reduce((sum, { bytes }) => sum + bytes, 0);

async function askOne(job: LookupJob, part: number, signal: AbortSignal): Promise<Answered> {
  const { api, encoder, questions, record, listing } = job;
  const { path, query, context } = questions[part]!;
  const { scan, full } = record;
  const about: Partial<About> = { scan, full, part, parts: questions.length, context };
  const { rows } = listing;
  try {
    if (listing.lookup?.single === true)
      return { pages: [await getWhole(api, path, query, { priority: 1, signal, about })] };
    const edges = (data: unknown) => edgesOf(data, rows, (row, of) => encoder.digest(row, { ...context, ...of }));
    const request = { path, query, limit: PAGE_ROWS, paged: false, ahead: false, edgesOf: edges, signal } as const;
    return { pages: await Array.fromAsync(readPages(telling(api, about), request)) };
  } catch (error) {
    return { error };
  }
}

async function takeAnswer(
  job: LookupJob,
  record: ScanRecord,
  answered: Answered,
  coming: readonly Promise<Answered>[],
): Promise<ScanRecord> {
  const { progress } = job;
  const next = { ...record, part: record.part + 1 };
  try {
    if ("error" in answered) throw answered.error;
    const { pages } = answered;
    let rows = 0;
    for (const page of pages) rows += await takeRows(job, record.part, page);
    const { limit, lookup } = job.listing;
    const last = pages.at(-1);
    const isList = last !== undefined && lookup?.single !== true;
    const isShort = isList && notesLack(last, rows, job.stream.path, progress);
    // An empty answer passes no guard, for what a lookup asks for may have nothing.
    const isNull = isList && pages.some(({ data }) => hasNullRows(data, job.listing.rows));
    if (isNull) noteOnce(progress, extractMessages.null_rows({ path: job.stream.path }));
    const taken = {
      ...next,
      pages: record.pages + pages.length,
      rows: record.rows + rows,
      capped: record.capped || isShort || isNull || (limit !== undefined && rows >= limit),
      date: record.date ?? pages[0]?.date?.toISOString() ?? null,
    };
    progress.rows(rows, taken);
    return taken;
  } catch (error) {
    progress.failedRequest(error);
    if (!(error instanceof ApiError) || meetsOthers(error)) throw error;
    const proof = proofIn(error);
    const forbidden = proof === "refusal";
    if (forbidden && record.pages + record.absent.length === 0 && !(await anyAnswers(coming))) throw error;
    if (proof === "absence") return { ...next, absent: [...record.absent, record.part] };
    const unread = [...record.unread, { part: record.part, reason: error.message }];
    if (!forbidden && unread.length >= HOPELESS && unread.length > next.part / 2) throw error;
    return { ...next, unread };
  }
}

/** Whether one of the questions under way is answered: then this key may read the others. */
async function anyAnswers(coming: readonly Promise<Answered>[]): Promise<boolean> {
  return (await Promise.all(coming)).some(each => "pages" in each);
}

async function takeRows(job: LookupJob, part: number, answer: Came): Promise<number> {
  const { encoder, listing, progress, stream } = job;
  const { path, context } = job.questions[part]!;
  const single = listing.lookup?.single === true;
  // Stored, it would be a row that nobody asked for, and what was asked for would look as if it had gone.
  const other = otherThanAsked(stream, single ? [answer.data] : rowsIn(answer.data, listing.rows), context);
  if (other !== undefined)
    throw new ApiError(extractMessages.other_key({ path, ...other }), { failure: "malformed", path });
  if (single) {
    progress.page(answer);
    encoder.add(answer.data, {}, context);
    return 1;
  }
  const rows = await takePage({ path, listing, encoder, progress }, answer, context, Number.POSITIVE_INFINITY);
  return rows.length;
}
