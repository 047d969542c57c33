import type { Api } from "../api/client.ts";
import type { Limiter } from "../api/limit.ts";
import { buildPath, PathError } from "../api/path.ts";
import type { Clock } from "../clock.ts";
import type { WorkItem, WorkList } from "../destinations/work_list.ts";
import type { Encoder } from "../encoder.ts";
import { ApiError } from "../errors.ts";
import { textOf } from "../record.ts";
import type { ScanRecord } from "../state.ts";
import { pathParameters, type Stream } from "../stream.ts";
import type { Batches } from "./batches.ts";
import { inParallel } from "./parallel.ts";
import type { Tally } from "./tally.ts";

/** The details of one stream to fetch. */
export interface DetailsJob {
  readonly api: Api;
  readonly limiter: Limiter;
  readonly stream: Stream;
  /** Parent's column for each parameter of the path. */
  readonly columns: Readonly<Record<string, string>>;
  /** Fixed paths that an id must not turn into. */
  readonly siblings: readonly string[];
  readonly work: WorkList;
  readonly encoder: Encoder;
  readonly batches: Batches;
  readonly record: ScanRecord;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly tally: Tally;
  /** Called between batches; what was handed over by then is stored. Returns the record to go on with. */
  readonly between: (record: ScanRecord) => Promise<ScanRecord>;
}

/** How the requests ended. */
export interface DetailsResult {
  readonly record: ScanRecord;
  readonly ok: number;
  readonly absent: number;
  readonly failed: number;
  readonly firstFailure: string | undefined;
}

type Answered =
  | { readonly item: WorkItem; readonly data: Record<string, unknown>; readonly at: string }
  | { readonly item: WorkItem; readonly absent: boolean; readonly reason: string; readonly at: string };

/** When most of the first requests fail, the rest would too: the service is down, not one order. */
const HOPELESS = 20;

/** Fetches the work list, several at once. Stops at the signal, a refused key or a limit, with everything so far stored. */
export async function readDetails(job: DetailsJob): Promise<DetailsResult> {
  const { encoder, batches, tally } = job;
  let record = job.record;
  encoder.sequence = record.sequence;
  const counts = { ok: 0, absent: 0, failed: 0, firstFailure: undefined as string | undefined };
  const width = job.limiter.state.maximum * 2;
  try {
    for await (const answered of inParallel(items(job.work), width, item => fetchDetail(job, item))) {
      if ("data" in answered) {
        counts.ok++;
        encoder.add(answered.data, {}, contextOf(answered.item));
        encoder.outcome({ ...ledgerFacts(answered), outcome: "ok", reason: undefined });
        tally.rows(1);
        record = { ...record, rows: record.rows + 1 };
      } else {
        if (answered.absent) counts.absent++;
        else counts.failed++;
        if (!answered.absent) counts.firstFailure ??= answered.reason;
        encoder.outcome({
          ...ledgerFacts(answered),
          outcome: answered.absent ? "absent" : "failed",
          reason: answered.reason,
        });
      }
      if (counts.failed >= HOPELESS && counts.failed > counts.ok + counts.absent) break;
      if (batches.due) {
        record = await batches.put(record);
        record = await job.between(record);
      }
    }
  } finally {
    record = await batches.put(record);
    await batches.flush();
  }
  return { record, ...counts };
}

async function* items(work: WorkList): AsyncGenerator<WorkItem> {
  for (let chunk = await work.next(1_000); chunk.length > 0; chunk = await work.next(1_000)) yield* chunk;
}

async function fetchDetail(job: DetailsJob, item: WorkItem): Promise<Answered> {
  const { stream, api, clock, tally } = job;
  const at = () => new Date(clock.now()).toISOString();
  try {
    const params = Object.fromEntries(
      pathParameters(stream.path).map(name => [name, item.params[job.columns[name]!]!]),
    );
    const path = buildPath(stream.path, params, job.siblings);
    const answer = await api.get(path, stream.query ?? {}, { priority: 0, signal: job.signal });
    tally.page(answer);
    const data = answer.data;
    if (typeof data !== "object" || data === null || Array.isArray(data)) {
      return { item, absent: false, reason: `${path}: expected an object as data`, at: at() };
    }
    const mismatch = otherKey(stream, data as Record<string, unknown>, item);
    if (mismatch !== undefined) return { item, absent: false, reason: `${path}: ${mismatch}`, at: at() };
    return { item, data: data as Record<string, unknown>, at: at() };
  } catch (error) {
    if (error instanceof PathError) return { item, absent: false, reason: error.message, at: at() };
    tally.failedRequest(error);
    if (!(error instanceof ApiError) || endsRun(error)) throw error;
    return { item, absent: error.failure === "not_found", reason: error.message, at: at() };
  }
}

function endsRun(error: ApiError): boolean {
  return ["unauthorized", "forbidden", "limited", "budget"].includes(error.failure);
}

/** An answer that names its key must name the one that was asked for. */
function otherKey(stream: Stream, data: Record<string, unknown>, item: WorkItem): string | undefined {
  for (const name of stream.key) {
    const wanted = item.params[name];
    const column = stream.tables.main.columns.find(candidate => candidate.name === name);
    if (wanted === undefined || column?.source !== "row") continue;
    const came = textOf(data[column.path[0]!]);
    if (came !== wanted) return `expected ${name} ${wanted}, got ${came ?? "none"}`;
  }
  return undefined;
}

function contextOf(item: WorkItem): Record<string, unknown> {
  return item.params;
}

function ledgerFacts({ item, at }: Answered) {
  return { parentKey: item.parentKey, parentHash: item.parentHash, fetchedAt: at };
}
