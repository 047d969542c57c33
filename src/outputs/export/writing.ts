import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "../../errors.ts";
import { columnsInPath, type ParquetSource, type Partition, type SourceTable } from "../../warehouse/parquet_source.ts";
import { areWhole, syncFiles } from "./files.ts";
import type { ExportedColumn, ExportedFile, ExportedTable, Manifest } from "./manifest.ts";
import { exportMessages } from "./messages.ts";
import { folderOf } from "./partitioning.ts";
import type { Unfinished } from "./place.ts";
import type { ChosenColumn, ChosenTable } from "./tables.ts";

/** More folders than these no reader lists in reasonable time. */
const MOST_FOLDERS = 10_000;

/** What is being done to a table; of how many tables. */
export interface TableProgress {
  readonly table: string;
  readonly doing: "comparing" | "writing";
  readonly rows: number;
  readonly of?: number;
  readonly tables: number;
}

/** A table as it is now, and whether the files of the export before hold just that. */
export interface Decided {
  readonly source: SourceTable;
  /** With the files of the export before, if they are kept; else with none. */
  readonly entry: ExportedTable;
  readonly kept: boolean;
  readonly isDamaged: boolean;
}

/** Compares a table with what was exported of it before. */
export async function decide(
  from: ParquetSource,
  table: ChosenTable & { readonly partitions: readonly Partition[] },
  options: Manifest["options"],
  previous: Manifest | undefined,
  folder: string | undefined,
): Promise<Decided> {
  const { name, columns, partitions } = table;
  const { compression, company, live } = options;
  const isLive = live && columns.some(column => column.name === "_deleted_at");
  const source: SourceTable = { name, columns, partitions, company: company ?? undefined, live: isLive };
  const { rows, fingerprint } = await from.contents(source);
  const inPath = columnsInPath(partitions);
  const now: ExportedTable = {
    table: name,
    stream: table.stream,
    description: table.description,
    rows,
    fingerprint,
    engine: from.engine,
    company,
    live: isLive,
    compression,
    partitions: partitions.map(({ name, column, unit }) => ({ name, column, unit: unit ?? null })),
    columns: columns.map(column => exported(column, inPath)),
    files: [],
    exported_at: "",
  };
  const before = previous?.tables.find(candidate => candidate.table === name);
  if (before === undefined || folder === undefined || !isDeepStrictEqual(contentOf(before), contentOf(now)))
    return { source, entry: now, kept: false, isDamaged: false };
  const kept = await areWhole(folder, before.files);
  const { files, exported_at } = before;
  return { source, entry: kept ? { ...now, files, exported_at } : now, kept, isDamaged: !kept };
}

/** All that decides what is in a table's files. */
function contentOf({ rows, fingerprint, engine, company, live, compression, partitions, columns }: ExportedTable) {
  const stored = columns.map(({ name, sql_type, parquet_type, stored_in }) => [
    name,
    sql_type,
    parquet_type,
    stored_in,
  ]);
  return [rows, fingerprint, engine, company, live, compression, partitions, stored];
}

function exported(column: ChosenColumn, inPath: ReadonlySet<string>): ExportedColumn {
  const { name, kind, type, nullable, description } = column;
  return {
    ...{ name, kind, nullable, description },
    sql_type: type,
    parquet_type: parquetType(column),
    stored_in: inPath.has(name) ? "path" : "file",
  };
}

function parquetType({ storedAs, type }: ChosenColumn): string {
  switch (storedAs) {
    case "decimal":
      return type.replace("numeric", "DECIMAL");
    case "bigint":
      return "INT64";
    case "moment":
      return "TIMESTAMP(MICROS,UTC)";
    case "text":
      return "STRING";
    default:
      return storedAs.toUpperCase();
  }
}

/** @throws ConfigError where a table's rows would fill more folders than a reader can list */
export async function requireFewFolders(from: ParquetSource, table: SourceTable): Promise<void> {
  if (table.partitions.length === 0) return;
  if ((await from.partitions(table, MOST_FOLDERS)) <= MOST_FOLDERS) return;
  const partitions = table.partitions.map(({ name }) => name);
  throw new ConfigError(exportMessages.too_many_folders({ table: table.name, max_folders: MOST_FOLDERS, partitions }));
}

/** Writes a table's rows into a version that is in the making, durably. */
export async function writeTable(
  from: ParquetSource,
  source: SourceTable,
  { rows, compression }: ExportedTable,
  { name, folder }: Unfinished,
  watch: (rows: number) => void,
): Promise<ExportedFile[]> {
  const target = {
    folder: join(folder, source.name),
    // Never a name that another version had: who lists files in one and opens them in the next finds none, or the same.
    stem: `part-${name}`,
    compression,
    folderOf: (values: readonly (string | null)[]) => folderOf(source.partitions, values),
  };
  const written = await from.write(source, target, watch);
  const total = written.reduce((sum, file) => sum + file.rows, 0);
  if (total !== rows) throw new TypeError(`${source.name}: ${rows} rows were counted, and ${total} written`);
  const files = written.map(file => ({ ...file, path: `${source.name}/${file.path}` }));
  await syncFiles(folder, files);
  return files;
}
