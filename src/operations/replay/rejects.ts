import { randomUUID } from "node:crypto";
import { type Stream, scalarOf } from "../../catalog/stream.ts";
import { Encoder } from "../../rows/encoder.ts";
import { unescapedJson } from "../../rows/json.ts";
import { parseJson } from "../../source/body.ts";
import type { StreamSync, SyncContext } from "../../sync/context.ts";
import { besideRows } from "../../sync/extract/rows_in_answer.ts";
import { publishStage } from "../../sync/load/apply_load.ts";
import { isPlaced } from "../../sync/stream/extraction.ts";
import type { Stage } from "../../warehouse/destination.ts";
import { type KeptReject, knownAmong, rejectsAfter, resolveRejects } from "../../warehouse/state/rejects.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import { beginScan, readScanRecord, type ScanRecord } from "../../warehouse/state/stream_state.ts";
import { replayMessages } from "./messages.ts";

/** Tried in one transaction: what is in memory at a time. */
const AT_ONCE = 1_000;

/**
 * Tries to store a stream's open rejects, newest first, without a request. Rows that the tables hold, or that were deleted since, are only resolved.
 * What still can't be stored stays open.
 */
export async function replayRejects(sync: StreamSync): Promise<void> {
  const { context, stream, progress } = sync;
  const { destination, company } = context;
  const { name } = stream;
  const of = { company, stream: name };
  if ((await rejectsAfter(destination, of, 0, 1)).length === 0) return;
  if (isPlaced(stream)) {
    progress.notes.push(replayMessages.rejects_by_place({ stream: name }));
    return;
  }
  const stage = await destination.stage(company, stream.tables);
  const left = readScanRecord(stage.record);
  const { publishedScan } = await loadStreamState(destination.db, company, name);
  if (left !== undefined && left.rows > 0 && left.scan !== publishedScan) {
    progress.warnings.push(replayMessages.rejects_after_scan({ stream: name }));
    return;
  }
  let staying = 0;
  let tried = 0;
  for (;;) {
    const some = await rejectsAfter(destination, of, staying, AT_ONCE);
    if (some.length === 0) break;
    const settled = await tryAgain(sync, stage, some);
    staying += some.length - settled;
    tried += some.length;
  }
  progress.published = true;
  progress.notes.push(replayMessages.rejects_tried({ stream: name, tried, staying }));
}

async function tryAgain(sync: StreamSync, stage: Stage, rejects: readonly KeptReject[]): Promise<number> {
  const { context, stream, progress } = sync;
  const { clock, destination, company } = context;
  const of = { company, stream: stream.name };
  // Oldest first: of several rows with one key the last one staged counts.
  const { stored } = await stageAgain(context, stream, stage, rejects.toReversed());
  if (stored.size === 0) {
    await stage.drop();
    return 0;
  }
  const known = await knownAmong(destination, company, stream.tables, stage);
  const isNewer = ([seq, { seenAt }]: [number, KeptReject]): boolean => {
    const deleted = known.get(seq);
    return deleted === undefined || (deleted !== null && deleted < seenAt);
  };
  const newer = [...stored].filter(isNewer).map(([, reject]) => reject);
  const digests = [...stored.values()].map(reject => reject.digest);
  if (newer.length === 0) {
    await stage.drop();
    await destination.db
      .transaction()
      .execute(trx => resolveRejects(trx, of, digests, new Date(clock.now()).toISOString()));
    return digests.length;
  }
  const { record } = await stageAgain(context, stream, stage, newer);
  progress.rows(newer.length);
  await publishStage(context, {
    stream,
    stage,
    record,
    progress,
    state: await loadStreamState(destination.db, company, stream.name),
    completeTo: null,
    rejects: digests,
  });
  return digests.length;
}

/** Empties the stage and fills it with the rejects that can be stored; answers which these are, by arrival number. */
async function stageAgain(
  { clock, encoding: { formats, hasher } }: SyncContext,
  stream: Stream,
  stage: Stage,
  rejects: readonly KeptReject[],
): Promise<{ readonly stored: ReadonlyMap<number, KeptReject>; readonly record: ScanRecord }> {
  const begun = beginScan(randomUUID(), "rejects", false, new Date(clock.now()).toISOString());
  await stage.begin(begun);
  const { tables } = stream;
  const encoder = new Encoder({
    tables,
    formats,
    hasher,
    ignored: [],
    highWaterColumn: undefined,
    scalar: scalarOf(stream),
  });
  const stored = new Map<number, KeptReject>();
  for (const reject of rejects) {
    const asItCame = besideRows(parsed(reject.context))["escaped"] === true ? unescapedJson : (text: string) => text;
    const { context, page } = besideRows(parsed(asItCame(reject.context)));
    if (encoder.add(parsed(asItCame(reject.raw)), besideRows(page), besideRows(context)))
      stored.set(encoder.sequence, reject);
  }
  // What they show of the documents is a few rows' word: it is no measure of the table.
  const record: ScanRecord = { ...begun, phase: "read", rows: stored.size, sequence: encoder.sequence };
  await stage.append(encoder.take().batch, record);
  return { stored, record };
}

/** Numerals keep all their digits. */
const parsed = (text: string): unknown => parseJson(Buffer.from(text));
