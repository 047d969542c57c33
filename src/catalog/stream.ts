import type { z } from "zod";
import { addedColumn, type Column, INDEX_COLUMN, type Kind, snakeCase, type TableSet, tablesOf } from "./columns.ts";
import { isReserved } from "./reserved_words.ts";

export type Preset = "core" | "standard" | "all" | "lookup";

/** What a row's absence from a complete scan means: it is `gone`, it `left` a working list, or nothing (`kept`). */
export type Absence = "gone" | "left" | "kept";

/** A column taken from the page's data beside the rows (a list's currency). Outside the change hash. */
export interface PageColumn {
  readonly name: string;
  readonly kind: Kind;
  readonly field: string;
  readonly description: string;
  readonly personal?: true;
}

/** Arrays side by side in one answer: each array's rows get its name in `column`. */
export interface Sections {
  readonly column: string;
  readonly description: string;
  /** Path of the array by the name that its rows get. */
  readonly of: Readonly<Record<string, string>>;
}

/** Rows that are the only array of objects in an answer's data, wherever it stands. */
export const ANYWHERE = "*";

/** Where in an answer's data the rows stand. */
export interface Rows {
  /** Path of the array; "" where the data itself is the array; ANYWHERE where the documents don't show its place. */
  readonly rows: string | Sections;
  /** The field that a row becomes which is a bare value instead of an object. */
  readonly scalar?: string;
  readonly pageColumns?: readonly PageColumn[];
}

/** A listing: cursor pages, or one complete answer, of rows. */
export interface Listing extends Rows {
  /** Path in `data` of the list's own total, where the service gives one. */
  readonly total?: string;
  readonly absence?: Absence;
  /** Queries that bring its rows in one order and in the opposite one. A list that breaks off is read by them from its other end. */
  readonly orders?: readonly Readonly<Record<string, string>>[];
  /** Sent with each of `orders` where these are not the list's own order: then they tell nothing of the rows that it showed. */
  readonly sortedBy?: Readonly<Record<string, string>>;
  /** Template of the row's own endpoint; its 404 confirms that a missing row is gone. */
  readonly confirm?: string;
}

/** How a feed is narrowed to what is new since the high-water mark. */
export type Narrowing =
  | { readonly by: "dates"; readonly from: string; readonly to: string }
  | { readonly by: "window"; readonly parameter: string; readonly days: readonly number[] };

/** Read whole, every time. */
export interface Scan extends Listing {
  readonly kind: "scan";
  /** False: one request brings the complete list. */
  readonly paged?: false;
  /** Sent with the one request; as many rows as this are not known to be all. */
  readonly limit?: number;
  /** Asked for once for each set of values that the config names. */
  readonly lookup?: Lookup;
}

/** What a lookup asks with: values for the path's parameters and for `ask`. The key begins with them. */
export interface Lookup {
  /** Query parameters that take values beside the path's. */
  readonly ask?: readonly string[];
  /** The query's parameters are not documented: every further value is sent as one, and `asked_with` names them. */
  readonly passes?: true;
  /** Columns whose distinct values are taken when the config gives none (`purchase_orders.vendor_id`), by parameter. */
  readonly from?: Readonly<Record<string, readonly string[]>>;
  /** The answer is one row, not a list: `rows` counts for nothing. */
  readonly single?: true;
}

/** Read whole while that is cheap, else since the high-water mark: the greatest `highWaterColumn` of the rows of a complete scan. */
export interface Feed extends Listing {
  readonly kind: "feed";
  readonly highWaterColumn: string;
  readonly narrow: Narrowing;
  readonly fullScanPages: number;
  readonly fullScanEveryDays: number;
  readonly lookbackDays: number;
}

/** One request for each row of the parent stream; the path's parameter is the parent's column of that name, unless `param` maps it. */
export interface Detail extends Partial<Rows> {
  readonly kind: "detail";
  readonly of: string;
  /**
   * Not the parent's rows are asked for but the distinct values of this column of theirs (of a JSON object: its field names),
   * which the key begins with, under a name of its own.
   */
  readonly by?: string;
  /** Further columns whose values are asked for too, as `stream.column`. */
  readonly also?: readonly string[];
  /** Values are due again after so many days, whatever became of the rows that carry them. */
  readonly everyDays?: number;
  /** Only parents with this value. */
  readonly only?: { readonly column: string; readonly value: string };
  /** The rows of one parent come in cursor pages. */
  readonly paged?: true;
  readonly param?: Readonly<Record<string, string>>;
  /** Parent's flag column: these can still change, so they come first, and a look at them counts twice. */
  readonly open?: string;
  /** Parent's date or moment column: newest come first; `streams.start` bounds it. */
  readonly newest?: string;
}

