import type { z } from "zod";
import { addedColumn, type Column, type Kind, snakeCase, type TableSet, tablesOf } from "./columns.ts";

export type Preset = "core" | "standard" | "all" | "lookup";

/** What a row's absence from a complete scan means: it is `gone`, it `left` a working list, or nothing (`kept`). */
export type Absence = "gone" | "left" | "kept";

/** A column taken from the page's data beside the rows (a list's currency). Outside the change hash. */
export interface PageColumn {
  readonly name: string;
  readonly kind: Kind;
  readonly field: string;
  readonly description: string;
}

/** A listing: cursor pages (or one complete answer) of rows at `data.<rows>`. */
export interface Listing {
  readonly rows: string;
  /** Path in `data` of the list's own total, where the service gives one. */
  readonly total?: string;
  readonly pageColumns?: readonly PageColumn[];
  readonly absence?: Absence;
  /** Template of the row's own endpoint; its 404 confirms that a missing row is gone. */
  readonly confirm?: string;
}

/** How a feed is narrowed to what is new since the mark. */
export type Narrowing =
  | { readonly by: "dates"; readonly from: string; readonly to: string }
  | { readonly by: "window"; readonly parameter: string; readonly days: readonly number[] };

/** Read whole, every time. */
export interface Scan extends Listing {
  readonly kind: "scan";
}

/** Read whole while that is cheap, else since the mark: the greatest `mark` of the rows of a complete scan. */
export interface Feed extends Listing {
  readonly kind: "feed";
  readonly mark: string;
  readonly narrow: Narrowing;
  readonly fullScanPages: number;
  readonly fullScanEveryDays: number;
  readonly lookbackDays: number;
}

/** One request for each row of the parent stream; the path's parameter is the parent's column of that name, unless `param` maps it. */
export interface Detail {
  readonly kind: "detail";
  readonly of: string;
  readonly param?: Readonly<Record<string, string>>;
  /** Parent's flag column: these can still change, so they come first and are audited more often. */
  readonly open?: string;
  /** Parent's date or moment column: newest come first; `streams.start` bounds it. */
  readonly newest?: string;
}

/** One object, measured once a day. `omit` names fields of the answer that belong to another stream. */
export interface Snapshot {
  readonly kind: "snapshot";
  readonly omit?: readonly string[];
}

export type Mode = Scan | Feed | Detail | Snapshot;

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

/** A stream whose schema, key and mark are known to fit, with its tables. */
export interface Stream extends StreamFacts {
  readonly tables: TableSet;
}

/** The endpoint that tells whose key it is: fields of its data. */
export interface IdentityEndpoint {
  readonly path: string;
  readonly id: string;
  readonly name: string;
}

export const OBSERVED_ON = "observed_on";

export const scan = (listing: Listing): Scan => ({ kind: "scan", ...listing });
export const feed = (facts: Omit<Feed, "kind">): Feed => ({ kind: "feed", ...facts });
export const detail = (facts: Omit<Detail, "kind">): Detail => ({ kind: "detail", ...facts });
export const snapshot = (facts: Omit<Snapshot, "kind"> = {}): Snapshot => ({ kind: "snapshot", ...facts });

/** Checks the facts against the schema when the module loads (TypeError) and works out the tables. */
export function defineStream(facts: StreamFacts): Stream {
  return { ...facts, tables: streamTables(facts, []) };
}

/** The stream with further volatile columns from the config. */
export function withVolatile(stream: Stream, volatile: readonly string[]): Stream {
  return volatile.length === 0 ? stream : { ...stream, tables: streamTables(stream, volatile) };
}

function streamTables(facts: StreamFacts, volatile: readonly string[]): TableSet {
  const tables = tablesOf({ name: facts.name, row: facts.row, key: facts.key, added: addedColumns(facts), volatile });
  const { mode } = facts;
  if (mode.kind === "feed") {
    const mark = tables.main.columns.find(column => column.name === mode.mark);
    if (mark?.kind !== "moment")
      throw new TypeError(`${facts.name}: its mark ${mode.mark} is not a moment of its schema`);
  }
  return tables;
}

function addedColumns({ mode, path, key }: StreamFacts): Column[] {
  switch (mode.kind) {
    case "snapshot":
      return [addedColumn(OBSERVED_ON, "context", "date", "The day on which the service gave these figures.")];
    case "detail":
      return [...new Set([...pathParameters(path).map(name => mode.param?.[name] ?? snakeCase(name)), ...key])].map(
        name => addedColumn(name, "context", "id", `The ${mode.of.replace(/_/g, " ")} row it belongs to.`),
      );
    default:
      return (mode.pageColumns ?? []).map(column =>
        addedColumn(column.name, "page", column.kind, column.description, {
          path: [column.field],
          nullable: true,
          volatile: true,
        }),
      );
  }
}

/** `/po/{po_number}` → [`po_number`]. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(match => match[1]!);
}

/** Paths without parameters: an id must never turn a detail's path into one of them (`/po/stats`). */
export function fixedPaths(catalogue: readonly Stream[]): string[] {
  return catalogue.map(stream => stream.path).filter(path => !path.includes("{"));
}
