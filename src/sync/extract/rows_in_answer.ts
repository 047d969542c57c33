import { ANYWHERE, type Sections } from "../../catalog/stream.ts";
import { valueAt } from "../../rows/encode_value.ts";
import { onlyArray } from "../../rows/only_array.ts";

/** Rows of one array of an answer; `section` is the array's name where several stand side by side. */
export interface Section {
  readonly section: string | undefined;
  readonly rows: readonly unknown[];
}

/** The rows in an answer's data, array by array; undefined where one of the arrays is missing. `nullIsEmpty`: an answer without any row may have null for arrays. */
export function sectionsIn(
  data: unknown,
  rows: string | Sections,
  nullIsEmpty = false,
): readonly Section[] | undefined {
  const found: Section[] = [];
  let hasNull = false;
  for (const [section, path] of pathsOf(rows)) {
    const came = cameAt(data, path);
    if (came !== null && !Array.isArray(came)) return undefined;
    hasNull ||= came === null;
    found.push({ section, rows: came ?? [] });
  }
  // Beside rows of another array the guard of an empty answer does not stand.
  const isEmpty = found.every(each => each.rows.length === 0);
  return hasNull && !(nullIsEmpty && isEmpty) ? undefined : found;
}

/** Whether null stands where rows are expected. */
export const hasNullRows = (data: unknown, rows: string | Sections): boolean =>
  pathsOf(rows).some(([, path]) => cameAt(data, path) === null);

const pathsOf = (rows: string | Sections): readonly (readonly [string | undefined, string])[] =>
  typeof rows === "string" ? [[undefined, rows]] : Object.entries(rows.of);

/** What stands where rows are expected, of the first place that has none, in words. */
export function insteadOfRows(data: unknown, rows: string | Sections): string {
  const [came] = pathsOf(rows)
    .map(([, path]) => cameAt(data, path))
    .filter(each => !Array.isArray(each));
  return nameOf(came);
}

/** A value's kind, in words. */
export function nameOf(came: unknown): string {
  if (came === undefined) return "nothing";
  if (came === null) return "null";
  if (Array.isArray(came)) return "a list";
  return typeof came === "object" ? "an object" : `a ${typeof came}`;
}

type Digest = (row: unknown, context: Record<string, unknown>) => string;

/** What tells an answer from the listing's others: its first row and its last one, in the words of `digest`; nothing where it has no row. */
export function edgesOf(data: unknown, place: string | Sections, digest: Digest): readonly string[] {
  const sections = (sectionsIn(data, place, true) ?? []).filter(({ rows }) => rows.length > 0);
  const [first, last] = [sections.at(0), sections.at(-1)];
  if (first === undefined || last === undefined) return [];
  const digested = ({ section, rows }: Section, at: number) => digest(rows.at(at), contextOf(place, section));
  return [digested(first, 0), digested(last, -1)];
}

/** All rows of an answer, in the words of `digest`. */
export function digestsOf(data: unknown, place: string | Sections, digest: Digest): readonly string[] {
  const sections = sectionsIn(data, place, true) ?? [];
  return sections.flatMap(({ section, rows }) => rows.map(row => digest(row, contextOf(place, section))));
}

const contextOf = (place: string | Sections, section: string | undefined) =>
  typeof place === "string" ? {} : { [place.column]: section };

/** The fields of an answer's data, which stand beside its rows, or of a row; none of anything but an object. */
export function besideRows(data: unknown): Record<string, unknown> {
  const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
  return isObject ? (data as Record<string, unknown>) : {};
}

/** All rows in an answer's data, whatever array they stand in; none where an array is missing. */
export function rowsIn(data: unknown, rows: string | Sections): readonly unknown[] {
  return (sectionsIn(data, rows) ?? []).flatMap(section => section.rows);
}

/** Where rows are expected, in words. */
export function placeOfRows(rows: string | Sections): string {
  if (rows === ANYWHERE) return "one array of objects within data, and no second one";
  return pathsOf(rows)
    .map(([, path]) => (path === "" ? "data" : `data.${path}`))
    .join(" and ");
}

function cameAt(data: unknown, path: string): unknown {
  const place = path === ANYWHERE ? onlyArray(data) : path.split(".").filter(field => field !== "");
  if (place === undefined) return undefined;
  return place.length === 0 ? data : valueAt(place, besideRows(data));
}
