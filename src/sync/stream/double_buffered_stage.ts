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
import type { Intake } from "../extract/reading.ts";
import { publishStage } from "../load/apply_load.ts";
import { StreamProgress } from "../stream_progress.ts";
import { openExtraction, startAfresh } from "./extraction.ts";

/**
 * Rows that are worth a publish while reading goes on: a little more than one of DuckDB's row groups, which then passes the log by (25,000 cost a fifth
 * more CPU). Later ones are larger, as each compares with all before.
 */
const WORTH_ROWS = 62_000;
const WORTH_SHARE = 1 / 8;
/** What a publish takes anyway is a tenth of a second: as long as these rows do. */
const LAST_ROWS = 5_000;

interface StageBuffer {
  readonly stage: Stage;
  /** Undefined: nothing in it counts. */
  readonly record: ScanRecord | undefined;
}

/** Opens the stages of a feed that is read in windows, and decides what in them may be gone on with. */
export async function openDoubleBufferedStage(sync: StreamSync, plan: BackfillPlan): Promise<DoubleBufferedStage> {
  const { context, stream, progress } = sync;
  const { company, destination } = context;
  const state = await loadStreamState(destination.db, company, stream.name);
  const { publishedScan } = state;
  const request = { query: { ...stream.query, backfill: [plan.from, plan.to] }, full: false };
  const extraction = await openExtraction(sync, state, request);
  const { fingerprint } = extraction.record;
  const bufferOf = (stage: Stage): StageBuffer => {
    const record = readScanRecord(stage.record);
    const counts = record?.fingerprint === fingerprint && record.rows > 0 && record.scan !== publishedScan;
    return { stage, record: counts ? record : undefined };
  };
  const spare = await destination.spareStage(company, stream.tables);
  const buffers = [bufferOf(extraction.stage), ...(spare === undefined ? [] : [bufferOf(spare)])];
  const first = buffers.find(({ record }) => record?.follows === publishedScan);
  const second = buffers.find(({ record }) => record !== undefined && record.follows === first?.record?.scan);
  progress.run.carried = (first?.record?.rows ?? 0) + (second?.record?.rows ?? 0);
  progress.activity.rows = progress.run.carried;
  const active = second ?? first ?? buffers[0]!;
  const idle = buffers.find(buffer => buffer !== active);
  const buffered = new DoubleBufferedStage(sync, plan, extraction, active.stage, idle?.stage);
  if (first !== undefined && second !== undefined) await buffered.publish(first.stage, first.record!, progress);
  else if (idle?.record !== undefined) await idle.stage.drop();
  await buffered.begin((second ?? first)?.record, publishedScan);
  return buffered;
}

/**
 * Windows that are published while the next rows are read: two stages take turns where the destination has a spare one. A stage's record names the scan
 * before it (`follows`) and counts only while that is the last that was published; else its rows are read again.
 */
export class DoubleBufferedStage {
  readonly encoder: Encoder;
  readonly batches: Batches;
  record: ScanRecord;
  readonly #sync: StreamSync;
  readonly #plan: BackfillPlan;
  #active: Stage;
  #idle: Stage | undefined;
  #publishing: Promise<void> | undefined;
  readonly #failures: unknown[] = [];
  #publishedAt: number;
  #publishedRows = 0;

  constructor(
    sync: StreamSync,
    plan: BackfillPlan,
    { encoder, batches, record }: Intake,
    active: Stage,
    idle: Stage | undefined,
  ) {
    this.encoder = encoder;
    this.batches = batches;
    this.record = record;
    this.#sync = sync;
    this.#plan = plan;
    this.#active = active;
    this.#idle = idle;
    this.#publishedAt = sync.context.clock.now();
  }

  /** Goes on from the record that was `found`, or begins with the plan's windows. */
  async begin(found: ScanRecord | undefined, follows: string | null): Promise<void> {
    const fresh = () => startAfresh(this.#sync.context, this.#active, this.record.fingerprint, false);
    this.record = found ?? { ...(await fresh()), windows: this.#plan.windows, follows };
    await this.batches.turnTo(this.#active);
  }

  /** Called between batches: publishes what is worth it. Answers the record to go on with. */
  async between(record: ScanRecord): Promise<ScanRecord> {
    this.#requireNoFailure();
    const { clock, policy } = this.#sync.context;
    const late = clock.now() - this.#publishedAt >= policy.publishEveryMs;
    const worth = this.#idle !== undefined && record.rows >= this.#worthRows();
    if (this.#publishing !== undefined || !(late || worth)) return record;
    const full = this.#active;
    const next = this.#idle ?? full;
    await this.batches.turnTo(next);
    if (next === full) await this.publish(full, record, this.#sync.progress);
    const begun = {
      ...beginScan(randomUUID(), record.fingerprint, false, new Date(clock.now()).toISOString()),
      windows: record.windows,
      follows: record.scan,
    };
    await next.begin(begun);
    if (next === full) return begun;
    this.#active = next;
    this.#idle = full;
    this.#publishing = this.#publishAside(full, record)
      .catch(error => void this.#failures.push(error))
      .finally(() => {
        this.#publishing = undefined;
      });
    return begun;
  }

  async finish(record: ScanRecord): Promise<void> {
    await this.#publishing;
    this.#requireNoFailure();
    await this.publish(this.#active, record, this.#sync.progress);
    await this.#idle?.drop();
  }

  /** After an error: waits for a publish under way, and publishes the rest where that is wanted. */
  async leave(wanted: boolean): Promise<void> {
    await this.#publishing;
    const left = readScanRecord(this.#active.record);
    if (wanted && this.#failures.length === 0 && left !== undefined && left.rows > 0)
      await this.publish(this.#active, left, this.#sync.progress);
  }

  /** Drops what is staged: its rows are read again. */
  async forget(record: ScanRecord): Promise<void> {
    await this.#publishing;
    this.#sync.progress.run.repeated += record.rows;
    await this.#active.drop();
    await this.#idle?.drop();
  }

  #requireNoFailure(): void {
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  /** Towards the end less is enough, so that little is left to do once the last row has been read. */
  #worthRows(): number {
    const { rows, total } = this.#sync.progress.activity;
    const usual = Math.max(WORTH_ROWS, this.#publishedRows * WORTH_SHARE);
    return total === undefined ? usual : Math.min(usual, Math.max(LAST_ROWS, total - rows));
  }

  /** While it publishes, reading goes on counting: what it does is counted apart, and added when it is done. */
  async #publishAside(stage: Stage, record: ScanRecord): Promise<void> {
    const { progress } = this.#sync;
    const apart = new StreamProgress(progress.run.started_at);
    const before = { ...progress.run };
    Object.assign(apart.run, before);
    await this.publish(stage, record, apart);
    for (const name of PUBLISHING_COUNTERS) progress.run[name] += apart.run[name] - before[name];
    progress.warnings.push(...apart.warnings);
    progress.notes.push(...apart.notes);
    progress.published = true;
  }

  /** How far each window is becomes true with its rows, in the same transaction. */
  async publish(stage: Stage, record: ScanRecord, progress: StreamProgress): Promise<void> {
    const { context, stream } = this.#sync;
    const state = await loadStreamState(context.destination.db, context.company, stream.name);
    await publishStage(context, {
      ...{ stream, stage, progress, completeTo: null },
      record: { ...record, phase: "read" },
      state: withWindows(state, this.#plan, record.windows),
    });
    this.#publishedAt = context.clock.now();
    this.#publishedRows += record.rows;
    progress.activity.state = "reading";
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
