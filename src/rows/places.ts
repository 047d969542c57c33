import { type Column, INDEX_COLUMN } from "../catalog/columns.ts";
import { textOf, valueAt } from "./record.ts";

type Row = Record<string, unknown>;

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
