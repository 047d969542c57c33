import { randomUUID } from "node:crypto";
import { INDEX_COLUMN } from "../../catalog/columns.ts";
import { lookupOf } from "../../catalog/lookup.ts";
import { type Stream, scalarOf } from "../../catalog/stream.ts";
import { Encoder } from "../../rows/encoder.ts";
import { canonicalJson, storable } from "../../rows/json.ts";
import { readMoment } from "../../rows/moment.ts";
import { type Reject, rejectDigest } from "../../rows/reject.ts";
import { schemaFingerprint, volatileTreatments } from "../../rows/schema_fingerprint.ts";
import { cleaned } from "../../source/archive/cleaning.ts";
import type { Stage } from "../../warehouse/destination.ts";
import { stagedAnswers } from "../../warehouse/merge/outcomes.ts";
import { type NewReject, saveRejects } from "../../warehouse/state/rejects.ts";
import { saveStreamState } from "../../warehouse/state/run_log.ts";
import { beginScan, readScanRecord, type ScanRecord, type StreamState } from "../../warehouse/state/stream_state.ts";
import type { Encoding, StreamSync, SyncContext } from "../context.ts";
import { Batches } from "../extract/batches.ts";
import type { Intake } from "../extract/reading.ts";
import { boundOf, fingerprint } from "../extract/scan_plan.ts";
import { HeldStage } from "../load/held_stage.ts";
import { streamMessages } from "./messages.ts";

/** What a scan asks for; only the same request goes on with it. */
export interface Request {
  readonly query: object;
  readonly full: boolean;
}

export interface Extraction<R extends Request = Request> extends Intake {
  readonly request: R;
  readonly stage: Stage;
  /** Rows of the stage come from an earlier run. */
  readonly resumed: boolean;
}

/** Remembers a stream's state, without a publish. */
export async function keepState({ destination, company, clock }: SyncContext, { name }: Stream, state: StreamState) {
  const now = new Date(clock.now()).toISOString();
  await destination.db.transaction().execute(trx => saveStreamState(trx, company, name, state, now));
}

/** Whether a stream's rows are told apart by their place among those whose key is otherwise the same. */
export function isPlaced({ mode, key }: Stream): boolean {
  return mode.kind !== "detail" && key.includes(INDEX_COLUMN);
}

/** The encoder of a stream's rows, of which those from before `start` (YYYY-MM-DD) are left out where they say when they came about. */
export function encoderOf({ formats, hasher, redact }: Encoding, stream: Stream, start: string | undefined): Encoder {
  const { mode, tables } = stream;
  return new Encoder({
    ...{ tables, formats, hasher, redact },
    ignored: mode.kind === "snapshot" ? (mode.omit ?? []) : [],
    highWaterColumn: mode.kind === "feed" ? mode.highWaterColumn : undefined,
    from: start === undefined ? undefined : readMoment(start, formats),
    scalar: scalarOf(stream),
    placed: isPlaced(stream),
  });
}

/** Opens the stage, and continues what lies in it if the same request began it: this one, or the one `begun` before, which is not begun any more. */
export async function openExtraction<R extends Request>(
  sync: StreamSync,
  state: StreamState,
  request: R,
  begun?: R,
): Promise<Extraction<R>> {
  const { context, stream, progress } = sync;
  const durable = await context.destination.stage(context.company, stream.tables);
  // A work list is made from what is staged.
  const stage = stream.mode.kind === "detail" ? durable : new HeldStage(durable);
  const encoder = encoderOf(context.encoding, stream, context.policy.start);
  const batches = new Batches(stage, {
    ...{ encoder, clock: context.clock, limiter: context.service.limiter },
    keepRejects: (rejects, scan) => keepRejects(context, stream, rejects, scan),
    archived: () => context.service.archived(),
  });
  const stored = readScanRecord(stage.record);
  const unwanted = stored !== undefined && isUnwanted(context, stream, stored);
  const requests = begun === undefined ? [request] : [request, begun];
  const same = requests.find(each => stored?.fingerprint === printOf(context, stream, each));
  // Killed between a publish and the emptying of its stage, a run leaves a scan that is in the tables already.
  const wasPublished = stored?.scan === state.publishedScan;
  const continued = same !== undefined && !wasPublished ? stored : undefined;
  // A row that moved to a later page meanwhile would be taken for one more of its key; a lookup's answers are whole.
  const lost = isPlaced(stream) && lookupOf(stream) === undefined && continued?.phase === "reading";
  if (same !== undefined && continued !== undefined && !lost && !unwanted) {
    progress.run.carried = continued.rows;
    progress.activity.rows = continued.rows;
    // A scan that never got an answer is as young as its first one: nothing of it can have moved meanwhile.
    const startedAt = continued.pages === 0 ? new Date(context.clock.now()).toISOString() : continued.startedAt;
    return { stage, encoder, batches, record: { ...continued, startedAt }, request: same, resumed: true };
  }
  if (unwanted && continued !== undefined) await noteThrownAway(sync, stage, continued);
  else if (lost && continued.rows > 0)
    progress.notes.push(streamMessages.read_again({ stream: stream.name, pages: continued.pages }));
  const record = await startAfresh(context, stage, printOf(context, stream, request), request.full, continued);
  return { stage, encoder, batches, record, request, resumed: false };
}

