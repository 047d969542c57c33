import { appendFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ExportReport } from "../../src/outputs/export/export.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { manifestOf } from "../outputs/export/parquet.ts";
import { json, simulated, workplace } from "./workplace.ts";

test("export writes, and refuses what it would destroy", async () => {
  const simulator = await simulated();
  const { run, folder } = workplace(simulator, { views: false });
  expect((await run(["sync", "items", "findings"])).code).toBe(0);

  const first = await run(["export", "--out", "lake", "--partition-by", "_company"]);
  expect(first.code).toBe(0);
  expect(first.stdout).toMatch(/^table +rows +files +bytes\n/);
  expect(first.stdout).toMatch(/\nitems +130 +1 +[\d,]+\n/);
  expect(first.stdout).toMatch(/\n\d+ tables written, \d+ rows in all: .*\/lake\n$/);
  expect(first.stderr).toContain('"table":"items","rows":130');
  expect(await readdir(join(folder, "lake", "items"))).toEqual(["company=acme"]);
  const manifest = await manifestOf(join(folder, "lake"));
  expect(manifest).toMatchObject({ options: { partition_by: ["_company"], streams: [], keep: 2 } });
  const { columns } = manifest.tables.find(({ table }) => table === "items")!;
  expect(columns.find(({ name }) => name === "_company")).toMatchObject({ stored_in: "file" });
  expect(manifest.published_at).toMatch(/^\d{4}-/);

  const again = json<ExportReport>(await run(["export", "--out", "lake", "--partition-by", "_company", "--json"]));
  expect(again).toMatchObject({ out: join(folder, "lake"), removed: [] });
  expect(Object.keys(again)).toEqual(
    expect.arrayContaining(["version", "read_at", "published_at", "tables", "missing"]),
  );
  const less = await run(["export", "items", "budgets", "--out", "lake", "--partition-by", "_company"]);
  expect(less.stdout).toMatch(/\nNo longer in the export: .*\bfindings\b/);

  expect(less.stdout).toContain("\nNot there yet, `tributary sync` loads them: budgets.\n");

  await mkdir(join(folder, "mine"));
  await writeFile(join(folder, "mine", "thesis.txt"), "x");
  const refused = await run(["export", "--out", "mine"]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("files in it that no export wrote") });
  expect((await readdir(folder)).sort()).toEqual([
    "config.yaml",
    "lake",
    "lake.exports",
    "mine",
    "w.duckdb",
    "w.versions",
  ]);
});

test("after a change of privacy each sync names the export until it was made again", async () => {
  const { run, folder } = workplace(await simulated(), { views: false });
  const out = join(folder, "lake");
  const named = async () => {
    const { warnings } = json<RunReport>(await run(["sync", "items", "--json"]));
    return warnings.filter(({ code }) => code === "privacy.outdated_exports").map(({ fields }) => fields);
  };
  expect(await named()).toEqual([]);
  expect((await run(["export", "items", "--out", "lake"])).code).toBe(0);

  const config = join(folder, "config.yaml");
  await appendFile(config, "privacy: { exclude_columns: [items.description] }\n");
  const early = await run(["export", "items", "--out", "lake"]);
  expect({ code: early.code, said: early.stderr }).toEqual({
    code: 2,
    said: expect.stringContaining("Run `tributary sync` first"),
  });
  for (let times = 0; times < 2; times++) expect(await named()).toEqual([{ paths: [out], state_schema: "_tributary" }]);
  expect((await run(["export", "items", "--out", "lake"])).code).toBe(0);
  expect(await named()).toEqual([]);
  expect(await readdir(join(folder, "lake.exports"))).toHaveLength(1);
});
