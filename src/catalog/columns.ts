import type { z } from "zod";
import { isReserved } from "./reserved_words.ts";

/** What is done to values that are not stored as they come: they are left out, replaced by a keyed hash, or masked. */
export type Treatment = "exclude" | "hash" | "mask";

/** What a field means; decides its SQL type and how its values are read. */
export type Kind =
  | "id"
  | "text"
  | "money"
  | "quantity"
  | "count"
  | "percent"
  | "score"
  | "flag"
  | "date"
  | "moment"
  | "json";

/** Where the currency of a money column stands; becomes part of the column's comment. */
export type Currency =
  | { readonly in: "row"; readonly column: string }
  | { readonly in: "table"; readonly table: string; readonly column: string; readonly by: string }
  | { readonly in: "name" }
  | { readonly in: "unknown" };

/** The metadata a schema's field carries (`schema.meta()`). */
export interface FieldMeta {
  readonly kind?: Kind;
  readonly holds?: "object" | "array";
  readonly volatile?: boolean;
  /** Says something about a person: see `privacy` in the configuration. */
  readonly personal?: boolean;
  readonly currency?: Currency;
  readonly description?: string;
  /** Another column name than the field's own. */
  readonly column?: string;
  /** On an array of objects: the name of its child table. */
  readonly table?: string;
  /** Not a field: the whole row as it came. */
  readonly whole?: boolean;
  /** In a child table the service's own number or name of a line. */
  readonly identifies?: boolean;
}

/** Where a column's value comes from: the row (or array element), the page it came on, or what the reader knows. */
export type Source = "row" | "page" | "context";

/** One column of a table. `path` is the API field path below the row (none: the whole row), the page's data, or the name of a context value. */
export interface Column {
  readonly name: string;
  readonly path: readonly string[];
  readonly source: Source;
  readonly kind: Kind;
  /** The documented type of JSON: a value of another type is a problem. Undefined: whatever comes. */
  readonly holds?: "object" | "array" | undefined;
  readonly nullable: boolean;
  readonly volatile: boolean;
  /** Not documented: it was added because the service sends the field. Its text is whatever scalar came. */
  readonly added?: true;
  /** Says something about a person. */
  readonly personal?: true;
  /** The service's own number or name of a line: see `LINE_ID_COLUMN`. */
  readonly identifies?: true;
  /** What its values went through before they were stored. */
  readonly treatment?: Exclude<Treatment, "exclude">;
  readonly currency: Currency | undefined;
  readonly description: string;
}

/**
 * A main table (`path` empty) or a child table (`path` leads to its array). `key` is unique within a company;
 * in a child table it is the parent's key and `_index`, and of live rows so is that key with `_line_id`. `columns` holds the key's columns too, in table order.
 */
export interface Table {
  readonly name: string;
  readonly description: string;
  readonly path: readonly string[];
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  /** Documented columns that the configuration leaves out. */
  readonly excluded?: readonly Column[];
  /** Columns that somebody added to it (`others`), for which changed rows are updated in place. `left`: those that tributary made and no longer writes. */
  readonly extended?: { readonly others: readonly string[]; readonly left: readonly string[] } | undefined;
}

/** A stream's tables: the main one and a child table for each documented array of objects. */
export interface TableSet {
  readonly main: Table;
  readonly children: readonly Table[];
}

/** What `tablesOf` needs to know beside the schema. */
export interface TablePlan {
  readonly name: string;
  readonly row: z.ZodObject;
  readonly key: readonly string[];
  /** Columns whose values come from the page or the reader (an ordinal, the parent's key, the day observed). */
  readonly added: readonly Column[];
  /** Further volatile fields, by column name, from the config. */
  readonly volatile: readonly string[];
  /** What the config adds to the key: a row without it is a reject. */
  readonly widening?: readonly string[];
}

export const INDEX_COLUMN = "_index";

/**
 * What tells a child row from the others of its parent, wherever it stands: the column that `identifies` it where that is
 * not null and no other row has the same, else "~" and a hash of the row. It follows from the rest: no change of a row.
 */
export const LINE_ID_COLUMN = "_line_id";

/** Turns a row's schema (a file of `schemas/`, named by its stream in `streams/`) into its tables. Throws TypeError for a schema the engine cannot store. */
export function tablesOf(plan: TablePlan): TableSet {
  const children: Table[] = [];
  const own = columnsOf(plan.row, [], "", (path, element, meta) => {
    children.push(childTable(plan, path, element, meta));
  });
  const added = plan.added.filter(column => !own.some(other => other.name === column.name));
  const leading = added.filter(column => plan.key.includes(column.name));
  const trailing = added.filter(column => !plan.key.includes(column.name));
  const required = (column: Column): Column =>
    plan.widening?.includes(column.name) ? { ...column, nullable: false, volatile: false } : column;
  const columns = [...leading, ...own, ...trailing].map(column => required(markVolatile(column, plan.volatile)));
  for (const name of plan.key) {
    const column = columns.find(candidate => candidate.name === name);
    if (column === undefined)
      throw new TypeError(`${plan.name}: its key names ${name}, which its schema does not have`);
    if (column.nullable) throw new TypeError(`${plan.name}: its key names ${name}, which may be null`);
  }
  const main = { name: plan.name, description: metaOf(plan.row).description ?? "", path: [], key: plan.key, columns };
  const keyColumns = plan.key.map(name => columns.find(column => column.name === name)!);
  return { main, children: children.map(child => withParentKey(child, keyColumns)) };
}

