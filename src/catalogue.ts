import type { Column, Table } from "./columns.ts";
import type { Dialect } from "./destinations/destination.ts";
import { duckdbDialect } from "./destinations/duckdb/dialect.ts";
import { postgresDialect } from "./destinations/postgres/dialect.ts";
import { type ShapedColumn, shapesOf } from "./destinations/shape.ts";
import type { Stream } from "./stream.ts";
import { tableComment } from "./warehouse.ts";

/** A stream as `streams --json` prints it. */
export interface StreamDescription {
  readonly name: string;
  readonly mode: string;
  /** Below the service's address. */
  readonly endpoint: string;
  readonly query: Readonly<Record<string, string>>;
  readonly key: readonly string[];
  /** The list whose rows it is asked for. */
  readonly parent: string | null;
  readonly preset: string;
  readonly on: boolean;
  /** What it means when the service no longer lists a row; null where nothing is listed. */
  readonly absence: string | null;
  readonly tables: readonly TableDescription[];
}

export interface TableDescription {
  readonly name: string;
  readonly comment: string;
  /** Of the array in the answer that its rows come from; empty for the stream's own rows. */
  readonly api_path: string;
  readonly columns: readonly ColumnDescription[];
}

export interface ColumnDescription {
  readonly name: string;
  readonly duckdb: string;
  readonly postgres: string;
  /** The field below the row; null for a column that the API doesn't send. */
  readonly api_path: string | null;
  /** Whether the service may leave it null; a value that could not be read is NULL in any column but the key. */
  readonly nullable: boolean;
  /** Alone it does not move `_changed_at`. */
  readonly volatile: boolean;
  readonly comment: string;
}

/** The catalogue in full: what is read from where, and the tables it becomes in both databases. */
export function describeStreams(streams: readonly Stream[], on: ReadonlySet<string>): readonly StreamDescription[] {
  return streams.map(stream => {
    const { name, path, query, mode, key, preset } = stream;
    return {
      name,
      mode: mode.kind,
      endpoint: `/api/v1${path}`,
      query: query ?? {},
      key,
      parent: mode.kind === "detail" ? mode.of : null,
      preset,
      on: on.has(name),
      absence: mode.kind === "scan" || mode.kind === "feed" ? (mode.absence ?? "gone") : null,
      tables: describeTables(stream),
    };
  });
}

function describeTables(stream: Stream): readonly TableDescription[] {
  const tables = [stream.tables.main, ...stream.tables.children];
  const shapes = (dialect: Dialect) =>
    shapesOf(dialect, { schema: "", stateSchema: "" }, stream.tables, table => tableComment(stream, table));
  const [inDuckdb, inPostgres] = [shapes(duckdbDialect), shapes(postgresDialect)];
  return tables.map(table => {
    const columns = columnsOf(inDuckdb, table);
    const types = new Map(columnsOf(inPostgres, table).map(column => [column.name, column.type]));
    return {
      name: table.name,
      comment: tableComment(stream, table),
      api_path: table.path.join("."),
      columns: columns.map(column => describeColumn(column, types.get(column.name) ?? "", table)),
    };
  });
}

function columnsOf(shapes: ReturnType<typeof shapesOf>, table: Table): readonly ShapedColumn[] {
  return shapes.find(shape => shape.role !== "ledger" && shape.name === table.name)?.columns ?? [];
}

function describeColumn({ name, type, comment, of }: ShapedColumn, postgres: string, table: Table): ColumnDescription {
  return {
    name,
    duckdb: type,
    postgres,
    api_path: of === undefined ? null : apiPath(of),
    nullable: !(name === "_company" || table.key.includes(name) || of?.nullable === false),
    volatile: of?.volatile ?? false,
    comment: comment ?? "",
  };
}

const apiPath = ({ source, path }: Column): string | null => (source === "context" ? null : path.join("."));
