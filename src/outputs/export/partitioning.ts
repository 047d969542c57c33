import { ConfigError } from "../../errors.ts";
import { nearest } from "../../nearest_name.ts";
import { columnsInPath, type Partition, type SourceColumn, type Unit } from "../../warehouse/parquet_source.ts";
import { exportMessages } from "./messages.ts";

/** What Hive, and all who read its layout, call the folder of rows without a value. An empty text has none there either. */
const NO_VALUE = "__HIVE_DEFAULT_PARTITION__";
/** Spark and Hive's list: each of them is written %XX, nothing else is, for Spark takes a %XX for a whole character. */
const escaped = /["#%'*/:=?\\{[\]^\u007f]|[^\u0020-\uffff]/g;
/** The longest name of common file systems, in bytes. */
const LONGEST_NAME = 255;
const units: readonly Unit[] = ["year", "month", "day"];

/** `[table=]column[:unit]`, as it was given. */
export interface PartitionSpec {
  readonly text: string;
  /** Undefined: every table that has the column. */
  readonly table: string | undefined;
  readonly column: string;
  readonly unit: Unit | undefined;
}

export function readPartitionSpec(text: string): PartitionSpec {
  const [, table, column = "", unit] = /^(?:([^=:]+)=)?([^=:]+)(?::(.+))?$/.exec(text.trim()) ?? [];
  if (column === "") throw new ConfigError(exportMessages.partition_malformed({ partition_by: text }));
  if (unit !== undefined && !units.includes(unit as Unit))
    throw new ConfigError(
      exportMessages.partition_unknown_unit({ partition_by: text, unit, nearest: nearest(unit, units) }),
    );
  return { text, table, column, unit: unit as Unit | undefined };
}

interface Columns {
  readonly name: string;
  readonly columns: readonly SourceColumn[];
}

/** Which partitions each of the tables gets, in the order given. @throws ConfigError for what fits no table */
export function partitionsOf(
  specs: readonly PartitionSpec[],
  tables: readonly Columns[],
): ReadonlyMap<string, readonly Partition[]> {
  const partitions = new Map<string, Partition[]>(tables.map(({ name }) => [name, []]));
  for (const spec of specs) {
    for (const table of tablesOf(spec, tables)) {
      const partition = partitionOf(spec, table);
      const known = partitions.get(table.name)!;
      if (!known.some(({ name }) => name === partition.name)) known.push(partition);
    }
  }
  for (const { name, columns } of tables) {
    if (columnsInPath(partitions.get(name)!).size === columns.length)
      throw new ConfigError(exportMessages.partition_only_columns({ table: name }));
  }
  return partitions;
}

function tablesOf({ text, table, column }: PartitionSpec, tables: readonly Columns[]): readonly Columns[] {
  if (table === undefined) {
    const having = tables.filter(({ columns }) => columns.some(({ name }) => name === column));
    if (having.length > 0) return having;
    const all = [...new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => name)))];
    throw new ConfigError(
      exportMessages.partition_column_nowhere({ partition_by: text, column, nearest: nearest(column, all) }),
    );
  }
  const found = tables.find(({ name }) => name === table);
  if (found !== undefined) return [found];
  const names = tables.map(({ name }) => name);
  throw new ConfigError(
    exportMessages.partition_unknown_table({ partition_by: text, table, nearest: nearest(table, names) }),
  );
}

function partitionOf({ text, column, unit }: PartitionSpec, { name: table, columns }: Columns): Partition {
  const found = columns.find(({ name }) => name === column);
  if (found === undefined) {
    const names = columns.map(({ name }) => name);
    const fields = { partition_by: text, table, column, nearest: nearest(column, names) };
    throw new ConfigError(exportMessages.partition_unknown_column(fields));
  }
  const { storedAs, type } = found;
  const isTime = storedAs === "date" || storedAs === "moment";
  if (unit !== undefined && !isTime)
    throw new ConfigError(exportMessages.partition_unit_of_no_time({ partition_by: text, table, column, type, unit }));
  if (unit === undefined && storedAs === "moment")
    throw new ConfigError(exportMessages.partition_needs_unit({ partition_by: text, column }));
  if (unit === undefined && (storedAs === "decimal" || storedAs === "double" || /^json/.test(type)))
    throw new ConfigError(exportMessages.partition_by_no_name({ partition_by: text, table, column, type }));
  const name = (unit === undefined ? column : `${column}_${unit}`).replace(/^_+/, "");
  if (name !== column && columns.some(other => other.name === name))
    throw new ConfigError(exportMessages.partition_name_taken({ partition_by: text, name, table }));
  return { name, column, unit };
}

/** `company=acme/po_date_month=2026-03`, for one value each. @throws ConfigError for values that no folder can be called by */
export function folderOf(partitions: readonly Partition[], values: readonly (string | null)[]): string {
  return partitions
    .map(({ name }, at) => {
      const value = values[at] ?? null;
      const folder = `${name}=${value === null || value === "" ? NO_VALUE : value.replace(escaped, percent)}`;
      if (Buffer.byteLength(folder) > LONGEST_NAME)
        throw new ConfigError(
          exportMessages.partition_value_too_long({ name, folder: folder.slice(0, 60), max_bytes: LONGEST_NAME }),
        );
      return folder;
    })
    .join("/");
}

const percent = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
