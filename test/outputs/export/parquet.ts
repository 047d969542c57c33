import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { type FileMetaData, parquetMetadata, parquetReadObjects } from "hyparquet";
import { type ExportedTable, type Manifest, readManifest } from "../../../src/outputs/export/manifest.ts";
import type { View } from "../../support/warehouse.ts";

/** A row's values as text: decimals with nine places, moments as microseconds since 1970, dates as YYYY-MM-DD. */
export type TextRow = Readonly<Record<string, string | null>>;

type Stored = Pick<ExportedTable["columns"][number], "name" | "parquet_type">;

/** What makes text of a column, in the words of a database. */
function textOf(name: View["name"], { name: column, parquet_type }: Stored): string {
  const quoted = `"${column}"`;
  const moment = name === "postgres" ? `(extract(epoch from ${quoted}) * 1000000)::bigint` : `epoch_us(${quoted})`;
  // DuckDB's client takes a mark of byte order away from where a text begins.
  return `'=' || (${parquet_type.startsWith("TIMESTAMP") ? moment : quoted})::varchar as ${quoted}`;
}

/** A table's rows as the warehouse has them, sorted by their text. */
export async function inWarehouse(
  view: View,
  table: string,
  columns: readonly Stored[],
  where = "true",
): Promise<readonly string[]> {
  const rows = await view.query<TextRow>(
    `select ${columns.map(column => textOf(view.name, column)).join(", ")} from procurement."${table}" where ${where}`,
  );
  return sorted(rows, columns);
}

/** The same out of the export, read by DuckDB as a whole folder in Hive's layout. */
export async function byDuckdb(out: string, { table, columns }: ExportedTable): Promise<readonly string[]> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    const folder = join(out, table, "**", "*.parquet").replaceAll("'", "''");
    const values = columns.map(column => textOf("duckdb", column)).join(", ");
    const from = `read_parquet('${folder}', hive_partitioning = true, hive_types_autocast = false)`;
    const result = await connection.runAndReadAll(`select ${values} from ${from}`);
    return sorted(result.getRowObjects() as TextRow[], columns);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** The same, read file by file by a reader that is not DuckDB: columns of the folders' names come from the manifest's paths. */
export async function byAnother(
  out: string,
  { files, columns, partitions }: ExportedTable,
): Promise<readonly string[]> {
  const rows: TextRow[] = [];
  for (const { path } of files) {
    const bytes = await readFile(join(out, path));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    const metadata = parquetMetadata(file);
    const folders = new Map(path.split("/").slice(1, -1).map(readFolder));
    const here: Record<string, string | null> = {};
    for (const { name, unit } of partitions) if (unit === null) here[name] = prefixed(folders.get(name) ?? null);
    const read = await parquetReadObjects({ file, metadata: plain(metadata), compressors, parsers });
    for (const row of read)
      rows.push({
        ...here,
        ...Object.fromEntries(
          Object.entries(row).map(([name, value]) => [name, prefixed(text(metadata, name, value))]),
        ),
      });
  }
  return sorted(rows, columns);
}

const compressors = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) };

/** Its own takes a mark of byte order away. */
const parsers = { stringFromBytes: (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString("utf8") };

/** Spark's way: a %XX is a character, nothing else is anything. */
function readFolder(folder: string): [string, string | null] {
  const at = folder.indexOf("=");
  const value = folder
    .slice(at + 1)
    .replace(/%([0-9A-F]{2})/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return [folder.slice(0, at), value === "__HIVE_DEFAULT_PARTITION__" ? null : value];
}

/** The reader makes doubles of decimals and Dates of moments: without their meanings it hands over what is stored. */
function plain(metadata: FileMetaData): FileMetaData {
  const schema = metadata.schema.map(element => {
    const { converted_type, logical_type, ...rest } = element;
    return isNumber(element.converted_type)
      ? rest
      : { ...rest, ...(converted_type && { converted_type }), ...(logical_type && { logical_type }) };
  });
  return { ...metadata, schema };
}

const isNumber = (type: string | undefined): boolean => /^(DECIMAL|DATE|TIMESTAMP_MICROS)$/.test(type ?? "");

function text(metadata: FileMetaData, name: string, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const element = metadata.schema.find(candidate => candidate.name === name)!;
  switch (element.converted_type) {
    case "DECIMAL":
      return decimal(value as Uint8Array | bigint | number, element.scale ?? 0);
    case "DATE":
      return day(value as number);
    default:
      return String(value);
  }
}

const prefixed = (value: string | null): string | null => (value === null ? null : `=${value}`);

function decimal(value: Uint8Array | bigint | number, scale: number): string {
  const digits =
    value instanceof Uint8Array ? BigInt.asIntN(128, BigInt(`0x${Buffer.from(value).toString("hex")}`)) : BigInt(value);
  const all = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, "0");
  return `${digits < 0n ? "-" : ""}${all.slice(0, -scale)}.${all.slice(-scale)}`;
}

const day = (days: number): string => {
  const iso = new Date(days * 86_400_000).toISOString();
  return iso.slice(0, 10);
};

/** Doubles are written differently by each of the three: only their value counts. */
function sorted(rows: readonly TextRow[], columns: readonly Stored[]): readonly string[] {
  return rows
    .map(row =>
      JSON.stringify(
        columns.map(({ name, parquet_type }) => {
          const value = row[name]?.slice(1) ?? null;
          return value === null || parquet_type !== "DOUBLE" ? value : `${Number(value)}`;
        }),
      ),
    )
    .sort();
}

/** The manifest of an export that has to be there. */
export async function manifestOf(out: string): Promise<Manifest> {
  const manifest = await readManifest(out);
  if (manifest === undefined) throw new Error(`expected an export with a manifest at ${out}`);
  return manifest;
}

export function tableIn(manifest: Manifest, table: string): ExportedTable {
  const found = manifest.tables.find(candidate => candidate.table === table);
  if (found === undefined) throw new Error(`the export has no ${table}`);
  return found;
}

/** The first rows that the one has and the other hasn't: of a hundred wide ones nobody wants to see all. */
export function differing(found: readonly string[], wanted: readonly string[]): readonly string[] {
  const lines = (from: readonly string[], other: readonly string[], what: string) => {
    const left = [...other];
    return from
      .filter(line => {
        const at = left.indexOf(line);
        if (at !== -1) left.splice(at, 1);
        return at === -1;
      })
      .slice(0, 2)
      .map(line => `${what}: ${line}`);
  };
  return [...lines(found, wanted, "found"), ...lines(wanted, found, "wanted")];
}
