import { Draw, hash } from "./random.ts";

/** One live row: its number (identity), how often it was changed, and when it was inserted (base rows: undefined). */
export interface Entry {
  readonly number: number;
  readonly revision: number;
  readonly insertedAt: number | undefined;
  /** Where the row stands in the list; smaller is earlier. Base rows have whole ranks from 0, inserted ones anything between. */
  readonly rank: number;
}

interface Placed {
  readonly number: number;
  readonly rank: number;
  readonly at: number | undefined;
}

/** Rows in an order, to be read from a rank or an offset on. */
export interface Listing {
  /** Entries with rank ≥ `from` (or > with `exclusive`) in order. */
  walk(from: number, exclusive?: boolean): Generator<Entry, void, undefined>;
  /** The rank of the entry that stands at `offset` (0-based); Infinity behind the last. */
  rankAt(offset: number): number;
  /** How many entries stand before `rank`. */
  position(rank: number): number;
  /** Whether an entry has exactly this rank. */
  standsAt(rank: number): boolean;
}

/**
 * The rows of a list as an index space: `size` base rows that are never stored, plus what changes made of them.
 * Memory grows with the number of changes, not with the number of rows. Base row `size` is the newest, 1 the oldest.
 */
export class Collection implements Listing {
  readonly size: number;
  readonly #seed: number;
  readonly #revisions = new Map<number, number>();
  readonly #removed = new Set<number>();
  readonly #removedRanks: number[] = [];
  readonly #placed: Placed[] = [];
  readonly #inserted = new Map<number, Placed>();
  #changes = 0;
  #insertions = 0;

  constructor(size: number, seed: number) {
    this.size = size;
    this.#seed = seed;
  }

  /** Live rows. */
  get count(): number {
    return this.size - this.#removedRanks.length + this.#placed.length;
  }

  /** Grows with every change; what was computed from the rows holds as long as it stays. */
  get version(): number {
    return this.#changes;
  }

