import { INDEX_COLUMN } from "../../catalog/columns.ts";
import { type Detail, pathParameters, type Stream } from "../../catalog/stream.ts";
import { ApiError, meetsOthers } from "../../errors.ts";
import { telling } from "../../source/archive/about.ts";
import { proofIn } from "../../source/evidence.ts";
import { getWhole, type Page, readPages } from "../../source/pages.ts";
import { buildPath, PathError } from "../../source/path.ts";
import type { WorkItem, WorkList } from "../../warehouse/details/work_list.ts";
import type { ScanRecord } from "../../warehouse/state/stream_state.ts";
import { notesLack, type Part, partOf, UnfitError } from "./answer.ts";
import { PAGE_ROWS } from "./listing.ts";
import { inParallel } from "./parallel.ts";
import type { Reading } from "./reading.ts";
import { edgesOf } from "./rows_in_answer.ts";

export interface DetailRequest {
  readonly stream: Stream;
  readonly mode: Detail;
  /** Parent's column for each parameter of the path. */
  readonly columns: Readonly<Record<string, string>>;
  /** Parent's column for each column that the detail's key begins with. */
  readonly keys: Readonly<Record<string, string>>;
  readonly siblings: readonly string[];
  readonly priority: number;
}

export interface DetailsJob extends Reading {
  readonly request: DetailRequest;
  readonly work: WorkList;
  /** An earlier run stored rows of it. */
  readonly wasRead?: boolean;
  /** When a detail that has just come was fetched, ISO 8601. */
  readonly timeOf: (item: WorkItem) => string;
  /** Called between batches; what was handed over by then is stored. Returns the record to go on with. */
  readonly between: (record: ScanRecord) => Promise<ScanRecord>;
}

export interface DetailsResult {
  readonly record: ScanRecord;
  readonly ok: number;
  readonly absent: number;
  readonly failed: number;
  readonly firstFailure: string | undefined;
}

/** An answer, or the beginning of one: `rest` are the pages that were not read ahead. */
interface Fetched {
  readonly item: WorkItem;
  readonly at: string;
  readonly parts: readonly Part[];
  readonly rest: AsyncGenerator<Page> | undefined;
  /** Gives back what a large answer takes of the memory that all share. */
  readonly release?: (() => void) | undefined;
}

interface Refused {
  readonly item: WorkItem;
  readonly at: string;
  readonly absent: boolean;
  readonly reason: string;
  /** A 403, which may be about this one or about all. */
  readonly forbidden?: ApiError;
}

/** When most of the first requests fail, the rest would too: the service is down, not one order. */
const HOPELESS = 20;
/** Pages of one parent that are read while others are, and their bytes: more would be more in memory. */
const PAGES_AHEAD = 10;
const BYTES_AHEAD = 1024 * 1024;

