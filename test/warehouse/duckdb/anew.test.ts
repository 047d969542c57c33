import { chmod, chown, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { layoutOf } from "../../../src/warehouse/duckdb/session/file_layout.ts";
import { factOf, fill, folderElsewhere, opened, settingsFor, temporaryFolder } from "./workbench.ts";

test("a file that is written anew belongs to whom it belonged, and may be read by nobody else", async () => {
  const path = join(await temporaryFolder(), "w.duckdb");
  const destination = await opened(settingsFor(path, { readers: "direct" }));
  await fill(destination, 1);
  await chmod(path, 0o640);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(path, 4711, 4712);
  const { ino: before } = await stat(path);
  await destination.cleanse([]);
  const { ino, mode, uid, gid } = await stat(path);
  expect([ino === before, mode & 0o777, await factOf(destination)]).toEqual([false, 0o640, 1]);
  if (isRoot) expect([uid, gid]).toEqual([4711, 4712]);
  await destination.close();
  expect(await readdir(dirname(path))).toEqual(["w.duckdb", "w.duckdb.stage"]);
});

test.each(["snapshot", "direct"] as const)(
  "a file is written anew where the folder of its own is on another disk, too (readers: %s)",
  async readers => {
    const path = join(await temporaryFolder(), "w.duckdb");
    const { home } = layoutOf({ path, readers });
    await symlink(await folderElsewhere(), home);
    const killed = readers === "direct" ? `${path}.tributary.new` : join(home, "anew.tmp");
    await writeFile(killed, "begun by a killed run");
    await writeFile(`${killed}.wal`, "its log");
    const destination = await opened(settingsFor(path, { readers }));
    await fill(destination, 1);
    await destination.cleanse([]);
    expect(await factOf(destination)).toBe(1);
    await destination.close();
    expect((await readdir(dirname(path))).sort()).toEqual([path, home].map(each => basename(each)).sort());
    expect((await readdir(home)).filter(name => name.includes("anew"))).toEqual([]);
  },
);