function childTable(plan: TablePlan, path: readonly string[], element: z.ZodObject, meta: FieldMeta): Table {
  const name = meta.table ?? `${plan.name.replace(/s$/, "")}_${path.map(snakeCase).join("_")}`;
  const columns = columnsOf(element, [], "", nested => {
    throw new TypeError(
      `${name}: an array of objects within an array of objects (${nested.join(".")}) is stored as json()`,
    );
  });
  return { name, description: meta.description ?? "", path, key: [INDEX_COLUMN], columns };
}

/** A child's own field that is called like a column of the parent's key gives way with an underscore, as a reserved word does. */
function withParentKey(child: Table, parentKey: readonly Column[]): Table {
  const taken = new Set([...parentKey.map(column => column.name), INDEX_COLUMN, LINE_ID_COLUMN]);
  const own = child.columns.map(column => (taken.has(column.name) ? { ...column, name: `${column.name}_` } : column));
  const key = parentKey.map(column => ({
    ...column,
    source: "context" as const,
    path: [column.name],
    volatile: false,
  }));
  return {
    ...child,
    key: [...key.map(column => column.name), INDEX_COLUMN],
    columns: [...key, indexColumn(), lineIdColumn(own), ...own],
  };
}

function indexColumn(): Column {
  return addedColumn(
    INDEX_COLUMN,
    "context",
    "count",
    "Position in the array the service answered, from 0; not an identity.",
  );
}

function lineIdColumn(columns: readonly Column[]): Column {
  const number = columns.find(({ identifies }) => identifies)?.name;
  const hash = "~ and a hash of the row's values";
  const description = `What tells the row from the others of its array, wherever it stands there: ${number === undefined ? hash : `${number} or, where that is null or another row's too, ${hash}`}; of equal rows the second one's ends in #2; null after a change of privacy until the row is read again.`;
  return addedColumn(LINE_ID_COLUMN, "context", "id", description, { nullable: true, volatile: true });
}

/** A column that no documented field stands for. */
export function addedColumn(
  name: string,
  source: Source,
  kind: Kind,
  description: string,
  more: Partial<Pick<Column, "nullable" | "volatile" | "path" | "personal">> = {},
): Column {
  return {
    name,
    path: [name],
    source,
    kind,
    nullable: false,
    volatile: false,
    currency: undefined,
    description,
    ...more,
  };
}

type OnArray = (path: readonly string[], element: z.ZodObject, meta: FieldMeta) => void;

function columnsOf(object: z.ZodObject, path: readonly string[], prefix: string, onArray: OnArray): Column[] {
  const columns: Column[] = [];
  for (const [field, schema] of Object.entries(object.shape)) {
    const { inner, nullable, meta } = unwrap(schema as z.ZodType);
    const fieldPath = [...path, field];
    if (inner.def.type === "object") {
      columns.push(...columnsOf(inner as z.ZodObject, fieldPath, `${prefix}${snakeCase(field)}_`, onArray));
    } else if (inner.def.type === "array" && meta.kind === undefined) {
      onArray(fieldPath, arrayElement(inner as z.ZodArray, fieldPath), meta);
    } else {
      if (meta.kind === undefined)
        throw new TypeError(`${fieldPath.join(".")}: a field needs a kind (text(), money(), …)`);
      const name = meta.column ?? `${prefix}${snakeCase(field)}`;
      columns.push({
        name: isReserved(name) ? `${name}_` : name,
        path: meta.whole === true ? [] : fieldPath,
        source: "row",
        kind: meta.kind,
        nullable: nullable || path.length > 0,
        volatile: meta.volatile ?? false,
        currency: meta.currency,
        description: meta.description ?? "",
        ...(meta.holds === undefined ? {} : { holds: meta.holds }),
        ...(meta.personal === true ? { personal: true } : {}),
        ...(meta.identifies === true ? { identifies: true } : {}),
      });
    }
  }
  return columns;
}

function arrayElement(array: z.ZodArray, path: readonly string[]): z.ZodObject {
  const { inner } = unwrap(array.element as z.ZodType);
  if (inner.def.type !== "object")
    throw new TypeError(`${path.join(".")}: an array of anything but objects is a json() field`);
  return inner as z.ZodObject;
}

function unwrap(schema: z.ZodType): { inner: z.ZodType; nullable: boolean; meta: FieldMeta } {
  let inner = schema;
  let nullable = false;
  let meta = metaOf(schema);
  while (inner.def.type === "nullable") {
    nullable = true;
    inner = (inner as z.ZodNullable<z.ZodType>).unwrap();
    meta = { ...metaOf(inner), ...meta };
  }
  return { inner, nullable, meta };
}

function metaOf(schema: z.ZodType): FieldMeta {
  return (schema.meta() ?? {}) as FieldMeta;
}

function markVolatile(column: Column, names: readonly string[]): Column {
  return names.includes(column.name) ? { ...column, volatile: true } : column;
}

/** `requiresApproval` → `requires_approval`. */
export function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}
