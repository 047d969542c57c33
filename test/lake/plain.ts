import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";

/** A lake in a plain DuckDB: no part of the program stands between. */
export async function plainly<T>(
  destination: Readonly<Record<string, unknown>>,
  work: (connection: DuckDBConnection) => Promise<T>,
  mode: "" | "read_only, " = "",
): Promise<T> {
  const { hostname, port, username, password, pathname } = new URL(String(destination["catalog"]));
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  try {
    const connection = await instance.connect();
    for (const name of ["ducklake", "postgres_scanner"])
      await connection.run(`load '${join(String(destination["extensions"]), `${name}.duckdb_extension`)}'`);
    const catalog = `host=${hostname} port=${port} user=${username} password=${password} dbname=${pathname.slice(1)}`;
    await connection.run(`attach 'ducklake:postgres:${catalog}' as lake (${mode}metadata_schema 'ducklake')`);
    await connection.run("use lake");
    const done = await work(connection);
    connection.closeSync();
    return done;
  } finally {
    instance.closeSync();
  }
}
