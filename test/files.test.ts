import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../src/files.ts";

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "files-"));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

test("folders are made with those above them, and may be there", async () => {
  const path = join(await folder(), "a", "b", "c");
  await makeFolder(path, 0o700);
  await makeFolder(path);
  expect(((await stat(path)).mode & 0o777).toString(8)).toBe("700");
});

test("folders beside each other are made at once", async () => {
  const above = join(await folder(), "a", "b");
  await Promise.all(["c", "d", "e", "f"].map(name => makeFolder(join(above, name))));
  expect((await readdir(above)).sort()).toEqual(["c", "d", "e", "f"]);
});

test("a file in the way is an error, and so is a file system that makes no folders", async () => {
  const file = join(await folder(), "file");
  await writeFile(file, "");
  await expect(makeFolder(file)).rejects.toMatchObject({ code: "EEXIST" });
  await expect(makeFolder(join(file, "below"))).rejects.toMatchObject({ code: "ENOTDIR" });
  const nowhere = process.platform === "linux" ? "/proc/tributary/below" : join(file, "below", "further");
  await expect(makeFolder(nowhere)).rejects.toMatchObject({ code: expect.stringMatching(/^(?:ENOENT|ENOTDIR)$/) });
});
