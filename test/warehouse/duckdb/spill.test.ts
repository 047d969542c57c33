import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { opened, settingsFor, temporaryFolder } from "./workbench.ts";

it("spills into a folder of its own, and removes those of sessions that were killed", async () => {
  const folder = await temporaryFolder();
  const settings = { ...settingsFor(join(folder, "w.duckdb")), runId: "this-run" };
  const home = join(folder, "w.versions");
  const spills = async () => (await readdir(home)).filter(name => name.startsWith("spill"));
  await mkdir(join(home, "spill-killed-run"), { recursive: true });
  await writeFile(join(home, "spill-killed-run", "duckdb_temp_storage-0.tmp"), "left");
  // A log that is replayed on opening may spill before anything else happens.
  await mkdir(join(home, "spill-this-run"));
  await writeFile(join(home, "spill-this-run", "in use"), "kept");
  const destination = await opened(settings);
  expect(await spills()).toEqual(["spill-this-run"]);
  expect(await readdir(join(home, "spill-this-run"))).toEqual(["in use"]);
  await destination.close();
  // A file without a table goes too, and its folder with it.
  expect(await readdir(folder)).toEqual([]);
});
