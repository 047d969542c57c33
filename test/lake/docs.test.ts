import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, inject, test } from "vitest";
import { loadExtensions } from "../../src/warehouse/ducklake/extensions.ts";
import type { LakePlace } from "../../src/warehouse/ducklake/place.ts";
import { temporaryFolder } from "../source/archive/folder.ts";
import { warehouses } from "../support/warehouse.ts";
import { scenario } from "../sync/scenario.ts";
import { LIMIT_MS, pythonWithPip } from "./brought.ts";
import { duckdbVersion } from "./extensions.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** A home in which DuckDB finds the extensions as if it had installed them. */
async function homeWithExtensions(): Promise<string> {
  const connection = await (await DuckDBInstance.create()).connect();
  const asked = "select library_version, (select platform from pragma_platform()) from pragma_version()";
  const [names] = (await connection.runAndReadAll(asked)).getRows();
  const home = await temporaryFolder();
  const folder = join(home, ".duckdb/extensions", ...names!.map(String));
  await mkdir(folder, { recursive: true });
  for (const file of await readdir(inject("extensions"), { recursive: true }))
    if (file.endsWith(".duckdb_extension"))
      await cp(join(inject("extensions"), file), join(folder, file.split("/").at(-1)!));
  return home;
}

test("pip brings the extensions as the page says, of this DuckDB's version, and a lake loads them", async () => {
  const page = await readFile(join(root, "docs/lake.md"), "utf8");
  const lines = page.split("\n").filter(line => line.startsWith("pip "));
  expect(lines).toHaveLength(2);
  const version = (await duckdbVersion()).replace(/^v/, "");
  expect(new Set([...lines[0]!.matchAll(/==(\S+)/g)].map(([, named]) => named))).toEqual(new Set([version]));
  expect(page).toContain(`extensions/v${version}/`);
  const cwd = await temporaryFolder();
  const python = await pythonWithPip();
  for (const line of lines) await run(python, ["-m", ...line.split(" ")], { cwd, timeout: LIMIT_MS });
  const connection = await (await DuckDBInstance.create()).connect();
  const place = { extensions: join(cwd, "duckdb_extensions"), dataPath: "s3://bucket/lake", storage: { keyId: "k" } };
  await loadExtensions(connection, place as unknown as LakePlace);
  const loaded = await connection.runAndReadAll(
    "select extension_name from duckdb_extensions() where loaded order by 1",
  );
  expect(loaded.getRows().flat()).toEqual(expect.arrayContaining(["ducklake", "httpfs", "postgres_scanner"]));
}, 300_000);

test("the lines for other programs read a lake", async () => {
  const { warehouse, sync } = await scenario(warehouses[0]!.make, { orders: 12 });
  await sync({ names: ["purchase_orders"] });
  const page = await readFile(join(root, "docs/lake.md"), "utf8");
  const attached = [...page.matchAll(/ATTACH '.*?' AS lake \(.*?\)/g)].map(([text]) => text);
  expect(attached).toHaveLength(3);
  expect(new Set(attached).size).toBe(1);
  const { hostname, port, username, password, pathname } = new URL(String(warehouse.destination["catalog"]));
  const [, program] = /```js\n(.*?)```/s.exec(page)!;
  const own = program!.replace(
    "host=db.example.com dbname=warehouse",
    `host=${hostname} port=${port} user=${username} dbname=${pathname.slice(1)}`,
  );
  const env = { ...process.env, HOME: await homeWithExtensions(), PGPASSWORD: password };
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", own], { cwd: root, env });
  expect(stdout).toContain("12n");
});