/** Whether an order for all of it, --full or --details, came after the scan was begun: it is not what was asked for. */
function isUnwanted({ policy }: SyncContext, { mode }: Stream, { startedAt }: ScanRecord): boolean {
  const { afreshSince } = policy;
  const isOrdered = mode.kind === "detail" ? policy.allDetails : policy.full && mode.kind !== "snapshot";
  if (!isOrdered || afreshSince === undefined) return false;
  // An attempt of the same order may have begun the others.
  return startedAt <= afreshSince;
}

/** Notes what such an order throws away. */
async function noteThrownAway(
  { context, stream, progress }: StreamSync,
  stage: Stage,
  { pages, rows }: ScanRecord,
): Promise<void> {
  const isDetail = stream.mode.kind === "detail";
  const [option, what] = isDetail ? (["--details", "details"] as const) : (["--full", "pages"] as const);
  const read = isDetail ? await stagedAnswers(context.destination, stage) : pages;
  if (read > 0) progress.notes.push(streamMessages.begun_afresh({ stream: stream.name, option, read, what, rows }));
}

function printOf(context: SyncContext, stream: Stream, { query, full }: Request): string {
  const start = boundOf(stream, context.policy.start);
  return fingerprint([
    stream.path,
    query,
    full,
    context.policy.ofStream(stream.name).statuses,
    schemaFingerprint(stream.tables, context.encoding.hasher),
    context.company,
    context.service.baseUrl,
    context.encoding.formats,
    ...volatileTreatments(stream.tables),
    ...(start === undefined ? [] : [start]),
  ]);
}

/** Empties the stage for a new scan of the same request. */
export async function startAfresh(
  context: SyncContext,
  stage: Stage,
  print: string,
  full: boolean,
  before?: ScanRecord,
): Promise<ScanRecord> {
  const record = newScan(context, print, full, before);
  await stage.begin(record);
  return record;
}

/** How many runs failed with the scan `before` it is not forgotten. */
export function newScan({ clock }: SyncContext, print: string, full: boolean, before?: ScanRecord): ScanRecord {
  const begun = beginScan(randomUUID(), print, full, new Date(clock.now()).toISOString());
  return { ...begun, failures: before?.failures ?? 0 };
}

async function keepRejects(
  context: SyncContext,
  { name, tables }: Stream,
  rejects: readonly Reject[],
  scan: string,
): Promise<void> {
  const { runId: run_id, company } = context;
  const { redact } = context.encoding;
  const seen_at = new Date(context.clock.now()).toISOString();
  const rows = new Map<string, NewReject>();
  for (const reject of rejects) {
    const { raw, reason, key, field, beside, parent, further } = reject;
    const digest = rejectDigest(tables, reject);
    const known = rows.get(digest);
    rows.set(digest, {
      ...{ run_id, company, stream: name, digest, scan, reason, seen_at },
      raw: rawText(raw, redact),
      key: key === undefined ? null : storable(key),
      field: field ?? null,
      context: rawText(needsEscapes(raw, beside) ? { ...beside, escaped: true } : beside, redact),
      parent_key: parent ?? null,
      rows: (known?.rows ?? 0) + Math.max(1, further),
    });
  }
  await saveRejects(context.destination, { company, stream: name }, [...rows.values()]);
}

/** Whether what is kept holds escapes that did not come: a second try must not take them for the value. */
function needsEscapes(...values: readonly unknown[]): boolean {
  try {
    return canonicalJson(values).noted !== undefined;
  } catch {
    return false;
  }
}

function rawText(raw: unknown, redact: Encoding["redact"]): string {
  try {
    return (
      cleaned(canonicalJson(raw).text, redact) ?? JSON.stringify("(holds a secret that cannot be taken out of it)")
    );
  } catch {
    return JSON.stringify("(nested too deeply to be kept)");
  }
}
