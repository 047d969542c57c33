import type { ByteBudget } from "../../byte_budget.ts";
import type { Clock } from "../../clock.ts";
import { mergeDrift, mergePresence } from "../../rows/drift.ts";
import type { ColumnProblems, Encoded, Encoder } from "../../rows/encoder.ts";
import { oldestOf } from "../../rows/old_rows.ts";
import type { Reject } from "../../rows/reject.ts";
import type { Limiter } from "../../source/limit.ts";
import type { Stage, StageRecord } from "../../warehouse/destination.ts";
import type { ScanRecord } from "../../warehouse/state/stream_state.ts";

/**
 * A batch is one transaction: it ends with the page that reaches so many rows or bytes, or so long after the one before. A kill costs the batch being
 * stored and the one being read: together the 5,000 rows or 2 seconds that a crash may cost.
 */
const BATCH_ROWS = 2_500;
/** Twice what usual rows come to. */
const BATCH_BYTES = 8 * 1024 * 1024;
/** When others wait for memory a batch ends as soon as it is worth a transaction. */
const WORTH_BYTES = 1024 * 1024;
const BATCH_MS = 1_000;

/**
 * Stages what an encoder made, one batch behind the reader: while one is stored, the next pages are fetched and encoded. `keepRejects` comes before the
 * batch whose record counts them; before both `archived`, which resolves when their answers are kept.
 */
export class Batches {
  #stage: Stage;
  readonly #encoder: Encoder;
  readonly #clock: Clock;
  readonly #memory: ByteBudget;
  readonly #keepRejects: (rejects: readonly Reject[], scan: string) => Promise<void>;
  readonly #archived: () => Promise<void>;
  #storing: Promise<void> | undefined;
  #since: number;

  constructor(
    stage: Stage,
    encoder: Encoder,
    { clock, limiter }: { readonly clock: Clock; readonly limiter: Pick<Limiter, "memory"> },
    keepRejects: (rejects: readonly Reject[], scan: string) => Promise<void>,
    archived: () => Promise<void>,
  ) {
    this.#stage = stage;
    this.#encoder = encoder;
    this.#clock = clock;
    this.#memory = limiter.memory;
    this.#keepRejects = keepRejects;
    this.#archived = archived;
    this.#since = clock.now();
  }

  get due(): boolean {
    const { rows, bytes } = this.#encoder;
    if (rows === 0) return false;
    if (bytes >= (this.#memory.isShort ? WORTH_BYTES : BATCH_BYTES)) return true;
    return rows >= BATCH_ROWS || this.#clock.now() - this.#since >= BATCH_MS;
  }

  /** Hands the rows so far over with the record that is true once they are stored; resolves when the batch before is. */
  async put(record: ScanRecord): Promise<ScanRecord> {
    await this.#storing;
    const share = this.#memory.lend(this.#encoder.bytes);
    const encoded = this.#encoder.take();
    const next = absorb(record, encoded, this.#encoder.sequence);
    this.#since = this.#clock.now();
    const storing = this.#store(encoded, next).finally(() => share.release());
    // Its failure is met at the next put or flush; nobody may be waiting for it yet.
    storing.catch(() => undefined);
    this.#storing = storing;
    return next;
  }

  /** Resolves when everything handed over is stored. */
  async flush(): Promise<void> {
    await this.#storing;
    this.#encoder.trim();
  }

  /** What is handed over from now on goes to another stage; everything before is stored when it resolves. */
  async turnTo(stage: Stage): Promise<void> {
    await this.flush();
    this.#stage = stage;
  }

  async #store(encoded: Encoded, record: ScanRecord): Promise<void> {
    await this.#archived();
    if (encoded.rejects.length > 0) await this.#keepRejects(encoded.rejects, record.scan);
    await this.#stage.append(encoded.batch, record satisfies StageRecord);
  }
}

/** The record of a scan once the rows of a batch are stored, with what their encoding told. */
function absorb(record: ScanRecord, encoded: Encoded, sequence: number): ScanRecord {
  const later = (a: number | null, b: number | undefined) => (b === undefined ? a : a === null ? b : Math.max(a, b));
  return {
    ...record,
    sequence,
    latest: later(record.latest, encoded.latest),
    oldest: oldestOf([...record.oldest, ...encoded.oldest]),
    beforeStart: record.beforeStart + encoded.beforeStart,
    rejected: record.rejected + encoded.rejected,
    rounded: record.rounded + encoded.rounded,
    problems: mergeProblems(record.problems, encoded.problems),
    drift: mergeDrift(record.drift, encoded.drift),
    presence: presenceWith(record.presence, encoded.presence),
  };
}

function presenceWith(known: ScanRecord["presence"], fresh: Encoded["presence"]): ScanRecord["presence"] {
  const merged = Object.entries(fresh).map(([table, presence]) => [table, mergePresence(known[table], presence)]);
  return { ...known, ...Object.fromEntries(merged) };
}

function mergeProblems(known: readonly ColumnProblems[], fresh: readonly ColumnProblems[]): ColumnProblems[] {
  const merged = known.map(problem => ({ ...problem }));
  for (const problem of fresh) {
    const same = merged.find(
      other => other.table === problem.table && other.column === problem.column && other.reason === problem.reason,
    );
    if (same === undefined) merged.push({ ...problem });
    else same.rows += problem.rows;
  }
  return merged;
}
