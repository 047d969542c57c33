import type { Encoder } from "../../rows/encoder.ts";
import type { Stage } from "../../warehouse/destination.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import {
  type BackfillPlan,
  readScanRecord,
  type ScanRecord,
  type StreamState,
} from "../../warehouse/state/stream_state.ts";
import type { StreamSync } from "../context.ts";
import type { Batches } from "../extract/batches.ts";
import type { Intake } from "../extract/reading.ts";
import { publishStage } from "../load/apply_load.ts";
import { type Extraction, newScan, openExtraction, startAfresh } from "./extraction.ts";

/** Opens the stage of a feed that is read in windows, and decides whether the scan in it is continued. */
export async function openWindowStage(sync: StreamSync, plan: BackfillPlan): Promise<WindowStage> {
  const { context, stream, progress } = sync;
  const state = await loadStreamState(context.destination.db, context.company, stream.name);
  const follows = state.publishedScan;
  const request = { query: { ...stream.query, backfill: [plan.from, plan.to] }, full: false };
  const extraction = await openExtraction(sync, state, request);
  const { stage, record: found, resumed } = extraction;
  if (resumed && found.rows > 0 && found.follows === follows) return new WindowStage(sync, plan, extraction);
  const record = resumed ? await startAfresh(context, stage, found.fingerprint, false) : found;
  progress.run.carried = 0;
  progress.activity.rows = 0;
  return new WindowStage(sync, plan, { ...extraction, record: { ...record, windows: plan.windows, follows } });
}

/**
 * Windows that are published from time to time while they are read. The stage's record names the scan before it (`follows`)
 * and counts only while that is the last that was published; else its rows are read again.
 */
export class WindowStage implements Intake {
  readonly encoder: Encoder;
  readonly batches: Batches;
  readonly record: ScanRecord;
  readonly #sync: StreamSync;
  readonly #plan: BackfillPlan;
  readonly #stage: Stage;
  #publishedAt: number;

  constructor(sync: StreamSync, plan: BackfillPlan, { encoder, batches, record, stage }: Extraction) {
    this.encoder = encoder;
    this.batches = batches;
    this.record = record;
    this.#sync = sync;
    this.#plan = plan;
    this.#stage = stage;
    this.#publishedAt = sync.context.clock.now();
  }

  /** Called between batches: publishes once in a while. Answers the record to continue with. */
  async between(record: ScanRecord): Promise<ScanRecord> {
    const { context } = this.#sync;
    if (context.clock.now() - this.#publishedAt < context.policy.publishEveryMs) return record;
    await this.batches.flush();
    await this.publish(record);
    const { scan: follows, windows, fingerprint } = record;
    const begun = { ...newScan(context, fingerprint, false), windows, follows };
    await this.#stage.begin(begun);
    return begun;
  }

  /** After an error: publishes the rest where that is wanted. */
  async leave(wanted: boolean): Promise<void> {
    const left = readScanRecord(this.#stage.record);
    if (wanted && left !== undefined && left.rows > 0) await this.publish(left);
  }

  /** Drops what is staged: its rows are read again. */
  async forget(record: ScanRecord): Promise<void> {
    this.#sync.progress.run.repeated += record.rows;
    await this.#stage.drop();
  }

  /** How far each window is becomes true with its rows, in the same transaction. */
  async publish(record: ScanRecord): Promise<void> {
    const { context, stream, progress } = this.#sync;
    const state = await loadStreamState(context.destination.db, context.company, stream.name);
    await publishStage(context, {
      ...{ stream, stage: this.#stage, progress, completeTo: null },
      record: { ...record, phase: "read" },
      state: withWindows(state, this.#plan, record.windows),
    });
    this.#publishedAt = context.clock.now();
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
