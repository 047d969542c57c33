import { createHash } from "node:crypto";
import type { Table } from "../../catalog/columns.ts";
import type { Batch, EncodedTable } from "../../rows/batch.ts";
import type { Stage, StageRecord } from "../../warehouse/destination.ts";

/** A larger batch is stored at once: the memory limit does not count what is held here. */
const MOST_BYTES = 1024 * 1024;

/**
 * A stage that keeps a scan in memory which one batch holds whole: on most nights the tables have exactly that, and nothing
 * has to be staged. A kill costs no more than one of a batch that is being stored.
 */
export class HeldStage implements Stage {
  readonly #stage: Stage;
  /** The record of a scan that has begun here and not in the stage. */
  #begun: StageRecord | undefined;
  #held: { readonly batch: Batch; readonly record: StageRecord } | undefined;
  #digest: string | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  get record(): StageRecord | undefined {
    return this.#held?.record ?? this.#begun ?? this.#stage.record;
  }

  get staged(): number {
    return this.#begun === undefined ? this.#stage.staged : (this.#held?.batch.main.rows ?? 0);
  }

  get widest(): number | undefined {
    return this.#stage.widest;
  }

  /** Of the keys and hashes of a scan that one batch held whole, in their order; undefined for another. */
  get digest(): string | undefined {
    return this.#digest;
  }

  async begin(record: StageRecord): Promise<void> {
    this.#begun = record;
    this.#held = undefined;
    this.#digest = undefined;
  }

  async append(batch: Batch, record: StageRecord): Promise<void> {
    const isFirst = this.#begun !== undefined && this.#held === undefined;
    if (isFirst && record["phase"] === "read" && bytesOf(batch) <= MOST_BYTES) {
      this.#held = { batch: copied(batch), record };
      this.#digest = createHash("sha256").update(batch.keys.bytes).digest("base64url");
      return;
    }
    await this.store();
    this.#digest = undefined;
    await this.#stage.append(batch, record);
  }

  /** Stores what is held: from then on the rows can be read. */
  async store(): Promise<void> {
    if (this.#begun === undefined) return;
    await this.#stage.begin(this.#begun);
    if (this.#held !== undefined) await this.#stage.append(this.#held.batch, this.#held.record);
    this.#begun = undefined;
    this.#held = undefined;
  }

  keys(): ReturnType<Stage["keys"]> {
    return this.#stored.keys();
  }

  rows(table: Table): ReturnType<Stage["rows"]> {
    return this.#stored.rows(table);
  }

  outcomes(): ReturnType<Stage["keys"]> {
    return this.#stored.outcomes();
  }

  async only(sequences: readonly number[]): Promise<void> {
    await this.#stored.only?.(sequences);
  }

  get #stored(): Stage {
    if (this.#begun !== undefined) throw new TypeError("what is held can be read only once it is stored");
    return this.#stage;
  }

  async drop(): Promise<void> {
    const isStored = this.#begun === undefined || this.#stage.record !== undefined;
    this.#begun = undefined;
    this.#held = undefined;
    if (isStored) await this.#stage.drop();
  }
}

const bytesOf = ({ keys, main, children, outcomes }: Batch): number =>
  [keys, main, outcomes, ...children].reduce((sum, { bytes }) => sum + bytes.length, 0);

/** The encoder's bytes are its own again as soon as a batch is appended: it writes into them, and lets go of them. */
function copied({ keys, main, children, outcomes }: Batch): Batch {
  const copy = (table: EncodedTable) => ({ ...table, bytes: Buffer.from(table.bytes) });
  return { keys: copy(keys), main: copy(main), children: children.map(copy), outcomes: copy(outcomes) };
}
