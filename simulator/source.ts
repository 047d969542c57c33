import type { Collection, Entry, Listing } from "./collection.ts";
import { type Faults, spoil } from "./faults.ts";

export type Row = Record<string, unknown>;

/** What makes the rows of one stream: its key, its rows, and where an inserted row stands. */
export interface Family {
  /** Path of the list, relative to /api/v1. */
  readonly path: string;
  /** The row field that `key` writes. */
  readonly keyField: string;
  readonly key: (number: number) => string;
  /** The number behind a key; NaN for what is no key. */
  readonly number: (key: string) => number;
  readonly row: (entry: Entry) => Row;
  /** The documents promise the order of the list. */
  readonly ordered?: true;
  /** Ranks for `count` rows that are inserted now; newest-first lists put them before all others. */
  readonly ranks: (count: number, collection: Collection) => number[];
}

/** Ranks at the head of a list, newest first. */
export function atTheHead(count: number, collection: Collection): number[] {
  return Array.from({ length: count }, (_, i) => -(collection.insertions + i + 1));
}

/** One stream's rows as they are served: the family's rows, changed by revisions, patches and row faults. */
export interface Source {
  readonly family: Family;
  readonly collection: Collection;
  /** The rows in the order of the list. */
  readonly listing: Listing;
  readonly patches: Map<number, Row>;
  readonly row: (entry: Entry, faults: Faults) => Row;
}

export function sourceOf(family: Family, collection: Collection, listing: Listing = collection): Source {
  const patches = new Map<number, Row>();
  return {
    family,
    collection,
    listing,
    patches,
    row: (entry, faults) => {
      const row = family.row(entry);
      if (faults.unknownFields > 0 || faults.wrongTypes > 0 || faults.nullKeys > 0) {
        spoil(row, entry.number, family.keyField, faults);
      }
      return patchedWith(row, patches.size === 0 ? undefined : patches.get(entry.number));
    },
  };
}

const patched = new WeakMap<Row, Row>();

/** The row with fields that are set from outside. */
export function patchedWith(row: Row, patch: Row | undefined): Row {
  if (patch !== undefined) patched.set(Object.assign(row, patch), patch);
  return row;
}

/** The fields of a row that were set from outside: no vocabulary translates them. */
export const patchOf = (row: Row): Row | undefined => patched.get(row);
