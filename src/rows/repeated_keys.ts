import { type Column, INDEX_COLUMN } from "../catalog/columns.ts";
import { textOf, valueAt } from "./encode_value.ts";

type Row = Record<string, unknown>;

/** A row of an answer, and where the line of its key lies: a number, the key, the row's hash and the one of its volatile fields. */
interface Keyed {
  readonly came: unknown;
  /** One object for all rows of an answer. */
  readonly page: Row;
  readonly context: Row;
  readonly from: number;
  readonly to: number;
}

interface Seen {
  readonly row: Keyed;
  readonly print: number;
  /** A row before it whose print falls into the same slot. */
  readonly next: Seen | undefined;
}

const COMMA = 44;
const SLOTS = 4_096;
/** Rows that are remembered of one answer: about 20 MB. */
const MOST = 100_000;

/** The rows of one answer by the prints of their keys: a row costs a fifth of a microsecond until one repeats a key. */
export class AnswerKeys {
  /** A key that holds the row's place repeats none. */
  readonly #isPlaced: boolean;
  readonly #slots = Array.from({ length: SLOTS }, (): Seen | undefined => undefined);
  #page: Row | undefined;
  #rows = 0;

  constructor(key: readonly string[]) {
    this.#isPlaced = key.includes(INDEX_COLUMN);
  }

  clear(): void {
    if (this.#rows > 0) this.#slots.fill(undefined);
    this.#rows = 0;
    this.#page = undefined;
  }

  /** Remembers a row. Answers the row before it in the same answer that has its key and another hash. */
  replaced(row: Keyed, bytes: Buffer): Keyed | undefined {
    if (this.#isPlaced) return undefined;
    if (row.page !== this.#page) this.clear();
    this.#page = row.page;
    const { start, end } = keyIn(bytes, row);
    let print = 0;
    for (let at = start; at < end; at++) print = (Math.imul(print, 31) + bytes[at]!) | 0;
    const slot = (print ^ (print >>> 12)) & (SLOTS - 1);
    const next = this.#slots[slot];
    if (this.#rows++ < MOST) this.#slots[slot] = { row, print, next };
    for (let before = next; before !== undefined; before = before.next) {
      if (before.print !== print) continue;
      const [a, b] = [partsOf(bytes, before.row), partsOf(bytes, row)];
      if (a.key.equals(b.key)) return a.hash.equals(b.hash) ? undefined : before.row;
    }
    return undefined;
  }
}

/** Where a line's key lies: behind its number, and before its two hashes, which hold no comma. */
function keyIn(
  bytes: Buffer,
  { from, to }: Keyed,
): { readonly start: number; readonly end: number; readonly last: number } {
  let start = from;
  while (bytes[start] !== COMMA) start++;
  const last = bytes.lastIndexOf(COMMA, to - 1);
  return { start, end: bytes.lastIndexOf(COMMA, last - 1), last };
}

function partsOf(bytes: Buffer, row: Keyed): Readonly<Record<"key" | "hash", Buffer>> {
  const { start, end, last } = keyIn(bytes, row);
  return { key: bytes.subarray(start, end), hash: bytes.subarray(end, last) };
}

/** Gives rows without an identity of their own their place among those whose key is the same but for it, from 0. */
export type Places = (row: Row, context: Row) => number;

/** Remembers a number for each rest of a key: as much memory as a set of these keys. */
export function createPlaces(key: readonly Column[]): Places {
  const rest = key.filter(column => column.name !== INDEX_COLUMN);
  const next = new Map<string, number>();
  return (row, context) => {
    const parts = rest.map(({ source, path, name }) => textOf(source === "row" ? valueAt(path, row) : context[name]));
    const id = JSON.stringify(parts);
    const place = next.get(id) ?? 0;
    next.set(id, place + 1);
    return place;
  };
}
