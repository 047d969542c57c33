import { isObject } from "./reject.ts";

type Found = { readonly path: readonly string[]; readonly rows: readonly unknown[] };

/**
 * Where in an answer's data its only array of objects stands, for listings whose place the documents don't show: field names,
 * none where the data is the array. Where all arrays are empty it is the first; undefined where there is none, or several.
 */
export function onlyArray(data: unknown): readonly string[] | undefined {
  const all = arraysIn(data, []).filter(({ rows }) => rows.every(isObject));
  const filled = all.filter(({ rows }) => rows.length > 0);
  return filled.length > 1 ? undefined : (filled[0] ?? all[0])?.path;
}

/** Arrays that do not stand within another one. */
function arraysIn(value: unknown, path: readonly string[]): Found[] {
  if (Array.isArray(value)) return [{ path, rows: value }];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([field, inner]) => arraysIn(inner, [...path, field]));
}
