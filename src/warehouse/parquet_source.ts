import type { Db, Schemas } from "./database.ts";
import type { Dialect } from "./dialect.ts";

/** Hands over what `COPY … TO STDOUT` sends, piece by piece; resolves when all of it has been taken. */
export type CopyOut = (query: string, take: (piece: Buffer) => Promise<void>) => Promise<void>;

export interface Exportable extends Schemas {
  readonly dialect: Dialect;
  readonly db: Db;
  /** When what is read was published; absent or undefined where readers see every transaction. */
  readonly publishedAt?: Date | undefined;
  /** Absent where the database writes Parquet itself. */
  readonly copyOut?: CopyOut;
  /** The columns of a query's rows; for readers of a database that does not write Parquet itself. */
  readonly columnsOf?: (query: string) => Promise<readonly SourceColumn[]>;
  /** Ends the statement that is under way; absent where it can only be waited for. */
  readonly interrupt?: () => void;
  /** Parses a text and runs nothing. Rejects with the database's error, or where it is several statements. Absent for PostgreSQL. */
  readonly parseOne?: (statement: string) => Promise<void>;
}

/** How a column is stored in Parquet: JSON, and whatever has no type of its own there, as text. */
export type StoredAs = "text" | "decimal" | "bigint" | "double" | "boolean" | "date" | "moment";

export interface SourceColumn {
  readonly name: string;
  readonly storedAs: StoredAs;
  /** In the spelling of `canonicalType`. */
  readonly type: string;
}

export type Unit = "year" | "month" | "day";

/** What rows are put into folders by: a column's values, or the unit of time they lie in. */
export interface Partition {
  /** What the folder is called: the column, or `<column>_<unit>`, without a leading `_`: readers skip what begins with one. */
  readonly name: string;
  readonly column: string;
  readonly unit: Unit | undefined;
}

/** The columns that stand in the path alone, as Hive wants it: those that their folders are called like. */
export function columnsInPath(
  partitions: readonly { readonly name: string; readonly column: string }[],
): ReadonlySet<string> {
  return new Set(partitions.filter(({ name, column }) => name === column).map(({ column }) => column));
}

export interface SourceTable {
  readonly name: string;
  readonly columns: readonly SourceColumn[];
  readonly partitions: readonly Partition[];
  readonly company: string | undefined;
  /** Only those that the service still lists. */
  readonly live: boolean;
}

export interface Target {
  /** Absolute; everything is written below it. */
  readonly folder: string;
  /** What files begin with. */
  readonly stem: string;
  /** The folder of a partition below `folder`, for one value each; null is NULL. */
  readonly folderOf: (values: readonly (string | null)[]) => string;
}

export interface ParquetFile {
  /** Below the target's folder, with slashes. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
}

/** The tables of one moment. */
export interface ParquetSource {
  count(table: SourceTable): Promise<number>;
  /** How many folders a table's rows need; counts no further than one beyond `most`. */
  partitions(table: SourceTable, most: number): Promise<number>;
  /** Writes the rows, at least one file, in bounded memory. `progress` is told how many were written so far. */
  write(table: SourceTable, target: Target, progress: (rows: number) => void): Promise<readonly ParquetFile[]>;
  /** Writes a query's rows into one file, in bounded memory. */
  writeAnswer(query: string, target: Target): Promise<ParquetFile>;
}

export function storedAs(type: string): StoredAs {
  return /^numeric\(\d+,\d+\)$/.test(type) ? "decimal" : (stored[type] ?? "text");
}

const stored: Readonly<Record<string, StoredAs>> = {
  bigint: "bigint",
  integer: "bigint",
  "double precision": "double",
  boolean: "boolean",
  date: "date",
  timestamptz: "moment",
};

/** Which rows are meant, as a condition that both databases understand. */
export function isFiltered({ company, live }: SourceTable, quoted: (text: string) => string): string {
  const conditions = [
    ...(company === undefined ? [] : [`_company = ${quoted(company)}`]),
    ...(live ? ["_deleted_at is null"] : []),
  ];
  return conditions.length === 0 ? "true" : conditions.join(" and ");
}
