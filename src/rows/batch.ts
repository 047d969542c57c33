import type { Column, Table } from "../catalog/columns.ts";

/**
 * Rows of one table as CSV (RFC 4180, no header, lines end in \n; NULL is empty and unquoted, text is always quoted).
 * The encoder alone decides what a value is: each one is in the form in which both databases read it back unchanged.
 */
export interface EncodedTable {
  readonly bytes: Buffer;
  readonly rows: number;
  /** Decimal columns that hold a value which doesn't fit DECIMAL(18,6), the narrow and much faster way into DuckDB. */
  readonly wide: readonly string[];
  /** Bytes of the longest line. */
  readonly longest: number;
}

/**
 * What one transaction stores. Columns of the CSVs:
 * keys `_seq, <key…>, _hash, _vhash` · main `_seq, <stageColumns>, _extra, _problems` · a child `_seq, _index, <stageColumns>,
 * _extra, _problems` · outcomes `_seq, parent_key, parent_hash, outcome, fetched_at, reason`.
 * A child's line with `_index` UNREADABLE says that the row came without the array, or with another value in its place.
 */
export interface Batch {
  readonly keys: EncodedTable;
  readonly main: EncodedTable;
  /** In the order of `TableSet.children`. */
  readonly children: readonly EncodedTable[];
  readonly outcomes: EncodedTable;
}

/** In place of a line's position. */
export const UNREADABLE = -1;

/**
 * The columns of a table that its stage holds, in the CSV's order: a main table's key first, a child's own fields only (its
 * parent's key is the key of the row it came in); volatile ones last, for the hash ends before them.
 */
export function stageColumns(table: Table): readonly Column[] {
  const isKey = (column: Column) => table.key.includes(column.name);
  const own = table.columns.filter(column => !isKey(column));
  const key = table.path.length === 0 ? table.columns.filter(isKey) : [];
  return [...key, ...own.filter(column => !column.volatile), ...own.filter(column => column.volatile)];
}

/** What became of one parent's detail request. */
export interface Outcome {
  readonly parentKey: string;
  readonly parentHash: string;
  readonly outcome: "ok" | "absent" | "failed";
  readonly fetchedAt: string;
  readonly reason: string | undefined;
}
