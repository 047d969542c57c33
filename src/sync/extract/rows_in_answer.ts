import { ANYWHERE, type Sections } from "../../catalog/stream.ts";
import { valueAt } from "../../rows/encode_value.ts";
import { onlyArray } from "../../rows/only_array.ts";

/** Rows of one array of an answer; `section` is the array's name where several stand side by side. */
export interface Section {
  readonly section: string | undefined;
  readonly rows: readonly unknown[];
}

/** The rows in an answer's data, array by array; undefined where one of the arrays is missing. */
export function sectionsIn(data: unknown, rows: string | Sections): readonly Section[] | undefined {
  const paths: readonly (readonly [string | undefined, string])[] =
    typeof rows === "string" ? [[undefined, rows]] : Object.entries(rows.of);
  const found: Section[] = [];
  for (const [section, path] of paths) {
    const array = arrayAt(data, path);
    if (array === undefined) return undefined;
    found.push({ section, rows: array });
  }
  return found;
}

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
  const paths = typeof rows === "string" ? [rows] : Object.values(rows.of);
  return paths.map(path => (path === "" ? "data" : `data.${path}`)).join(" and ");
}

function arrayAt(data: unknown, path: string): readonly unknown[] | undefined {
  const place = path === ANYWHERE ? onlyArray(data) : path.split(".").filter(field => field !== "");
  if (place?.length === 0) return Array.isArray(data) ? data : undefined;
  if (place === undefined) return undefined;
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  const array = valueAt(place, data as Record<string, unknown>);
  return Array.isArray(array) ? array : undefined;
}
