import type { Table } from "../catalog/columns.ts";
import type { Redact } from "./drift.ts";
import { textOf, valueAt } from "./encode_value.ts";

type Row = Record<string, unknown>;

/** What the reader knew of a row beside it: the parent's key, the array it stood in (`context`), the page's columns (`page`). */
export interface Beside {
  readonly context: Row;
  readonly page: Row;
}

/** A dead letter: a row that cannot be stored, with what it said. */
export interface Reject {
  readonly raw: unknown;
  readonly reason: string;
  /** What is known of its key, as `column=value`. */
  readonly key: string | undefined;
  /** Path of the field that made it one. */
  readonly field: string | undefined;
  readonly beside: Beside;
}

/** Of a batch: each costs more than a kilobyte until it is stored, and an answer may hold millions. */
export const MOST_REJECTS = 10_000;

/** The rejects with a last one that tells how many more of `all` there were. */
export function furtherRejects(kept: readonly Reject[], all: number): readonly Reject[] {
  const more = all - kept.length;
  if (more === 0) return kept;
  const reason = `${more} further rows of the same answers could not be stored and are not kept one by one`;
  return [...kept, { raw: null, reason, key: undefined, field: undefined, beside: { context: {}, page: {} } }];
}

const LONGEST_PART = 100;

/** What is known of a row's key; undefined for nothing. A part is redacted before it is cut. */
export function knownKey(
  { key, columns }: Table,
  row: Row,
  context: Row,
  redact: Redact = text => text,
): string | undefined {
  const parts = key.flatMap(name => {
    const { source, path } = columns.find(column => column.name === name)!;
    const text = textOf(source === "row" ? valueAt(path, row) : context[name]);
    return text === undefined ? [] : [`${name}=${redact(text).slice(0, LONGEST_PART)}`];
  });
  return parts.length === 0 ? undefined : parts.join(", ");
}

/** Of a page's data what its rows' columns take: not the rows themselves. */
export function pageColumns({ columns }: Table, page: Row): Row {
  const taken: Row = {};
  for (const { source, path } of columns) {
    if (source !== "page") continue;
    let at = taken;
    for (const field of path.slice(0, -1)) {
      at[field] ??= {};
      at = at[field] as Row;
    }
    at[path.at(-1)!] = valueAt(path, page) ?? null;
  }
  return taken;
}