/** Fetches the work list, several at once. Stops at the signal, a refused key or a limit, with everything so far stored. */
export async function readDetails(job: DetailsJob): Promise<DetailsResult> {
  const { encoder, batches, width } = job;
  const { mode } = job.request;
  const scan = { record: job.record };
  encoder.sequence = scan.record.sequence;
  // An answer's rows are those since the outcome before: what an earlier run began and never ended is cut off by this one.
  if (mode.rows !== undefined && scan.record.sequence > 0)
    encoder.outcome({
      ...noParent,
      fetchedAt: job.record.startedAt,
      outcome: "failed",
      reason: "an earlier run ended here",
    });
  const counts = { ok: 0, absent: 0, failed: 0, firstFailure: undefined as string | undefined };
  const items = queueOf(job.work);
  /** Answers that wait to be taken hold their memory, also when nobody comes for them any more. */
  const held = new Set<() => void>();
  const note = (refused: Refused): void => {
    if (refused.absent) counts.absent++;
    else {
      counts.failed++;
      counts.firstFailure ??= refused.reason;
    }
    encoder.outcome({
      ...rowStateFacts(refused),
      outcome: refused.absent ? "absent" : "failed",
      reason: refused.reason,
    });
  };
  const isHopeless = () => counts.failed >= HOPELESS && counts.failed > counts.ok + counts.absent;
  try {
    for (let going = true; going; ) {
      const forbidden: Refused[] = [];
      const next = items(() => forbidden.length === 0);
      const fetchNext = async (item: WorkItem) => {
        const answered = await fetchDetail({ ...job, record: scan.record }, item);
        if ("parts" in answered && answered.release !== undefined) held.add(answered.release);
        return answered;
      };
      for await (const answered of inParallel(next, width, fetchNext)) {
        if ("parts" in answered) {
          const refused = await takeAnswer(job, answered, scan);
          if (answered.release !== undefined) held.delete(answered.release);
          answered.release?.();
          if (refused === undefined) counts.ok++;
          else note(refused);
        } else if (tellsOfAll(answered) && counts.ok === 0) forbidden.push(answered);
        else note(answered);
        if (isHopeless()) break;
        if (batches.due) {
          scan.record = await batches.put(scan.record);
          scan.record = await job.between(scan.record);
        }
      }
      // The others that were under way tell whether this key may read none of them or only not this one. A single one tells nothing of those that are stored.
      if (forbidden.length > (job.wasRead === true ? 1 : 0) && counts.ok === 0) throw forbidden[0]!.forbidden;
      for (const refused of forbidden) note(refused);
      going = forbidden.length > 0 && !isHopeless();
    }
  } finally {
    for (const release of held) release();
    scan.record = await batches.end(scan.record);
  }
  return { ...scan, ...counts };
}

/** A 403 may be about all details; one that failed before says nothing of the others. */
const tellsOfAll = ({ forbidden, item }: Refused): boolean => forbidden !== undefined && item.reason !== "retry";

const noParent = { parentKey: "", parentHash: "0" };

/** The work list, to be gone on with where it was left. */
function queueOf(work: WorkList): (goOn: () => boolean) => AsyncGenerator<WorkItem> {
  let chunk: WorkItem[] = [];
  let at = 0;
  return async function* items(goOn) {
    while (goOn()) {
      if (at === chunk.length) {
        chunk = await work.next(1_000);
        at = 0;
        if (chunk.length === 0) return;
      }
      yield chunk[at++]!;
    }
  };
}

async function fetchDetail(job: DetailsJob, item: WorkItem): Promise<Fetched | Refused> {
  const { progress, signal, timeOf } = job;
  const { stream, mode, priority, columns, keys, siblings } = job.request;
  const refused = (reason: string) => ({ item, absent: false, reason, at: timeOf(item) });
  const parts: Part[] = [];
  let release: (() => void) | undefined;
  const { parentKey: key, parentHash: hash, params } = item;
  const api = telling(job.api, { scan: job.record.scan, parent: { key, hash, params } });
  const values = Object.fromEntries(pathParameters(stream.path).map(name => [name, item.params[columns[name]!]!]));
  try {
    const path = buildPath(stream.path, values, siblings);
    const query = stream.query ?? {};
    const asked = Object.entries(keys).map(([own, parents]) => [own, item.params[parents]!] as const);
    if (mode.paged !== true && mode.rows === undefined) {
      const answer = await getWhole(api, path, query, { priority, signal, holds: true });
      progress.page(answer);
      release = answer.release;
      const parts = [partOf(stream, mode, answer, asked, path)];
      return { item, parts, rest: undefined, at: timeOf(item), release };
    }
    const digest = (row: unknown, context: object) => job.encoder.digest(row, { ...context });
    const edges = (data: unknown) => (mode.rows === undefined ? [digest(data, {})] : edgesOf(data, mode.rows, digest));
    const paged = mode.paged === true;
    const shared = { path, query, limit: PAGE_ROWS, paged, signal, priority } as const;
    const request = { ...shared, edgesOf: edges, ahead: false } as const;
    const pages = readPages(api, request);
    let bytes = 0;
    for (let page = await pages.next(); page.done !== true; page = await pages.next()) {
      progress.page(page.value);
      const isWhole = page.value.isLast && parts.length === 0;
      // A whole answer holds its memory until it is taken; what waits here would keep the pages after it from coming.
      if (isWhole) release = () => void pages.return(undefined);
      else page.value.release();
      parts.push(partOf(stream, mode, page.value, asked, path));
      if (isWhole) return { item, parts, rest: undefined, at: timeOf(item), release };
      bytes += page.value.bytes;
      if (parts.length === PAGES_AHEAD || bytes > BYTES_AHEAD) return { item, parts, rest: pages, at: timeOf(item) };
    }
    return { item, parts, rest: undefined, at: timeOf(item) };
  } catch (error) {
    release?.();
    if (error instanceof PathError || error instanceof UnfitError) return refused(error.message);
    progress.failedRequest(error);
    if (!(error instanceof ApiError) || meetsOthers(error)) throw error;
    const proof = proofIn(error);
    if (proof === "refusal") return { ...refused(error.message), forbidden: error };
    // Once it has begun to answer it is there, whatever became of its further pages.
    return { ...refused(error.message), absent: proof === "absence" && parts.length === 0 };
  }
}

