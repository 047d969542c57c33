import { randomUUID } from "node:crypto";
import type { TableSet } from "../../catalog/columns.ts";
import type { Batch } from "../../rows/batch.ts";
import { readCsv } from "../../rows/csv_reading.ts";
import { schemaFingerprint } from "../../rows/schema_fingerprint.ts";
import { Batches } from "../../sync/extract/batches.ts";
import type { Intake } from "../../sync/extract/reading.ts";
import { encoderOf } from "../../sync/stream/extraction.ts";
import type { Stage, StageRecord } from "../../warehouse/destination.ts";
import { type StoredIn, storedRows } from "../../warehouse/read/stored_rows.ts";
import { beginScan } from "../../warehouse/state/stream_state.ts";
import type { Value } from "./compare_value.ts";
import { compareRow, type EncodedRow } from "./comparison.ts";
import type { Comparing } from "./context.ts";
import type { Result } from "./result.ts";

/** How many keys one question to the warehouse holds: each is a parameter or more. */
const KEYS_AT_ONCE = 500;

/** What became of the details that were asked for, by parent. */
export type Answers = Map<string, "ok" | "absent" | "failed">;

/** What a stream is read through: its rows are encoded as a sync would, and compared instead of stored. */
export interface Instrument extends Intake {
  readonly mirror: Mirror;
}

export function instrumentOf({ context, stream, result }: Comparing): Instrument {
  const { warehouse, company, encoding, clock, service } = context;
  const fingerprint = schemaFingerprint(stream.tables, encoding.hasher);
  const mirror = new Mirror(warehouse, company, stream.tables, fingerprint, result);
  const encoder = encoderOf(encoding, stream, context.start);
  const nothing = async () => undefined;
  const batches = new Batches(mirror, encoder, { clock, limiter: service.limiter }, nothing, nothing);
  const record = beginScan(randomUUID(), "verify", true, new Date(clock.now()).toISOString());
  return { mirror, encoder, batches, record };
}

/** A stage that compares each batch with the warehouse and keeps nothing: so verify reads and encodes exactly as a sync does. */
export class Mirror implements Stage {
  record: StageRecord | undefined;
  staged = 0;
  readonly answers: Answers = new Map();
  readonly #warehouse: StoredIn;
  readonly #company: string;
  readonly #tables: TableSet;
  readonly #schemaFingerprint: number;
  readonly #result: Result;

  constructor(warehouse: StoredIn, company: string, tables: TableSet, schemaFingerprint: number, result: Result) {
    this.#warehouse = warehouse;
    this.#company = company;
    this.#tables = tables;
    this.#schemaFingerprint = schemaFingerprint;
    this.#result = result;
  }

  async begin(record: StageRecord): Promise<void> {
    this.record = record;
  }

  async append(batch: Batch, record: StageRecord): Promise<void> {
    const rows = encodedRows(this.#tables, batch);
    this.staged += rows.length;
    for (let i = 0; i < rows.length; i += KEYS_AT_ONCE) await this.#compare(rows.slice(i, i + KEYS_AT_ONCE));
    // Of an answer that is not whole nobody knows what it lacks.
    for (const [, parent, , outcome, , reason] of readCsv(batch.outcomes.bytes))
      this.answers.set(parent ?? "", reason === null || outcome !== "ok" ? (outcome as "ok") : "failed");
    this.record = record;
  }

  async #compare(rows: readonly EncodedRow[]): Promise<void> {
    const keys = rows.map(row => row.key);
    const held = await storedRows(this.#warehouse, this.#company, this.#tables, keys);
    for (const [i, row] of rows.entries())
      this.#result.row(row.key, compareRow(this.#tables, row, held[i]!, this.#schemaFingerprint));
  }

  keys(): never {
    throw new TypeError("a mirror keeps no rows");
  }

  rows(): never {
    throw new TypeError("a mirror keeps no rows");
  }

  outcomes(): never {
    throw new TypeError("a mirror keeps no rows");
  }

  async drop(): Promise<void> {
    this.record = undefined;
  }
}

function encodedRows({ children }: TableSet, batch: Batch): readonly EncodedRow[] {
  const main = new Map<string, Value[]>();
  for (const [seq, ...values] of readCsv(batch.main.bytes)) main.set(seq!, values);
  const ofChildren = batch.children.map(table => {
    const rows = new Map<string, Value[][]>();
    for (const [seq, _index, ...values] of readCsv(table.bytes)) {
      const own = rows.get(seq!);
      if (own === undefined) rows.set(seq!, [values]);
      else own.push(values);
    }
    return rows;
  });
  return [...readCsv(batch.keys.bytes)].map(line => {
    const seq = line[0]!;
    return {
      key: line.slice(1, -2) as string[],
      hash: line.at(-2)!,
      vhash: line.at(-1)!,
      values: main.get(seq)!,
      children: children.map((_child, i) => ofChildren[i]!.get(seq) ?? []),
    };
  });
}
