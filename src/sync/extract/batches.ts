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

/** What batches are made of, and what has to be kept before one is. */
export interface Batching {
  readonly encoder: Encoder;
  readonly clock: Clock;
  readonly limiter: Pick<Limiter, "memory">;
  readonly keepRejects: (rejects: readonly Reject[], scan: string) => Promise<void>;
  readonly archived: () => Promise<void>;
}

/**
 * Stages what an encoder made, one batch behind the reader: while one is stored, the next pages are fetched and encoded. `keepRejects` comes before the
 * batch whose record counts them; before both `archived`, which resolves when their answers are kept.
 */
export class Batches {
  readonly #stage: Pick<Stage, "append">;
  readonly #how: Batching;
  #storing: Promise<void> | undefined;
  #since: number;

  constructor(stage: Pick<Stage, "append">, how: Batching) {
    this.#stage = stage;
    this.#how = how;
    this.#since = how.clock.now();
  }

  get due(): boolean {
    const { encoder, clock, limiter } = this.#how;
    const { rows, bytes } = encoder;
    if (rows === 0) return false;
    if (bytes >= (limiter.memory.isShort ? WORTH_BYTES : BATCH_BYTES)) return true;
    return rows >= BATCH_ROWS || clock.now() - this.#since >= BATCH_MS;
  }

  /** Hands the rows so far over with the record that is true once they are stored; resolves when the batch before is. */
  async put(record: ScanRecord): Promise<ScanRecord> {
    const { encoder, clock, limiter } = this.#how;
    await this.#storing;
    const share = limiter.memory.lend(encoder.bytes);
    const encoded = encoder.take();
    const next = absorb(record, encoded, encoder.sequence);
    this.#since = clock.now();
    const storing = this.#store(encoded, next).finally(() => share.release());
    // Its failure is met at the next put or flush; nobody may be waiting for it yet.
    storing.catch(() => undefined);
    this.#storing = storing;
    return next;
  }

  /** Resolves when everything handed over is stored. */
  async flush(): Promise<void> {
    await this.#storing;
    this.#how.encoder.trim();
  }

  /** Hands the last rows over; resolves when everything is stored. */
  async end(record: ScanRecord): Promise<ScanRecord> {
    const last = await this.put(record);
    await this.flush();
    return last;
  }

  async #store(encoded: Encoded, record: ScanRecord): Promise<void> {
    await this.#how.archived();
    if (encoded.rejects.length > 0) await this.#how.keepRejects(encoded.rejects, record.scan);
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
