import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { entryAt } from "../../src/files.ts";

const run = promisify(execFile);
const NAMES = ["ducklake", "postgres_scanner", "httpfs"] as const;
const LIMIT_MS = 120_000;

/**
 * A folder with DuckDB's extensions that lakes need, of the version that is installed: the one that TRIBUTARY_DUCKDB_EXTENSIONS
 * names, else what DuckDB installs itself, else what pip brings. Kept for the next run. Throws what each of them said.
 */
export async function lakeExtensions(): Promise<string> {
  const given = process.env["TRIBUTARY_DUCKDB_EXTENSIONS"];
  if (given) return given;
  const version = await duckdbVersion();
  const kept = join(import.meta.dirname, "../../node_modules/.cache/duckdb-extensions", version);
  if ((await entryAt(kept)) !== undefined) return kept;
  const making = await mkdtemp(join(tmpdir(), "tributary-extensions-"));
  try {
    const failures: unknown[] = [];
    for (const bring of [installed, downloaded]) {
      const done = await bring(making, version).then(
        () => true,
        error => void failures.push(error),
      );
      if (done !== true) continue;
      await mkdir(join(kept, ".."), { recursive: true });
      // Another run may have been first. Not a rename, which goes no further than one disk.
      const placed = `${kept}.${process.pid}`;
      await cp(making, placed, { recursive: true });
      await rename(placed, kept).catch(() => rm(placed, { recursive: true }));
      return kept;
    }
    throw new AggregateError(
      failures,
      `Expected DuckDB's extensions ${NAMES.join(", ")} of ${version}, but neither DuckDB nor pip could bring them: ${failures.join("; ")}. Put them into a folder and name it in TRIBUTARY_DUCKDB_EXTENSIONS.`,
    );
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function duckdbVersion(): Promise<string> {
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

/** Each package is a zip with the extension in it. */
async function downloaded(folder: string, version: string): Promise<void> {
  const wheels = join(folder, "wheels");
  const wanted = NAMES.map(name => `duckdb-extension-${name.replace("_", "-")}==${version.replace(/^v/, "")}`);
  const python = await pythonWithPip();
  const words = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels, ...wanted];
  await run(python, words, { timeout: LIMIT_MS });
  for (const wheel of await readdir(wheels))
    await run(python, ["-m", "zipfile", "-e", join(wheels, wheel), join(folder, "unpacked")]);
  for (const name of NAMES) {
    const file = `${name}.duckdb_extension`;
    await cp(join(folder, "unpacked", `duckdb_extension_${name}`, "extensions", version, file), join(folder, file));
  }
  for (const left of ["wheels", "unpacked"]) await rm(join(folder, left), { recursive: true });
}

async function pythonWithPip(): Promise<string> {
  const names = ["python3", "python3.11", "python", "/usr/bin/python3"];
  for (const name of names) {
    const found = await run(name, ["-m", "pip", "--version"], { timeout: LIMIT_MS }).catch(() => undefined);
    if (found !== undefined) return name;
  }
  throw new Error(`none of ${names.join(", ")} has pip`);
}
