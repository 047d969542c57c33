import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { kept, LIMIT_MS, pythonWithPip } from "./brought.ts";

const run = promisify(execFile);
const NAMES = ["ducklake", "postgres_scanner", "httpfs"] as const;

/**
 * A folder with DuckDB's extensions that lakes need, of the version that is installed: the one that TRIBUTARY_DUCKDB_EXTENSIONS
 * names, else what DuckDB installs itself, else what pip brings. Kept for the next run. Throws what each of them said.
 */
export async function lakeExtensions(): Promise<string> {
  const given = process.env["TRIBUTARY_DUCKDB_EXTENSIONS"];
  if (given) return given;
  const version = await duckdbVersion();
  return kept(join("duckdb-extensions", version), async making => {
    const failures: unknown[] = [];
    for (const bring of [installed, downloaded]) {
      const done = await bring(making, version).then(
        () => true,
        error => void failures.push(error),
      );
      if (done === true) return;
    }
    throw new AggregateError(
      failures,
      `Expected DuckDB's extensions ${NAMES.join(", ")} of ${version}, but neither DuckDB nor pip could bring them: ${failures.join("; ")}. Put them into a folder and name it in TRIBUTARY_DUCKDB_EXTENSIONS.`,
    );
  });
}

export async function duckdbVersion(): Promise<string> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const [[version] = []] = await (await connection.runAndReadAll("select version()")).getRows();
  connection.closeSync();
  instance.closeSync();
  return String(version);
}

/** DuckDB waits as long as the network does: in a process of its own, which can be ended. */
async function installed(folder: string): Promise<void> {
  const program = `
    import { DuckDBInstance } from "@duckdb/node-api";
    const connection = await (await DuckDBInstance.create()).connect();
    await connection.run("set extension_directory = '${folder}'");
    for (const name of ${JSON.stringify(NAMES)}) await connection.run("install " + name);`;
  await run(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    timeout: LIMIT_MS,
  });
}

/** As docs/lake.md says for machines that don't reach DuckDB's own place. */
async function downloaded(folder: string, version: string): Promise<void> {
  const wanted = NAMES.map(name => `duckdb-extension-${name.replace("_", "-")}==${version.replace(/^v/, "")}`);
  const words = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, ...wanted];
  await run(await pythonWithPip(), words, { timeout: LIMIT_MS });
}
