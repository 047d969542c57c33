import { randomUUID } from "node:crypto";
import type { Stage } from "../destinations/destination.ts";
import { saveRejects } from "../destinations/run_log.ts";
import { canonicalJson } from "../encode/json.ts";
import { Encoder, layoutStamp } from "../encoder.ts";
import { Batches } from "../extract/batches.ts";
import type { Tally } from "../extract/tally.ts";
import { beginScan, readScanRecord, type ScanRecord, type StreamState } from "../state.ts";
import type { Stream } from "../stream.ts";
import type { SyncContext } from "./context.ts";
import { fingerprint } from "./scan_plan.ts";

/** A stream's stage, encoder and batches, and the record to go on from. */
export interface Extraction {
  readonly stage: Stage;
  readonly encoder: Encoder;
  readonly batches: Batches;
  readonly record: ScanRecord;
  /** Rows of the stage come from an earlier run. */
  readonly resumed: boolean;
}

/** Opens the stage and decides whether what lies in it may be continued: only by the request that began it. */
export async function openExtraction(
  context: SyncContext,
  stream: Stream,
  state: StreamState,
  request: { readonly query: object; readonly full: boolean },
  tally: Tally,
): Promise<Extraction> {
  const { mode } = stream;
  const stage = await context.destination.stage(context.company, stream.tables);
  const encoder = new Encoder({
    tables: stream.tables,
    formats: context.formats,
    hasher: context.hasher,
    ignored: mode.kind === "snapshot" ? (mode.omit ?? []) : [],
    mark: mode.kind === "feed" ? mode.mark : undefined,
  });
  const batches = new Batches(stage, encoder, context.clock, rejects => keepRejects(context, stream, rejects));
  const stamp = layoutStamp(stream.tables, context.hasher);
  const print = fingerprint([
    stream.path,
    request.query,
    request.full,
    context.policyOf(stream.name).statuses,
    stamp,
    context.company,
    context.baseUrl,
    context.formats,
  ]);
  const stored = readScanRecord(stage.record);
  if (stored !== undefined && stored.fingerprint === print && stored.scan !== state.publishedScan) {
    tally.run.carried = stored.rows;
    tally.activity.rows = stored.rows;
    // A scan that never got an answer is as young as its first one: nothing of it can have moved meanwhile.
    const record = stored.pages === 0 ? { ...stored, startedAt: new Date(context.clock.now()).toISOString() } : stored;
    return { stage, encoder, batches, record, resumed: true };
  }
  return { stage, encoder, batches, record: await startAfresh(context, stage, print, request.full), resumed: false };
}

/** Empties the stage for a new scan of the same request. */
export async function startAfresh(
  context: SyncContext,
  stage: Stage,
  print: string,
  full: boolean,
): Promise<ScanRecord> {
  const record = beginScan(randomUUID(), print, full, new Date(context.clock.now()).toISOString());
  await stage.begin(record);
  return record;
}

async function keepRejects(
  context: SyncContext,
  stream: Stream,
  rejects: readonly { readonly raw: unknown; readonly reason: string }[],
): Promise<void> {
  const seen_at = new Date(context.clock.now()).toISOString();
  const rows = rejects.map(({ raw, reason }) => {
    return { run_id: context.runId, company: context.company, stream: stream.name, raw: rawText(raw), reason, seen_at };
  });
  await saveRejects(context.destination.db, rows);
}

function rawText(raw: unknown): string {
  try {
    return canonicalJson(raw).text;
  } catch {
    return JSON.stringify("(nested too deeply to be kept)");
  }
}
