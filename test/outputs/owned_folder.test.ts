import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigError } from "../../src/errors.ts";
import { type OwnedFile, writeOwned } from "../../src/outputs/owned_folder.ts";

const writePackage = (folder: string, texts: readonly OwnedFile[]) => writeOwned(folder, texts, "tributary dbt");
const newFolder = () => mkdtempSync(join(tmpdir(), "dbt-"));
const files = (texts: Readonly<Record<string, string>>): readonly OwnedFile[] =>
  Object.entries(texts).map(([path, text]) => ({ path, text }));
const first = files({ "project.yml": "one", "models/a.sql": "select 1", "models/deep/b.sql": "select 2" });
const manifest = ".tributary-dbt.json";

/** Every file below a folder, with what is in it. */
const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .sort()
      .map(path => [path.slice(folder.length + 1), readFileSync(path, "utf8")]),
  );
const refusal = async (writing: Promise<unknown>): Promise<string> => {
  const error = await writing.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).message;
};

test("a folder is made, and written again only what is different", async () => {
  const folder = join(newFolder(), "a", "b");
  const paths = first.map(({ path }) => path);
  expect(await writePackage(folder, first)).toEqual({ written: paths, unchanged: [], removed: [] });
  const before = contents(folder);
  expect(Object.keys(before)).toEqual([manifest, ...paths].sort());
  expect(await writePackage(folder, first)).toEqual({ written: [], unchanged: paths, removed: [] });
  expect(contents(folder)).toEqual(before);
});

test("files that are no longer part of it go, with folders that hold nothing else; others stay", async () => {
  const folder = newFolder();
  await writePackage(folder, first);
  writeFileSync(join(folder, "models/mine.sql"), "select 'mine'");
  const second = files({ "project.yml": "two", "models/c.sql": "select 3" });
  expect(await writePackage(folder, second)).toEqual({
    written: ["project.yml", "models/c.sql"],
    unchanged: [],
    removed: ["models/a.sql", "models/deep/b.sql"],
  });
  expect(readdirSync(join(folder, "models")).sort()).toEqual(["c.sql", "mine.sql"]);
  expect(contents(folder)["models/mine.sql"]).toBe("select 'mine'");
});

test("another command's files are not its own", async () => {
  const folder = newFolder();
  await writeOwned(folder, files({ "page.html": "one" }), "tributary docs");
  expect(await refusal(writePackage(folder, files({ "page.html": "two" })))).toContain("in the way of `tributary dbt`");
});

test("a file of somebody else's or one that was edited is named, and nothing is written", async () => {
  const folder = newFolder();
  await writePackage(folder, first);
  writeFileSync(join(folder, "models/a.sql"), "select 'edited'");
  writeFileSync(join(folder, "models/deep/b.sql"), "select 'edited too'");
  writeFileSync(join(folder, "new.yml"), "mine");
  const before = contents(folder);
  const second = files({ "project.yml": "two", "models/a.sql": "select 4", "new.yml": "ours" });
  const message = await refusal(writePackage(folder, second));
  expect(message).toContain("  models/a.sql (changed since tributary wrote it)\n");
  expect(message).toContain("  models/deep/b.sql (changed since tributary wrote it)\n");
  expect(message).toContain("  new.yml (not written by tributary)\n");
  expect(message).not.toContain("project.yml");
  expect(contents(folder)).toEqual(before);
});

test("a file of somebody else's that says the same is taken as it is, and so is an edit that was undone", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "project.yml"), "one");
  expect((await writePackage(folder, first)).unchanged).toEqual(["project.yml"]);
  expect((await writePackage(folder, files({ "project.yml": "two" }))).written).toEqual(["project.yml"]);
});

test("folders and links in a file's place are not overwritten", async () => {
  const folder = newFolder();
  await writePackage(folder, files({ "gone.yml": "one" }));
  rmSync(join(folder, "gone.yml"));
  for (const name of ["project.yml", "gone.yml"]) mkdirSync(join(folder, name, "mine"), { recursive: true });
  symlinkSync("/dev/null", join(folder, "link.yml"));
  const message = await refusal(writePackage(folder, files({ "project.yml": "one", "link.yml": "x" })));
  expect(message).toContain(
    "  project.yml (a folder or a link)\n  link.yml (a folder or a link)\nNothing was written:",
  );
  await writePackage(folder, files({ "other.yml": "two" }));
  expect(readdirSync(folder).sort()).toEqual([manifest, "gone.yml", "link.yml", "other.yml", "project.yml"]);
});

test("many files in the way are counted", async () => {
  const folder = newFolder();
  const many = Array.from({ length: 13 }, (_, at): OwnedFile => ({ path: `f${at}.sql`, text: "ours" }));
  for (const { path } of many) writeFileSync(join(folder, path), "mine");
  expect(await refusal(writePackage(folder, many))).toMatch(/ {2}f9\.sql .*\n {2}and 3 more\n/);
});

test("whoever is stopped between two files goes on with the next write: until it is done, the list has files as they were and as they are to be", async () => {
  const folder = newFolder();
  await writePackage(folder, first);
  const before = (JSON.parse(contents(folder)[manifest]!) as { files: Record<string, string[]> }).files;
  // A link to nowhere in the place of a folder: the write ends between two files.
  symlinkSync("/nowhere/at/all", join(folder, "more"));
  const second = files({ "project.yml": "two", "more/new.sql": "select 3", "models/a.sql": "select 4" });
  expect(await refusal(writePackage(folder, second))).toMatch(/\(E\w+\)/);
  const { files: meanwhile } = JSON.parse(contents(folder)[manifest]!) as { files: Record<string, string[]> };
  expect(contents(folder)["project.yml"]).toBe("two");
  expect(meanwhile["project.yml"]).toEqual([before["project.yml"]![0], expect.stringMatching(/^[0-9a-f]{64}$/)]);
  await writePackage(folder, files({ "project.yml": "three" }));
  expect(Object.keys(contents(folder))).toEqual([manifest, "project.yml"]);
});

test.each([
  ["no list", "{}"],
  ["a list of another program's", '{"made_by":"dbt","files":{}}'],
  ["a list that leads out of the folder", '{"made_by":"tributary dbt","files":{"../x":["1"]}}'],
  ["a list cut short", '{"made_by":'],
])("%s is refused", async (_, text) => {
  const folder = newFolder();
  writeFileSync(join(folder, manifest), text);
  expect(await refusal(writePackage(folder, first))).toMatch(/is not the list that `tributary dbt` wrote/);
  expect(contents(folder)).toEqual({ [manifest]: text });
});

test("a place that can't be written is told with what to do", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "file"), "");
  expect(await refusal(writePackage(join(folder, "file"), first))).toMatch(/\(E\w+\): check what it is/);
  expect(await refusal(writePackage(join(folder, "file/below"), first))).toMatch(/\(E\w+\): check what it is/);
});