/** One object, measured once a day. `omit` names fields of the answer that belong to another stream, or to nobody. */
export interface Snapshot {
  readonly kind: "snapshot";
  readonly omit?: readonly string[];
  /** Query parameters and the values they take unless the config names others: a row a day for each combination, their names in the key. */
  readonly parameters?: Readonly<Record<string, readonly string[]>>;
}

export type Mode = Scan | Feed | Detail | Snapshot;

/** The field that a stream's row becomes which is a bare value instead of an object; undefined where none may be. */
export const scalarOf = ({ mode }: { readonly mode: Mode }): string | undefined =>
  mode.kind === "snapshot" ? undefined : mode.scalar;

/** A catalogue entry as it is written in `streams/`: five to seven facts. */
export interface StreamFacts {
  readonly name: string;
  /** Below `/api/v1`; a parameter in braces names a path parameter. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly mode: Mode;
  readonly row: z.ZodObject;
  /** Unique within one company; a detail's begins with its parent's. A snapshot's is the day it was observed. */
  readonly key: readonly string[];
  readonly preset: Preset;
}

/** A stream whose schema, key and high-water column are known to fit, with its tables. */
export interface Stream extends StreamFacts {
  readonly tables: TableSet;
}

/** Streams that belong together, as a catalogue shows them. */
export interface StreamGroup {
  readonly title: string;
  readonly streams: readonly Stream[];
}

/** The endpoint that tells whose key it is: fields of its data. */
export interface IdentityEndpoint {
  readonly path: string;
  readonly id: string;
  readonly name: string;
}

/** How a file is handed to the service, and where the service tells what became of it. */
export interface UploadFlow {
  /** POST of `file_name` and `content_type`, which answers `upload_url` and `key`. */
  readonly initiate: string;
  /** POST of `key` and `original_filename`, which answers `doc_id`. */
  readonly finalize: string;
  /** The document's own path, the field of its data that may tell how far it is processed, and patterns of values that mean a failure. */
  readonly record: { readonly path: string; readonly status: string; readonly failed: readonly string[] };
  /** The list of documents, newest first; its rows' fields are not documented. */
  readonly list: string;
  /** A feed that shows documents, its parameter for the first day, and fields of its rows. */
  readonly feed: Readonly<Record<"path" | "rows" | "from" | "id" | "name" | "status", string>>;
  /** By stream the column of its table that names the document. */
  readonly results: Readonly<Record<string, string>>;
}

export const OBSERVED_ON = "observed_on";
export const ASKED_WITH = "asked_with";

export const scan = (listing: Listing): Scan => ({ kind: "scan", ...listing });
/** One request, the complete list. */
export const list = (listing: Listing & Pick<Scan, "limit">): Scan => ({ kind: "scan", paged: false, ...listing });
/** One request for each set of values that the config names. */
export const lookup = ({ ask, passes, from, ...listing }: Lookup & Partial<Listing> = {}): Scan => ({
  kind: "scan",
  paged: false,
  rows: "",
  ...listing,
  lookup: {
    ...(ask === undefined ? {} : { ask }),
    ...(passes === undefined ? {} : { passes }),
    ...(from === undefined ? {} : { from }),
    ...(listing.rows === undefined ? { single: true as const } : {}),
  },
});
export const feed = (facts: Omit<Feed, "kind">): Feed => ({ kind: "feed", ...facts });
export const detail = (facts: Omit<Detail, "kind">): Detail => ({ kind: "detail", ...facts });
export const snapshot = (facts: Omit<Snapshot, "kind"> = {}): Snapshot => ({ kind: "snapshot", ...facts });

/** The stream of these facts. TypeError, when its tables are first asked for, if schema, key and high-water column don't fit. */
export function defineStream(facts: StreamFacts): Stream {
  return streamOf(facts, noColumns);
}

/** What the configuration says of a stream's columns: further volatile ones, and its whole key where that is wider (else empty). */
export interface OwnColumns {
  readonly volatile: readonly string[];
  readonly key: readonly string[];
}

const noColumns: OwnColumns = { volatile: [], key: [] };

/** The stream with the columns that the configuration wants. */
export function withColumns(stream: Stream, own: OwnColumns): Stream {
  return own.volatile.length + own.key.length === 0 ? stream : streamOf(stream, own);
}

// A run needs a few of the catalogue's tables; working all of them out took a tenth of a second of its start.
function streamOf(facts: StreamFacts, own: OwnColumns): Stream {
  let tables: TableSet | undefined;
  return {
    ...facts,
    key: own.key.length === 0 ? facts.key : own.key,
    get tables() {
      tables ??= streamTables(facts, own);
      return tables;
    },
  };
}