  /** The row with this number, unless it was deleted or never was. */
  get(number: number): Entry | undefined {
    if (this.#removed.has(number)) return undefined;
    const placed = this.#inserted.get(number);
    if (placed !== undefined) return this.#entry(number, placed.rank, placed.at);
    if (!Number.isInteger(number) || number < 1 || number > this.size) return undefined;
    return this.#entry(number, this.size - number, undefined);
  }

  *walk(from: number, exclusive = false): Generator<Entry, void, undefined> {
    let base = Math.max(0, exclusive ? Math.floor(from) + 1 : Math.ceil(from));
    let next = lowerBound(this.#placed, from, exclusive);
    for (;;) {
      const placed = this.#placed[next];
      if (placed !== undefined && (base >= this.size || placed.rank < base)) {
        next += 1;
        yield this.#entry(placed.number, placed.rank, placed.at);
      } else if (base < this.size) {
        const number = this.size - base;
        const rank = base;
        base += 1;
        if (!this.#removed.has(number) && !this.#inserted.has(number)) yield this.#entry(number, rank, undefined);
      } else return;
    }
  }

  rankAt(offset: number): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.position(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    const start = this.position(low) <= offset ? low : Number.NEGATIVE_INFINITY;
    let skip = offset - (start === low ? this.position(low) : 0);
    for (const entry of this.walk(start)) {
      if (skip === 0) return entry.rank;
      skip -= 1;
    }
    return Number.POSITIVE_INFINITY;
  }

  position(rank: number): number {
    const base = Math.min(this.size, Math.max(0, Math.ceil(rank)));
    return base - below(this.#removedRanks, base) + lowerBound(this.#placed, rank, false);
  }

  standsAt(rank: number): boolean {
    const [entry] = this.walk(rank);
    return entry?.rank === rank;
  }

  /** Adds rows at the given ranks; returns their numbers, which go on from the highest so far. */
  insert(ranks: readonly number[], at: number): number[] {
    this.#changes += 1;
    const first = this.size + this.#insertions + 1;
    this.#insertions += ranks.length;
    const numbers = ranks.map((rank, i) => {
      const placed = { number: first + i, rank, at };
      this.#inserted.set(placed.number, placed);
      this.#placed.push(placed);
      return placed.number;
    });
    this.#placed.sort((a, b) => a.rank - b.rank);
    return numbers;
  }

  /** How many rows were ever inserted. */
  get insertions(): number {
    return this.#insertions;
  }

  /** The rank of the first row; 0 when there is none. */
  get head(): number {
    const [first] = this.walk(Number.NEGATIVE_INFINITY);
    return first?.rank ?? 0;
  }

  /** Gives the rows their next revision. */
  revise(numbers: readonly number[]): void {
    this.#changes += 1;
    for (const number of numbers) this.#revisions.set(number, (this.#revisions.get(number) ?? 0) + 1);
  }

  /** Takes rows out of the list; numbers that aren't live are passed over. */
  remove(numbers: readonly number[]): void {
    this.#changes += 1;
    for (const number of numbers) {
      if (this.get(number) === undefined) continue;
      this.#removed.add(number);
      const placed = this.#inserted.get(number);
      if (placed !== undefined) this.#placed.splice(this.#placed.indexOf(placed), 1);
      else this.#removedRanks.splice(below(this.#removedRanks, this.size - number), 0, this.size - number);
    }
  }

  /** Puts live rows elsewhere in the list, as they are. */
  move(numbers: readonly number[], rankOf: (index: number) => number): void {
    this.#changes += 1;
    for (const [index, number] of numbers.entries()) {
      const entry = this.get(number);
      if (entry === undefined) continue;
      const before = this.#inserted.get(number);
      if (before !== undefined) this.#placed.splice(this.#placed.indexOf(before), 1);
      else this.#removedRanks.splice(below(this.#removedRanks, entry.rank), 0, entry.rank);
      const placed = { number, rank: rankOf(index), at: entry.insertedAt };
      this.#inserted.set(number, placed);
      this.#placed.splice(lowerBound(this.#placed, placed.rank, false), 0, placed);
    }
  }

  /** Brings removed rows back to where they stood, with the revision they had. */
  restore(numbers: readonly number[]): void {
    this.#changes += 1;
    for (const number of numbers) {
      if (!this.#removed.delete(number)) continue;
      const placed = this.#inserted.get(number);
      if (placed !== undefined) this.#placed.splice(lowerBound(this.#placed, placed.rank, false), 0, placed);
      else this.#removedRanks.splice(below(this.#removedRanks, this.size - number), 1);
    }
  }

  /** Tells that a row's served fields were changed from outside (a patch). */
  touch(): void {
    this.#changes += 1;
  }

  /** `count` different live rows, chosen by the seed and the number of changes so far. */
  choose(count: number): number[] {
    const live = this.count;
    const draw = new Draw(hash(this.#seed, 77, this.#changes, live));
    if (count * 4 > live) return this.#sample(Math.min(count, live), draw);
    const chosen = new Set<number>();
    while (chosen.size < count) {
      const [entry] = this.walk(this.rankAt(draw.below(live)));
      if (entry !== undefined) chosen.add(entry.number);
    }
    return [...chosen];
  }

  #sample(count: number, draw: Draw): number[] {
    const chosen: number[] = [];
    let left = this.count;
    for (const entry of this.walk(Number.NEGATIVE_INFINITY)) {
      if (draw.next() / 4294967296 < (count - chosen.length) / left) chosen.push(entry.number);
      left -= 1;
    }
    return chosen;
  }

  #entry(number: number, rank: number, insertedAt: number | undefined): Entry {
    return { number, rank, insertedAt, revision: this.#revisions.get(number) ?? 0 };
  }
}

function lowerBound(placed: readonly Placed[], rank: number, exclusive: boolean): number {
  let low = 0;
  let high = placed.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = placed[middle]?.rank ?? Number.POSITIVE_INFINITY;
    if (at < rank || (exclusive && at === rank)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function below(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? Number.POSITIVE_INFINITY) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
