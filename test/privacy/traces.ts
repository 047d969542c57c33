import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { constants, zstdDecompressSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { Frames } from "../../src/source/archive/frames.ts";
import { connected } from "../support/database.ts";
import type { Warehouse } from "../support/warehouse.ts";

/** Where any of the texts can still be found: in the bytes of files (unpacked, where they are packed), in tables, in statistics. */
export async function traces(
  warehouse: Warehouse,
  folders: readonly string[],
  texts: readonly string[],
): Promise<string[]> {
  const { path, data_path: data, catalog } = warehouse.destination;
  const own = [...(typeof path === "string" ? [dirname(path)] : []), ...(typeof data === "string" ? [data] : [])];
  const found: string[] = [];
  for (const folder of [...own, ...folders])
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const bytes = Buffer.concat([await bytesOf(path), ...(path.endsWith(".parquet") ? [await rowsOf(path)] : [])]);
      for (const text of texts) if (bytes.includes(text)) found.push(`${path}: ${text}`);
    }
  if (warehouse.name === "duckdb") return found;
  const client = typeof catalog === "string" ? await connected(catalog) : undefined;
  const query = <T>(text: string): Promise<T[]> =>
    client === undefined ? warehouse.query<T>(text) : client.query(text).then(({ rows }) => rows as T[]);
  const tables = await query<{ name: string }>(`select format('%I.%I', schemaname, tablename) as name
    from pg_tables where schemaname not in ('pg_catalog', 'information_schema')
    union all select 'pg_stats'`);
  for (const { name } of tables) {
    const rows = await query<{ line: string }>(`select cast(t as text) as line from ${name} t`);
    const all = rows.map(row => row.line).join("\n");
    for (const text of texts) if (all.includes(text)) found.push(`${name}: ${text}`);
  }
  await client?.end();
  return found;
}

/** Values of a Parquet file lie packed in it, all but its statistics. */
async function rowsOf(path: string): Promise<Buffer> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    const file = path.replaceAll("'", "''");
    const result = await connection.runAndReadAll(`select cast(t as varchar) from read_parquet('${file}') t`);
    return Buffer.from(result.getRows().join("\n"));
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Of a file as it is, or of what is packed in it. */
async function bytesOf(path: string): Promise<Buffer> {
  const stored = await readFile(path);
  if (!path.endsWith(".zst")) return stored;
  const unpacked = [...new Frames().cut(stored)].map(frame =>
    zstdDecompressSync(frame, { finishFlush: constants.ZSTD_e_flush }),
  );
  return Buffer.concat(unpacked);
}
