import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openEmpty, select } from "../../../src/warehouse/duckdb/session/session.ts";
import { opened, settingsFor, temporaryFolder } from "./workbench.ts";

it("spills into a folder of its own that others can't read, and removes those of sessions that were killed", async () => {
  const folder = await temporaryFolder();
  const settings = { ...settingsFor(join(folder, "w.duckdb")), runId: "this-run" };
  const home = join(folder, "w.versions");
  const spills = async () => (await readdir(home)).filter(name => name.startsWith("spill"));
  await mkdir(join(home, "spill-killed-run"), { recursive: true });
  await writeFile(join(home, "spill-killed-run", "duckdb_temp_storage-0.tmp"), "left");
  const destination = await opened(settings);
  const [own, ...others] = await spills();
  expect([own, others]).toEqual([expect.stringMatching(/^spill-\w{6}$/), []]);
  expect((await stat(join(home, own!))).mode & 0o777).toBe(0o700);
  await destination.close();
  // A file without a table goes too, and its folder with it.
  expect(await readdir(folder)).toEqual([]);
});

it("a reader spills where nobody can have put a folder before, and leaves none behind", async () => {
  const base = await temporaryFolder();
  const empty = { memoryLimitMb: 64, threads: 1 };
  const session = await openEmpty({ ...empty, spill: join(base, "reading") });
  expect(session.spill).toMatch(/reading-\w{6}$/);
  expect((await stat(session.spill)).mode & 0o777).toBe(0o700);
  const temp = await select(session.connection, "select current_setting('temp_directory')");
  expect(temp).toEqual([[session.spill]]);
  session.close();
  expect(await readdir(base)).toEqual([]);
  const without = await openEmpty({ ...empty, spill: join(base, "nowhere", "reading") });
  expect(await select(without.connection, "select 1")).toEqual([[1]]);
  without.close();
});