/** Encodes an answer's rows and, after the last of them, its outcome; a refusal when its further pages don't come. */
async function takeAnswer(
  job: DetailsJob,
  fetched: Fetched,
  scan: { record: ScanRecord },
): Promise<Refused | undefined> {
  const { encoder, batches, progress } = job;
  const { mode, stream, keys } = job.request;
  const { item, parts, rest, at } = fetched;
  const own = Object.fromEntries(Object.entries(keys).map(([name, parents]) => [name, item.params[parents]!]));
  const context = { ...item.params, ...own };
  encoder.parent = item.parentKey;
  let place = 0;
  let unstorable = 0;
  let last: Pick<Part, "beside" | "around"> = { beside: {}, around: {} };
  const take = (part: Part): void => {
    last = part;
    const { rows, beside, column } = part;
    for (const { section, row } of rows) {
      const known = mode.rows === undefined ? context : { ...context, [INDEX_COLUMN]: place };
      const placed = column === undefined ? known : { ...known, [column]: section };
      if (!encoder.add(row, beside, placed)) unstorable++;
      place++;
    }
    progress.run.rows_read += rows.length;
    scan.record = { ...scan.record, rows: scan.record.rows + rows.length };
  };
  try {
    for (const part of parts) take(part);
    for await (const page of rest ?? []) {
      progress.page(page);
      take(partOf(stream, mode, page, Object.entries(own), stream.path));
      if (batches.due) scan.record = await batches.put(scan.record);
    }
  } catch (error) {
    if (error instanceof ApiError) progress.failedRequest(error);
    else if (!(error instanceof UnfitError)) throw error;
    if (error instanceof ApiError && meetsOthers(error)) throw error;
    return { item, at, absent: false, reason: error.message };
  }
  progress.activity.rows++;
  // Of an answer that was not stored whole nobody knows what it lacks.
  const isList = mode.rows !== undefined;
  const isShort = isList && notesLack({ ...last, data: last.beside }, place, stream.path, progress);
  const unstored = isList && unstorable > 0 ? `${unstorable} of its rows could not be stored` : undefined;
  const reason = unstored ?? (isShort ? "the service says that it has more rows" : undefined);
  encoder.outcome({ ...rowStateFacts(fetched), outcome: "ok", reason });
  return undefined;
}

function rowStateFacts({ item, at }: Pick<Fetched, "item" | "at">) {
  return { parentKey: item.parentKey, parentHash: item.parentHash, fetchedAt: at };
}