function streamTables(facts: StreamFacts, { volatile, key }: OwnColumns): TableSet {
  const { name, row, mode } = facts;
  const widening = key.slice(facts.key.length);
  const added = [...addedColumns(facts), ...widening.map(undocumentedColumn)];
  const tables = tablesOf({ name, row, key: [...facts.key, ...widening], added, volatile, widening });
  if (mode.kind === "feed") {
    const column = tables.main.columns.find(({ name }) => name === mode.highWaterColumn);
    if (column?.kind !== "moment")
      throw new TypeError(`${facts.name}: its high-water column ${mode.highWaterColumn} is not a moment of its schema`);
  }
  return tables;
}

const undocumentedColumn = (name: string): Column =>
  addedColumn(name, "row", "id", "Part of the key by the configuration; the service's documents don't name the field.");

/** A column of ids that come with the request instead of the row. */
const requestColumn = (name: string, description: string): Column => addedColumn(name, "context", "id", description);

function addedColumns({ mode, path, key }: StreamFacts): Column[] {
  switch (mode.kind) {
    case "snapshot":
      return [
        addedColumn(OBSERVED_ON, "context", "date", "The day on which the service gave these figures."),
        ...Object.keys(mode.parameters ?? {}).map(name =>
          requestColumn(
            name,
            `Value of the parameter ${name} that these figures were asked with; the configuration may name others.`,
          ),
        ),
      ];
    case "detail": {
      const own = mode.by === undefined ? pathParameters(path).map(name => mode.param?.[name] ?? snakeCase(name)) : [];
      const names = new Set([...own, ...key].filter(name => name !== INDEX_COLUMN));
      return [
        ...[...names].map(name =>
          requestColumn(
            name,
            mode.by === undefined
              ? `Row of ${mode.of} that it belongs to, by ${mode.of}.${name}.`
              : `Value of ${mode.of}.${mode.by} that the request was made for; joins to that column.`,
          ),
        ),
        ...placed(key),
        ...besideRows(mode, false),
      ];
    }
    case "scan":
      return [...(mode.lookup === undefined ? [] : askedFor(path, mode.lookup)), ...placed(key), ...besideRows(mode)];
    case "feed":
      return [...placed(key), ...besideRows(mode)];
  }
}

/** What a lookup asked with: context values named like the parameters. */
function askedFor(path: string, { ask = [], passes }: Lookup): Column[] {
  const names = [...pathParameters(path), ...ask];
  const columns = names.map(name =>
    requestColumn(
      parameterColumn(name),
      `Value of the parameter ${name} that the request was made with; the configuration names the values.`,
    ),
  );
  const others = requestColumn(ASKED_WITH, "The query that was asked with, its parameters in order.");
  return passes === undefined ? columns : [...columns, others];
}

/** The column, and the context value, that holds what a lookup's parameter was: `vendorId` → `vendor_id`, `table` → `table_`. */
export function parameterColumn(name: string): string {
  const column = snakeCase(name);
  return isReserved(column) ? `${column}_` : column;
}

/** Rows without an identity of their own are told apart by their place. */
function placed(key: readonly string[]): Column[] {
  const description = "Position among the rows whose key is otherwise the same, from 0; not an identity.";
  return key.includes(INDEX_COLUMN) ? [addedColumn(INDEX_COLUMN, "context", "count", description)] : [];
}

/** What stands beside the rows in the answer, and in which of its arrays they stood. Beside a list it says nothing about a row; in a detail's answer it belongs to the parent. */
function besideRows({ rows, pageColumns = [] }: Partial<Rows>, volatile = true): Column[] {
  const columns = pageColumns.map(column =>
    addedColumn(column.name, "page", column.kind, column.description, {
      path: column.field.split("."),
      nullable: true,
      volatile,
      ...(column.personal === undefined ? {} : { personal: column.personal }),
    }),
  );
  if (typeof rows !== "object") return columns;
  return [requestColumn(rows.column, rows.description), ...columns];
}

/** `/po/{po_number}` → [`po_number`]. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([^{}]+)\}/g)].map(match => match[1]!);
}

/** Paths without parameters: an id must never turn a detail's path into one of them (`/po/stats`). */
export function fixedPaths(catalogue: readonly Stream[]): string[] {
  return catalogue.map(stream => stream.path).filter(path => !path.includes("{"));
}

/** Whether the configuration may add columns to a stream's key: it is no place, no day, and the service addresses no row by it. */
export function mayWiden(catalogue: readonly Stream[], stream: Stream): boolean {
  const { mode, key } = stream;
  if (mode.kind === "snapshot" || key.includes(INDEX_COLUMN)) return false;
  if (mode.kind === "detail") return mode.rows !== undefined;
  return mode.confirm === undefined && detailsOf(catalogue, stream).length === 0;
}

/** The details that are asked for row by row: they go and come back with the rows. */
export const detailsOf = (catalogue: readonly Stream[], stream: Stream): readonly Stream[] =>
  catalogue.filter(({ mode }) => mode.kind === "detail" && mode.of === stream.name && mode.by === undefined);
