import { randomUUID } from "node:crypto";
import type { Encoder } from "../../rows/encoder.ts";
import type { Stage } from "../../warehouse/destination.ts";
import { loadStreamState, PUBLISHING_COUNTERS } from "../../warehouse/state/run_log.ts";
import {
  type BackfillPlan,
  beginScan,
  readScanRecord,
  type ScanRecord,
  type StreamState,
} from "../../warehouse/state/stream_state.ts";
import type { StreamSync } from "../context.ts";
import type { Batches } from "../extract/batches.ts";
import { publishStage } from "../load/apply_load.ts";
import { StreamProgress } from "../stream_progress.ts";
import { openExtraction, startAfresh } from "./extraction.ts";

/**
 * Rows that are worth a publish of their own while reading goes on: a little more than one of DuckDB's row groups, which
 * then goes to the file past the log (25,000 cost a fifth more CPU). Later ones are larger, as each compares with all before.
 */
const WORTH_ROWS = 62_000;
const WORTH_SHARE = 1 / 8;
/** What a publish takes anyway is a tenth of a second: as long as these rows do. */
const LAST_ROWS = 5_000;

/**
 * Windows that are published while the next rows are read: where the destination has a spare stage the two take turns, one
 * being filled while the other is published. A stage's record names the scan before it (`follows`), and counts only while
 * that one is the last that was published: what another run published in between makes it void, and its rows are read again.
 */
export interface DoubleBufferedStage {
  readonly encoder: Encoder;
  readonly batches: Batches;
  /** What to go on from. */
  readonly record: ScanRecord;
  /** Called between batches: publishes what is worth it. */
  between(record: ScanRecord): Promise<ScanRecord>;
  /** Publishes the rest. */
  finish(record: ScanRecord): Promise<void>;
  /** After an error: waits for a publish under way, and publishes the rest where that is wanted. */
  leave(publishing: boolean): Promise<void>;
  /** Drops what is staged: its rows are read again. */
  forget(record: ScanRecord): Promise<void>;
}

interface StageBuffer {
  readonly stage: Stage;
  /** Undefined: nothing in it counts. */
  readonly record: ScanRecord | undefined;
}

/** Opens the stages of a feed that is read in windows, and decides what in them may be gone on with. */
export async function openDoubleBufferedStage(sync: StreamSync, plan: BackfillPlan): Promise<DoubleBufferedStage> {
  const { context, stream, progress } = sync;
  const { clock, company, destination, policy } = context;
  const state = await loadStreamState(destination.db, company, stream.name);
  const { publishedScan } = state;
  const request = { query: { ...stream.query, backfill: [plan.from, plan.to] }, full: false };
  const extraction = await openExtraction(sync, state, request);
  const { encoder, batches } = extraction;
  const { fingerprint } = extraction.record;
  const spare = await destination.spareStage(company, stream.tables);
  const buffers: StageBuffer[] = [bufferOf(extraction.stage), ...(spare === undefined ? [] : [bufferOf(spare)])];
  const first = buffers.find(({ record }) => record?.follows === publishedScan);
  const second = buffers.find(({ record }) => record !== undefined && record.follows === first?.record?.scan);
  progress.run.carried = (first?.record?.rows ?? 0) + (second?.record?.rows ?? 0);
  progress.activity.rows = progress.run.carried;

  let active = (second ?? first ?? buffers[0]!).stage;
  let idle = buffers.find(({ stage }) => stage !== active)?.stage;
  let publishing: Promise<void> | undefined;
  const failures: unknown[] = [];
  let published = clock.now();
  let publishedRows = 0;
  if (first !== undefined && second !== undefined) await publish(first.stage, first.record!, progress);
  else if (idle?.record !== undefined) await idle.drop();
  const found = (second ?? first)?.record;
  const record = found ?? {
    ...(await startAfresh(context, active, fingerprint, false)),
    windows: plan.windows,
    follows: publishedScan,
  };
  await batches.turnTo(active);

  return {
    encoder,
    batches,
    record,
    async between(record) {
      if (failures.length > 0) throw failures[0];
      const late = clock.now() - published >= policy.publishEveryMs;
      const worth = idle !== undefined && record.rows >= worthRows();
      if (publishing !== undefined || !(late || worth)) return record;
      const full = active;
      const next = idle ?? active;
      await batches.turnTo(next);
      const fresh = () => ({
        ...beginScan(randomUUID(), fingerprint, false, new Date(clock.now()).toISOString()),
        windows: record.windows,
        follows: record.scan,
      });
      if (next === full) {
        await publish(full, record, progress);
        const begun = fresh();
        await next.begin(begun);
        return begun;
      }
      const begun = fresh();
      await next.begin(begun);
      active = next;
      idle = full;
      publishing = aside(full, record)
        .catch(error => void failures.push(error))
        .finally(() => {
          publishing = undefined;
        });
      return begun;
    },
    async finish(record) {
      await publishing;
      if (failures.length > 0) throw failures[0];
      await publish(active, record, progress);
      await idle?.drop();
    },
    async leave(wanted) {
      await publishing;
      const left = readScanRecord(active.record);
      if (wanted && failures.length === 0 && left !== undefined && left.rows > 0) await publish(active, left, progress);
    },
    async forget(record) {
      await publishing;
      progress.run.repeated += record.rows;
      await active.drop();
      await idle?.drop();
    },
  };

  function bufferOf(stage: Stage): StageBuffer {
    const record = readScanRecord(stage.record);
    const counts = record?.fingerprint === fingerprint && record.rows > 0 && record.scan !== publishedScan;
    return { stage, record: counts ? record : undefined };
  }

  /** Towards the end less is enough, so that little is left to do once the last row has been read. */
  function worthRows(): number {
    const { rows, total } = progress.activity;
    const usual = Math.max(WORTH_ROWS, publishedRows * WORTH_SHARE);
    return total === undefined ? usual : Math.min(usual, Math.max(LAST_ROWS, total - rows));
  }

  /** While it publishes, reading goes on counting: what it does is counted apart, and added when it is done. */
  async function aside(stage: Stage, record: ScanRecord): Promise<void> {
    const apart = new StreamProgress(progress.run.started_at);
    const before = { ...progress.run };
    Object.assign(apart.run, before);
    await publish(stage, record, apart);
    for (const name of PUBLISHING_COUNTERS) progress.run[name] += apart.run[name] - before[name];
    progress.warnings.push(...apart.warnings);
    progress.notes.push(...apart.notes);
    progress.published = true;
  }

  /** How far each window is becomes true with its rows, in the same transaction. */
  async function publish(stage: Stage, record: ScanRecord, counting: StreamProgress): Promise<void> {
    const { windows } = record;
    await publishStage(context, {
      stream,
      stage,
      record: { ...record, phase: "read" },
      progress: counting,
      state: withWindows(await loadStreamState(destination.db, company, stream.name), plan, windows),
      completeTo: null,
    });
    published = clock.now();
    publishedRows += record.rows;
    counting.activity.state = "reading";
  }
}

/** The state once these windows are published. Where they reach the days that were covered before, so are theirs. */
function withWindows(state: StreamState, { from, to }: BackfillPlan, windows: ScanRecord["windows"]): StreamState {
  const done = windows.every(window => window.done);
  const { coversFrom } = state;
  const joins =
    done && from !== null && typeof coversFrom === "string" && from < coversFrom && (to ?? coversFrom) >= coversFrom;
  return {
    ...state,
    lastFullAt: null,
    backfill: { from, to, windows, done },
    ...(joins ? { coversFrom: from } : {}),
  };
}
