import { createHash } from "node:crypto";
import { INDEX_COLUMN, type Table, type TableSet } from "../catalog/columns.ts";
import { Numeral } from "../numeral.ts";
import type { Redact } from "./drift.ts";
import { textOf, valueAt } from "./encode_value.ts";
import { canonicalJson, isStorable } from "./json.ts";

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
  /** Key of the parent whose answer it came in; undefined: it came in a list. */
  readonly parent: string | undefined;
  /** It is an example: so many rows could not be stored for its reason beyond those that are kept one by one. */
  further: number;
}

/** Of an extraction: each costs more than a kilobyte, and an answer may hold millions. */
export const MOST_REJECTS = 1_000;

/** Why a row that can be stored is not: within one answer no row is newer than another. */
export const REPLACED = "a later row of the same answer has this key and other values";

/** Longer ones no index of PostgreSQL takes: characters of a key's part, bytes of all its parts. */
const LONGEST_KEY = 500;
const MOST_KEY_BYTES = 2_000;

/** Why a part of a key makes its row a reject; undefined: it does not. `text` is what the value is as an id. */
export function keyFault(value: unknown, text: string | undefined): string | undefined {
  if (text === undefined) return value === null || value === undefined ? "is missing" : `is ${inWords(value)}`;
  if (text.length > LONGEST_KEY) return `is longer than ${LONGEST_KEY} characters`;
  return isStorable(text) ? undefined : "holds a NUL, half a surrogate pair or a byte that is no UTF-8";
}

function inWords(value: unknown): string {
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  return isObject(value) ? "an object" : "a number with too many digits";
}

/** The same of all parts together. */
export function keysFault(key: readonly string[]): string | undefined {
  const isLong = key.length > 1 && Buffer.byteLength(key.join("")) > MOST_KEY_BYTES;
  return isLong ? `its key is longer than ${MOST_KEY_BYTES} bytes` : undefined;
}

type Facts = Pick<Reject, "raw" | "reason" | "beside" | "further">;

/**
 * Tells a reject from others of its stream: by its reason and its key or, where that is not known whole or others have it, by
 * all it said but for volatile fields and its place in the list. The same row again has the same.
 */
export function rejectDigest({ main, children }: TableSet, { raw, reason, beside, further }: Facts): string {
  const md5 = (parts: readonly unknown[]) => createHash("md5").update(canonicalJson(parts).text).digest("hex");
  if (further > 0) return `${FURTHER}${md5([reason])}`;
  const { [INDEX_COLUMN]: _, ...context } = beside.context;
  const key = main.key.map(name => {
    const { source, path } = main.columns.find(column => column.name === name)!;
    return textOf(source !== "row" ? beside.context[name] : isObject(raw) ? valueAt(path, raw) : undefined);
  });
  if (reason !== REPLACED && !key.includes(undefined)) return md5([reason, key]);
  const volatile = [main, ...children].flatMap(table =>
    table.columns
      .filter(column => column.volatile && column.source === "row")
      .map(column => [...table.path, ...column.path]),
  );
  try {
    return md5([reason, without(raw, volatile), context]);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return md5([reason, key.map(part => part ?? null)]);
  }
}

/** What the digest of an example begins with: its line stands for many rows, and can't be tried again. */
export const FURTHER = "further:";

/** A value without the fields at these paths, those in arrays included. */
function without(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.length === 0) return value;
  if (Array.isArray(value)) return value.map(each => without(each, paths));
  if (!isObject(value)) return value;
  const left = Object.entries(value).flatMap(([field, each]) => {
    const below = paths.filter(path => path[0] === field).map(path => path.slice(1));
    return below.some(path => path.length === 0) ? [] : [[field, without(each, below)] as const];
  });
  return Object.fromEntries(left);
}

/** Whether a value has fields. */
export function isObject(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Numeral);
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
