import { z } from "zod";
import { type TableSet, tablesOf } from "../../../src/catalog/columns.ts";
import { systemClock } from "../../../src/clock.ts";
import type { Batch, EncodedTable } from "../../../src/rows/batch.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import type { LockPatience } from "../../../src/warehouse/postgres/lock_watch.ts";
import { openPostgres } from "../../../src/warehouse/postgres/open.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";

const field = (kind: string, more: object = {}) => z.unknown().meta({ kind, ...more });

/** Orders with one child table: one column of every kind. */
export const orders: TableSet = tablesOf({
  name: "orders",
  row: z
    .object({
      order_no: field("id", { description: "The order's number" }),
      note: field("text"),
      amount: field("money", { currency: { in: "row", column: "note" } }),
      lines: field("count"),
      score: field("score", { volatile: true }),
      is_open: field("flag"),
      day: field("date"),
      at_time: field("moment"),
      raw: field("json"),
      parts: z.array(z.object({ part: field("text"), price: field("money") })).meta({ table: "order_parts" }),
    })
    .meta({ description: "Orders." }),
  key: ["order_no"],
  added: [],
  volatile: [],
});

export function open(
  url: string,
  runId = "run-1",
  patience: LockPatience & { readonly takesOver?: string } = {},
): Promise<Destination> {
  return openPostgres({
    url,
    schema: "procurement",
    stateSchema: "_tributary",
    grantSelectTo: [],
    runId,
    holder: { pid: process.pid, host: "here", command: "sync", startedAt: "2025-01-01T00:00:00Z" },
    clock: systemClock,
    ...patience,
  });
}

/** Open, with the state schema made. */
export async function openReady(
  url: string,
  runId?: string,
  patience?: LockPatience & { readonly takesOver?: string },
): Promise<Destination> {
  const destination = await open(url, runId, patience);
  await ensureState(destination.db, destination.dialect, destination.stateSchema);
  return destination;
}

/** Rows as the encoder writes them: null is unquoted and empty, numbers are plain, text is quoted. */
export function csv(rows: readonly (readonly (string | number | null)[])[]): EncodedTable {
  const lines = rows.map(row => row.map(cell).join(","));
  const bytes = Buffer.from(lines.map(line => `${line}\n`).join(""));
  return { bytes, rows: rows.length, wide: [], longest: Math.max(0, ...lines.map(line => Buffer.byteLength(line))) };
}

const cell = (value: string | number | null): string =>
  value === null ? "" : typeof value === "number" ? String(value) : `"${value.replaceAll('"', '""')}"`;

/** A batch of orders that hold nothing but their number. */
export function plainBatch(numbers: readonly number[]): Batch {
  const empty = [null, null, null, null, null, null, null, null, null, null] as const;
  return {
    keys: csv(numbers.map(n => [n, `o${n}`, n, n])),
    main: csv(numbers.map(n => [n, `o${n}`, ...empty])),
    children: [csv(numbers.map(n => [n, 0, `part of ${n}`, null, null, null, null]))],
    outcomes: csv([]),
  };
}
