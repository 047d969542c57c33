import type { Column, Kind, Table } from "../../catalog/columns.ts";
import { type Mode, pathParameters, type Stream, type StreamGroup } from "../../catalog/stream.ts";
import { versionsName } from "../../warehouse/ddl/as_of.ts";
import { currencySentence } from "../../warehouse/ddl/comments.ts";
import { type Shape, type ShapedColumn, shapesOf } from "../../warehouse/ddl/shape.ts";
import type { Dialect } from "../../warehouse/dialect.ts";
import { duckdbDialect } from "../../warehouse/duckdb/session/dialect.ts";
import { postgresDialect } from "../../warehouse/postgres/dialect.ts";
import { absenceSentence, tableComment } from "../../warehouse/schema/prepare_warehouse.ts";

/** A stream as `streams --json` prints it. */
export interface StreamDescription {
  readonly name: string;
  readonly group: string;
  readonly mode: ModeName;
  /** Below the service's address. */
  readonly endpoint: string;
  readonly query: Readonly<Record<string, string>>;
  readonly key: readonly string[];
  /** The list whose rows it is asked for. */
  readonly parent: string | null;
  /** Columns whose distinct values it is asked for (`stream.column`), where it isn't asked for each row. */
  readonly values_of: readonly string[];
  /** What it has to be given by the configuration: names of a lookup's values. */
  readonly asks_for: readonly string[];
  /** Query parameters with several values, and the values that are asked for by default. */
  readonly parameters: Readonly<Record<string, readonly string[]>>;
  readonly preset: string;
  readonly on: boolean;
  /** What it means when the service no longer lists a row; null where nothing is listed. */
  readonly absence: string | null;
  /** Whether every version of its rows is kept. */
  readonly history: boolean;
  readonly tables: readonly TableDescription[];
}

/** A table of a stream. */
export interface TableDescription {
  readonly name: string;
  /** What its rows are; the comment says further where they come from and what a row's absence means. */
  readonly description: string;
  readonly comment: string;
  /** What the comment says of rows that the service no longer lists. */
  readonly deletion: string;
  /** Unique; `_company` comes first. */
  readonly key: readonly string[];
  /** Of the array in the answer that its rows come from; empty for the stream's own rows. */
  readonly api_path: string;
  /** The table whose rows' versions it holds; null for a table of its own. */
  readonly versions_of: string | null;
  readonly columns: readonly ColumnDescription[];
}

/** A column, with its type in either database. */
export interface ColumnDescription {
  readonly name: string;
  readonly duckdb: string;
  readonly postgres: string;
  /** What its values mean; null for the engine's own columns. */
  readonly kind: Kind | null;
  /** What it is; the comment says further where its currency and its API field are. */
  readonly description: string;
  /** Where the currency of an amount stands; null for columns that are no money. */
  readonly currency: string | null;
  /** The field below the row; null for a column that the API doesn't send. */
  readonly api_path: string | null;
  /** Whether the service may leave it null; a value that could not be read is NULL in any column but the key. */
  readonly nullable: boolean;
  /** Alone it does not move `_changed_at`. */
  readonly volatile: boolean;
  /** Whether it says something about a person. */
  readonly personal: boolean;
  /** What the configured privacy does to its values before they are stored; null for nothing. */
  readonly treatment: "hash" | "mask" | null;
  readonly comment: string;
}

/** How a stream is read. */
export type ModeName = "feed" | "scan" | "list" | "lookup" | "snapshot" | "detail";

export function describeStreams(
  groups: readonly StreamGroup[],
  streams: readonly Stream[],
  on: ReadonlySet<string>,
  versioned: ReadonlySet<string> = new Set(),
): readonly StreamDescription[] {
  const groupOf = new Map(groups.flatMap(({ title, streams }) => streams.map(({ name }) => [name, title] as const)));
  return streams.map(stream => {
    const { name, path, query, mode, key, preset } = stream;
    const detail = mode.kind === "detail" ? mode : undefined;
    const lookup = mode.kind === "scan" ? mode.lookup : undefined;
    return {
      name,
      group: groupOf.get(name) ?? "",
      mode: modeName(mode),
      endpoint: `/api/v1${path}`,
      query: query ?? {},
      key,
      parent: detail?.of ?? null,
      values_of: detail?.by === undefined ? [] : [`${detail.of}.${detail.by}`, ...(detail.also ?? [])],
      asks_for: lookup === undefined ? [] : [...pathParameters(path), ...(lookup.ask ?? [])],
      parameters: mode.kind === "snapshot" ? (mode.parameters ?? {}) : {},
      preset,
      on: on.has(name),
      absence: mode.kind === "scan" || mode.kind === "feed" ? (mode.absence ?? "gone") : null,
      history: versioned.has(name),
      tables: describeTables(stream, versioned.has(name)),
    };
  });
}

function modeName(mode: Mode): ModeName {
  if (mode.kind !== "scan") return mode.kind;
  return mode.lookup === undefined ? (mode.paged === false ? "list" : "scan") : "lookup";
}

function describeTables(stream: Stream, versioned: boolean): readonly TableDescription[] {
  const { main, children } = stream.tables;
  const shapes = (dialect: Dialect) =>
    shapesOf(dialect, nowhere, stream.tables, table => tableComment(stream, table), versioned);
  const [inDuckdb, inPostgres] = [shapes(duckdbDialect), shapes(postgresDialect)];
  const described = (name: string, table: Table, versionsOf: string | null): TableDescription => {
    const { columns, comment, primaryKey } = shapeNamed(inDuckdb, name);
    const types = new Map(shapeNamed(inPostgres, name).columns.map(column => [column.name, column.type]));
    return {
      name,
      description: versionsOf === null ? table.description : (comment ?? ""),
      comment: comment ?? "",
      deletion: versionsOf === null ? absenceSentence(stream, stream.mode) : "Versions are never deleted.",
      key: primaryKey,
      api_path: table.path.join("."),
      versions_of: versionsOf,
      columns: columns.map(column => describeColumn(column, types.get(column.name) ?? "", table)),
    };
  };
  const tables = [main, ...children];
  return [
    ...tables.map(table => described(table.name, table, null)),
    ...(versioned ? tables.map(table => described(versionsName(table), table, table.name)) : []),
  ];
}

const nowhere = { schema: "", stateSchema: "" };

const shapeNamed = (shapes: readonly Shape[], name: string): Shape =>
  shapes.find(shape => shape.role !== "row_state" && shape.name === name)!;

function describeColumn({ name, type, comment, of }: ShapedColumn, postgres: string, table: Table): ColumnDescription {
  return {
    name,
    duckdb: type,
    postgres,
    kind: of?.kind ?? null,
    description: of?.description ?? comment ?? "",
    currency: of?.kind === "money" && of.currency !== undefined ? currencySentence(of.currency) : null,
    api_path: of === undefined ? null : apiPath(of),
    nullable: !(name === "_company" || table.key.includes(name) || of?.nullable === false),
    volatile: of?.volatile === true && of.source !== "context",
    personal: of?.personal ?? false,
    treatment: of?.treatment ?? null,
    comment: comment ?? "",
  };
}

const apiPath = ({ source, path }: Column): string | null => (source === "context" ? null : path.join("."));
