import { randomUUID } from "node:crypto";
import { type Batch, UNREADABLE } from "../../rows/batch.ts";
import { readCsv } from "../../rows/csv_reading.ts";
import { schemaFingerprint } from "../../rows/schema_fingerprint.ts";
import { Batches } from "../../sync/extract/batches.ts";
import type { Intake } from "../../sync/extract/reading.ts";
import { encoderOf } from "../../sync/stream/extraction.ts";
import { storedRows } from "../../warehouse/read/stored_rows.ts";
import { beginScan } from "../../warehouse/state/stream_state.ts";
import type { Value } from "./compare_value.ts";
import { compareRow, type EncodedRow } from "./comparison.ts";
import type { Comparing } from "./context.ts";

/** How many keys one question to the warehouse holds: each is a parameter or more. */
const KEYS_AT_ONCE = 500;

export type Answers = Map<string, "ok" | "absent" | "failed">;

/** What a stream is read through: its rows are encoded as a sync would, and each batch is compared with the warehouse instead of stored. */
export interface Instrument extends Intake {
  readonly answers: Answers;
}

export function instrumentOf({ context, stream, result }: Comparing): Instrument {
  const { warehouse, company, encoding, clock, service } = context;
  const { tables } = stream;
  const fingerprint = schemaFingerprint(tables, encoding.hasher);
  const answers: Answers = new Map();
  const compare = async (rows: readonly EncodedRow[]) => {
    const keys = rows.map(row => row.key);
    const held = await storedRows(warehouse, company, tables, keys);
    for (const [i, row] of rows.entries()) result.row(row.key, compareRow(tables, row, held[i]!, fingerprint));
  };
  const append = async (batch: Batch) => {
    const rows = encodedRows(batch);
    for (let i = 0; i < rows.length; i += KEYS_AT_ONCE) await compare(rows.slice(i, i + KEYS_AT_ONCE));
    // Of an answer that is not whole nobody knows what it lacks.
    for (const [, parent, , outcome, , reason] of readCsv(batch.outcomes.bytes))
      answers.set(parent ?? "", reason === null || outcome !== "ok" ? (outcome as "ok") : "failed");
  };
  const encoder = encoderOf(encoding, stream, context.start);
  const nothing = async () => undefined;
  const { limiter } = service;
  const batches = new Batches({ append }, { encoder, clock, limiter, keepRejects: nothing, archived: nothing });
  const record = beginScan(randomUUID(), "verify", true, new Date(clock.now()).toISOString());
  return { answers, encoder, batches, record };
}

function encodedRows(batch: Batch): readonly EncodedRow[] {
  const main = new Map<string, Value[]>();
  for (const [seq, ...values] of readCsv(batch.main.bytes)) main.set(seq!, values);
  const ofChildren = batch.children.map(table => {
    const rows = new Map<string, Value[][] | undefined>();
    for (const [seq, index, ...values] of readCsv(table.bytes)) {
      const own = rows.get(seq!);
      if (index === String(UNREADABLE)) rows.set(seq!, undefined);
      else if (own === undefined) rows.set(seq!, [values]);
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
      children: ofChildren.map(rows => (rows.has(seq) ? rows.get(seq) : [])),
    };
  });
}
