import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "../../../files.ts";
import { quotedName } from "../../database.ts";
import {
  columnsInPath,
  type ParquetFile,
  type Partition,
  type SourceColumn,
  type SourceTable,
  type StoredAs,
  type Target,
  type Unit,
} from "../../parquet_source.ts";
import { quoted } from "../session/session.ts";

export type Ask = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** Rows of a row group: each is held in memory, whole, until it is written. */
const ROW_GROUP = 30_720;

const types: Readonly<Record<Exclude<StoredAs, "decimal">, string>> = {
  text: "VARCHAR",
  bigint: "BIGINT",
  double: "DOUBLE",
  boolean: "BOOLEAN",
  date: "DATE",
  moment: "TIMESTAMPTZ",
};

export const duckdbType = ({ storedAs, type }: SourceColumn): string =>
  storedAs === "decimal" ? type.replace("numeric", "DECIMAL") : types[storedAs];

/** Number of the first file, and what the next ones go on from. */
export interface Numbering {
  next: number;
}

/**
 * Writes the rows of a FROM item, a file for each partition that has some; they have to be sorted by `orderOf`. A folder's
 * rows are found by a look of their own: DuckDB's partitioned writer holds buffers for many folders, and names them as Spark
 * doesn't read them.
 */
export async function writeFiles(
  ask: Ask,
  relation: string,
  table: SourceTable,
  target: Target,
  numbering: Numbering,
): Promise<readonly ParquetFile[]> {
  const { columns, partitions } = table;
  if (partitions.length === 0)
    return [await writeFile(ask, { relation, columns, condition: "true", folder: "" }, target, numbering)];
  const inPath = columnsInPath(partitions);
  const kept = columns.filter(({ name }) => !inPath.has(name));
  const files: ParquetFile[] = [];
  for (const values of await partitionsOf(ask, relation, table)) {
    const here = partitions.map((partition, at) => condition(columns, partition, values[at] ?? null));
    const labels = partitions.map(({ unit }, at) => labelOf(unit, values[at] ?? null));
    files.push(
      await writeFile(
        ask,
        { relation, columns: kept, condition: here.join(" and "), folder: target.folderOf(labels) },
        target,
        numbering,
      ),
    );
  }
  if (files.length > 0) return files;
  const nowhere = target.folderOf(partitions.map(() => null));
  return [await writeFile(ask, { relation, columns: kept, condition: "false", folder: nowhere }, target, numbering)];
}

interface Slice {
  readonly relation: string;
  readonly columns: readonly SourceColumn[];
  readonly condition: string;
  readonly folder: string;
}

async function writeFile(
  ask: Ask,
  { relation, columns, condition, folder }: Slice,
  target: Target,
  numbering: Numbering,
): Promise<ParquetFile> {
  const number = String(numbering.next++).padStart(5, "0");
  const path = `${folder}${folder === "" ? "" : "/"}${target.stem}-${number}.parquet`;
  const values = columns.map(
    column => `${quotedName(column.name)}::${duckdbType(column)} as ${quotedName(column.name)}`,
  );
  return writeQuery(ask, `select ${values.join(", ")} from ${relation} where ${condition}`, target, path);
}

export async function writeQuery(ask: Ask, query: string, { folder }: Target, path: string): Promise<ParquetFile> {
  const whole = join(folder, path);
  await makeFolder(dirname(whole));
  const options = `format parquet, compression zstd, row_group_size ${ROW_GROUP}, return_stats true`;
  const rows = await ask(`copy (${query}) to ${quoted(whole)} (${options})`);
  return { path, rows: Number(rows[0]?.["count"] ?? 0), bytes: (await stat(whole)).size };
}

/** The values that partitions are made of, one list a folder, as text: of a unit of time its first day. */
async function partitionsOf(ask: Ask, relation: string, table: SourceTable): Promise<(string | null)[][]> {
  // The client takes a mark of byte order away from where a text begins: so nothing begins with one.
  const found = table.partitions.map((partition, at) => `'=' || ${partitionValue(table.columns, partition)} as v${at}`);
  const rows = await ask(`select distinct ${found.join(", ")} from ${relation} order by all`);
  return rows.map(row => table.partitions.map((_, at) => (row[`v${at}`] as string | null)?.slice(1) ?? null));
}

/** How many folders the rows need, counted to `most` and one more. */
export async function countPartitions(ask: Ask, relation: string, table: SourceTable, most: number): Promise<number> {
  const found = table.partitions.map(partition => partitionValue(table.columns, partition));
  const rows = await ask(
    `select count(*) as n from (select distinct ${found.map((value, at) => `${value} as v${at}`).join(", ")} from ${relation} limit ${most + 1})`,
  );
  return Number(rows[0]?.["n"] ?? 0);
}

/** What puts rows of one folder beside each other. */
export const orderOf = ({ columns, partitions }: SourceTable): string =>
  partitions.map(partition => partitionValue(columns, partition)).join(", ");

function partitionValue(columns: readonly SourceColumn[], { column, unit }: Partition): string {
  const name = quotedName(column);
  if (unit === undefined) return `nullif(${name}::varchar, '')`;
  // Without ICU there are no time zones: a moment's microseconds are those of UTC.
  const time = isMoment(columns, column) ? `make_timestamp(epoch_us(${name}))` : name;
  return `date_trunc('${unit}', ${time})::date::varchar`;
}

function condition(columns: readonly SourceColumn[], { column, unit }: Partition, value: string | null): string {
  const name = quotedName(column);
  if (value === null) return unit === undefined ? `nullif(${name}::varchar, '') is null` : `${name} is null`;
  const day = /^\d{4}-\d\d-\d\d$/.test(value);
  if (unit === undefined || !day) return `${name} = ${quoted(value)}::${typeIn(columns, column)}`;
  const at = (date: string) => (isMoment(columns, column) ? `timestamptz '${date} 00:00:00+00'` : `date '${date}'`);
  return `${name} >= ${at(value)} and ${name} < ${at(after(value, unit))}`;
}

const typeIn = (columns: readonly SourceColumn[], column: string): string =>
  duckdbType(columns.find(({ name }) => name === column)!);

const isMoment = (columns: readonly SourceColumn[], column: string): boolean =>
  typeIn(columns, column) === "TIMESTAMPTZ";

const LENGTHS: Readonly<Record<Unit, number>> = { year: 4, month: 7, day: 10 };

/** `2026-03-01` → `2026-03`; what is no day (infinity) stays. */
const labelOf = (unit: Unit | undefined, value: string | null): string | null =>
  unit === undefined || value === null || !/^\d/.test(value) ? value : value.slice(0, LENGTHS[unit]);

function after(date: string, unit: Unit): string {
  const [year = 0, month = 0, day = 0] = date.split("-").map(Number);
  const next = new Date(0);
  next.setUTCFullYear(
    unit === "year" ? year + 1 : year,
    unit === "month" ? month : month - 1,
    unit === "day" ? day + 1 : day,
  );
  const parts = [next.getUTCFullYear(), next.getUTCMonth() + 1, next.getUTCDate()];
  return parts.map((part, at) => String(part).padStart(at === 0 ? 4 : 2, "0")).join("-");
}
