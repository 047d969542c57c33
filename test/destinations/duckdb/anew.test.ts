import { chmod, chown, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { factOf, fill, opened, settingsFor, temporaryFolder } from "./workbench.ts";

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
