import { DuckDBInstance } from "@duckdb/node-api";
import pg from "pg";
import { plainly } from "../lake/plain.ts";
import type { Warehouse } from "../support/warehouse.ts";

type Row = Record<string, unknown>;

/** What a plain client of the database reads: no part of the program stands between. */
export async function outside({ name, destination }: Warehouse, text: string): Promise<Row[]> {
  if (name === "postgres") {
    const client = new pg.Client({ connectionString: String(destination["url"]) });
    await client.connect();
    try {
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end();
    }
  }
  if (name === "ducklake")
    return plainly(
      destination,
      async connection => (await connection.runAndReadAll(text)).getRowObjects() as Row[],
      "read_only, ",
    );
  const instance = await DuckDBInstance.create(String(destination["path"]), { access_mode: "READ_ONLY" });
  try {
    const connection = await instance.connect();
    const reader = await connection.runAndReadAll(text);
    const rows = reader.getRowObjects() as Row[];
    connection.closeSync();
    return rows;
  } finally {
    instance.closeSync();
  }
}
