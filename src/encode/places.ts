import { type Column, INDEX_COLUMN } from "../columns.ts";
import { textOf, valueAt } from "../record.ts";

type Row = Record<string, unknown>;

/** Gives rows without an identity of their own their place among those whose key is the same but for it, from 0. */
export type Places = (row: Row, context: Row) => number;

/** How many rows of a key have had their place: the key's other columns as text, in its order. */
export interface Taken {
  readonly rest: readonly string[];
  readonly places: number;
}

/** The columns of a key that say among which rows a place is one. */
export const restOf = (key: readonly Column[]): readonly Column[] => key.filter(column => column.name !== INDEX_COLUMN);

/** Remembers a number for each rest of a key: as much memory as a set of these keys. */
export function createPlaces(key: readonly Column[], taken: readonly Taken[]): Places {
  const rest = restOf(key);
  const next = new Map(taken.map(each => [JSON.stringify(each.rest), each.places]));
  return (row, context) => {
    const parts = rest.map(({ source, path, name }) => textOf(source === "row" ? valueAt(path, row) : context[name]));
    const id = JSON.stringify(parts);
    const place = next.get(id) ?? 0;
    next.set(id, place + 1);
    return place;
  };
}
