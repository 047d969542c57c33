/** A row by its key, as `column=value`, and its time in the high-water column, in microseconds since 1970. */
export interface OldRow {
  readonly key: string;
  readonly at: number;
}

/** As many different rows as it takes to doubt a filter: a single one may be odd itself. */
export const PLURAL = 2;

/** The first rows of a list that are different ones, as many as count. */
export function differentRows(rows: readonly OldRow[]): readonly OldRow[] {
  return rows.filter((row, index) => rows.findIndex(({ key }) => key === row.key) === index).slice(0, PLURAL);
}

/** The oldest different rows of several batches. */
export const oldestOf = (rows: readonly OldRow[]): readonly OldRow[] =>
  differentRows(rows.toSorted((a, b) => a.at - b.at));

interface Seen<Row> {
  readonly row: Row;
  readonly at: number;
}

/** Remembers the two oldest rows of a batch. Feeds come newest first, so nearly every row is one for a moment: keys are read at the end. */
export class OldestRows<Row> {
  #first: Seen<Row> | undefined;
  #second: Seen<Row> | undefined;
  readonly #keyOf: (row: Row) => string;

  constructor(keyOf: (row: Row) => string) {
    this.#keyOf = keyOf;
  }

  see(row: Row, at: number): void {
    const first = this.#first;
    if (first === undefined || at < first.at) {
      this.#second = first;
      this.#first = { row, at };
    } else if (this.#second === undefined || at < this.#second.at) {
      // A page may show a row again.
      if (at !== first.at || this.#keyOf(row) !== this.#keyOf(first.row)) this.#second = { row, at };
    }
  }

  take(): readonly OldRow[] {
    const seen = [this.#first, this.#second].filter(each => each !== undefined);
    this.#first = undefined;
    this.#second = undefined;
    return differentRows(seen.map(({ row, at }) => ({ key: this.#keyOf(row), at })));
  }
}
