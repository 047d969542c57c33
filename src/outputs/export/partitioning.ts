import { ConfigError } from "../../errors.ts";
import { uncoded } from "../../message.ts";
import { meant } from "../../nearest_name.ts";
import { columnsInPath, type Partition, type SourceColumn, type Unit } from "../../warehouse/parquet_source.ts";

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

const form = "_company, or table=column, or table=column:year, :month or :day";

/** Parses a value of `--partition-by`. @throws ConfigError */
export function readPartitionSpec(text: string): PartitionSpec {
  const [, table, column = "", unit] = /^(?:([^=:]+)=)?([^=:]+)(?::(.+))?$/.exec(text.trim()) ?? [];
  if (column === "")
    throw new ConfigError(
      uncoded(
        `--partition-by: expected ${form}, got ${JSON.stringify(text)}. \`tributary export --help\` shows examples.`,
      ),
    );
  if (unit !== undefined && !units.includes(unit as Unit))
    throw new ConfigError(
      uncoded(
        `--partition-by ${text}: expected the unit year, month or day, got ${JSON.stringify(unit)}.${meant(unit, units)} Name one of them, or leave :${unit} out.`,
      ),
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
      throw new ConfigError(
        uncoded(`--partition-by: ${name} would have no column left in its files. Leave one of them out.`),
      );
  }
  return partitions;
}

function tablesOf({ text, table, column }: PartitionSpec, tables: readonly Columns[]): readonly Columns[] {
  if (table === undefined) {
    const having = tables.filter(({ columns }) => columns.some(({ name }) => name === column));
    if (having.length > 0) return having;
    const all = [...new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => name)))];
    throw new ConfigError(
      uncoded(`--partition-by ${text}: none of the exported tables has a column ${column}.${meant(column, all)}`),
    );
  }
  const found = tables.find(({ name }) => name === table);
  if (found !== undefined) return [found];
  const names = tables.map(({ name }) => name);
  throw new ConfigError(
    uncoded(`--partition-by ${text}: there is no table ${table} among those exported.${meant(table, names)}`),
  );
}

function partitionOf({ text, column, unit }: PartitionSpec, { name: table, columns }: Columns): Partition {
  const found = columns.find(({ name }) => name === column);
  if (found === undefined) {
    const names = columns.map(({ name }) => name);
    throw new ConfigError(uncoded(`--partition-by ${text}: ${table} has no column ${column}.${meant(column, names)}`));
  }
  const { storedAs, type } = found;
  const isTime = storedAs === "date" || storedAs === "moment";
  if (unit !== undefined && !isTime)
    throw new ConfigError(
      uncoded(
        `--partition-by ${text}: ${table}.${column} is ${type}, and only dates and moments have a ${unit}. Leave :${unit} out, or name a date.`,
      ),
    );
  if (unit === undefined && storedAs === "moment")
    throw new ConfigError(
      uncoded(
        `--partition-by ${text}: every moment would be a folder of its own. Say which unit of time: ${column}:year, ${column}:month or ${column}:day.`,
      ),
    );
  if (unit === undefined && (storedAs === "decimal" || storedAs === "double" || /^json/.test(type)))
    throw new ConfigError(
      uncoded(
        `--partition-by ${text}: ${table}.${column} is ${type}, which cannot be a folder's name. Name a column with text, a date, a count or a flag.`,
      ),
    );
  const name = (unit === undefined ? column : `${column}_${unit}`).replace(/^_+/, "");
  if (name !== column && columns.some(other => other.name === name))
    throw new ConfigError(
      uncoded(
        `--partition-by ${text}: the folders would be called ${name}, but ${table} has a column of that name. Name that column instead.`,
      ),
    );
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
          uncoded(
            `--partition-by: a value of ${name} is too long to be a folder's name (${folder.slice(0, 60)}…; at most ${LONGEST_NAME} bytes). Partition by a column with shorter values.`,
          ),
        );
      return folder;
    })
    .join("/");
}

const percent = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
