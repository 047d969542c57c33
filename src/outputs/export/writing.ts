import { join } from "node:path";
import { ConfigError } from "../../errors.ts";
import { columnsInPath, type ParquetSource, type Partition, type SourceTable } from "../../warehouse/parquet_source.ts";
import type { ExportedColumn, ExportedTable, Manifest } from "./manifest.ts";
import { exportMessages } from "./messages.ts";
import { folderOf } from "./partitioning.ts";
import type { Unfinished } from "./place.ts";
import type { ChosenColumn, ChosenTable } from "./tables.ts";

/** More folders than these no reader lists in reasonable time. */
const MOST_FOLDERS = 10_000;

export interface PartitionedTable extends ChosenTable {
  readonly partitions: readonly Partition[];
}

export function sourceOf({ name, columns, partitions }: PartitionedTable, options: Manifest["options"]): SourceTable {
  const live = options.live && columns.some(column => column.name === "_deleted_at");
  return { name, columns, partitions, company: options.company ?? undefined, live };
}

/** @throws ConfigError where a table's rows would fill more folders than a reader can list */
export async function requireFewFolders(from: ParquetSource, table: SourceTable): Promise<void> {
  if (table.partitions.length === 0) return;
  if ((await from.partitions(table, MOST_FOLDERS)) <= MOST_FOLDERS) return;
  const partitions = table.partitions.map(({ name }) => name);
  throw new ConfigError(exportMessages.too_many_folders({ table: table.name, max_folders: MOST_FOLDERS, partitions }));
}

/** Writes a table's rows into a version in the making. `watch` is given how many rows are written, and of how many. */
export async function writeTable(
  from: ParquetSource,
  table: PartitionedTable,
  options: Manifest["options"],
  { name: version, folder }: Unfinished,
  watch: (rows: number, of: number) => void,
): Promise<ExportedTable> {
  const { name, stream, description, columns, partitions } = table;
  const source = sourceOf(table, options);
  const rows = await from.count(source);
  watch(0, rows);
  const target = {
    folder: join(folder, name),
    // Never a name that another version had: who lists files in one and opens them in the next finds none, or the same.
    stem: `part-${version}`,
    folderOf: (values: readonly (string | null)[]) => folderOf(partitions, values),
  };
  const files = await from.write(source, target, written => watch(written, rows));
  const total = files.reduce((sum, file) => sum + file.rows, 0);
  if (total !== rows) throw new TypeError(`${name}: ${rows} rows were counted, and ${total} written`);
  const inPath = columnsInPath(partitions);
  return {
    ...{ table: name, stream, description, rows },
    partitions: partitions.map(({ name, column, unit }) => ({ name, column, unit: unit ?? null })),
    columns: columns.map(column => exported(column, inPath)),
    files: files.map(file => ({ ...file, path: `${name}/${file.path}` })),
  };
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
