import { globSync } from "node:fs";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";

/** A lake in a plain DuckDB: no part of the program stands between. */
export async function plainly<T>(
  destination: Readonly<Record<string, unknown>>,
  work: (connection: DuckDBConnection) => Promise<T>,
  mode: "" | "read_only, " = "",
): Promise<T> {
  const { lake, extensions } = addressOf(destination);
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  try {
    const connection = await instance.connect();
    for (const file of extensions) await connection.run(`load '${file}'`);
    await connection.run(`attach '${lake}' as lake (${mode}metadata_schema 'ducklake')`);
    await connection.run("use lake");
    const done = await work(connection);
    connection.closeSync();
    return done;
  } finally {
    instance.closeSync();
  }
}

/** How any client attaches the lake of such a destination, and the files that it loads before. */
export function addressOf(destination: Readonly<Record<string, unknown>>): {
  readonly lake: string;
  readonly extensions: readonly string[];
} {
  const { hostname, port, username, password, pathname } = new URL(String(destination["catalog"]));
  const folder = String(destination["extensions"]);
  // However they came they lie in folders of their own.
  const files = globSync("**/{ducklake,postgres_scanner}.duckdb_extension", { cwd: folder }).sort();
  return {
    lake: `ducklake:postgres:host=${hostname} port=${port} user=${username} password=${password} dbname=${pathname.slice(1)}`,
    extensions: files.map(file => join(folder, file)),
  };
}
