import type { Column, Table } from "../catalog/columns.ts";
import { isConfidential } from "./confidential.ts";
import { fieldName, jsonType, type TableDrift } from "./drift.ts";

/** The fields a row may have: `true` for one that is stored, a tree for a documented nested object. */
export interface FieldTree {
  readonly [field: string]: true | FieldTree;
}

/**
 * The documented fields of a table's rows; `arrays` are the fields its child tables come from, `ignored` belong to other
 * streams. Undefined where a column holds the whole row: no field is unknown then.
 */
export function fieldTree(
  table: Table,
  arrays: readonly (readonly string[])[],
  ignored: readonly string[],
): FieldTree | undefined {
  if (hasWhole(table)) return undefined;
  const tree: Record<string, true | FieldTree> = Object.create(null);
  const put = (path: readonly string[]) => {
    let node = tree;
    for (const field of path.slice(0, -1)) {
      if (typeof node[field] !== "object") node[field] = Object.create(null) as FieldTree;
      node = node[field] as Record<string, true | FieldTree>;
    }
    node[path.at(-1)!] = true;
  };
  for (const column of table.columns) if (column.source === "row") put((column satisfies Column).path);
  for (const path of arrays) put(path);
  for (const field of ignored) put([field]);
  return tree;
}

/** The fields of a tree that are not among those that are read; undefined where one has documented fields of its own. */
export function unreadFields(tree: FieldTree, read: readonly (string | undefined)[]): readonly string[] | undefined {
  const fields = Object.keys(tree);
  return fields.every(field => tree[field] === true) ? fields.filter(field => !read.includes(field)) : undefined;
}

/** Whether a column of the table holds the row as it came. */
export function hasWhole({ columns }: Table): boolean {
  return columns.some(({ source, path }) => source === "row" && path.length === 0);
}

/** The fields of `row` that the documents don't name, in their own nesting; undefined when there are none. */
export function unknownFields(row: Record<string, unknown>, tree: FieldTree): Record<string, unknown> | undefined {
  let found: Record<string, unknown> | undefined;
  for (const field in row) {
    const known = tree[field];
    if (known === true || isConfidential(field)) continue;
    const value = row[field];
    let extra = value;
    if (known !== undefined) {
      if (value === null || value === undefined) continue;
      // A documented object that arrives as something else is kept whole: nothing of it found a column.
      if (jsonType(value) === "object") {
        extra = unknownFields(value as Record<string, unknown>, known);
        if (extra === undefined) continue;
      }
    }
    found ??= Object.create(null) as Record<string, unknown>;
    found[field] = extra;
  }
  return found;
}

/** Tells the fields of `extra` that are new, and the documented objects among them that came as something else. */
export function reportUnknown(extra: Record<string, unknown>, tree: FieldTree, drift: TableDrift, prefix = ""): void {
  for (const field in extra) {
    const known = tree[field];
    const value = extra[field];
    const name = prefix + fieldName(field);
    if (known === undefined || known === true) drift.newField(name, value);
    else if (jsonType(value) === "object") reportUnknown(value as Record<string, unknown>, known, drift, `${name}.`);
    else drift.otherType(name, value);
  }
}
