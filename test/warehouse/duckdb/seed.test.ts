import { execFile } from "node:child_process";
import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { describe, expect, it } from "vitest";
import { entryAt } from "../../../src/files.ts";
import { inspectFile } from "../../../src/warehouse/duckdb/inspection.ts";
import { layoutOf } from "../../../src/warehouse/duckdb/session/file_layout.ts";
import { tear } from "../../support/tear.ts";
import { factOf, fill, helper, opened, setFact, settingsFor, temporaryFolder } from "./workbench.ts";

const warehouse = async () => join(await temporaryFolder(), "w.duckdb");

/** A warehouse whose only version says 1. */
async function published(): Promise<string> {
  const path = await warehouse();
  const first = await opened(settingsFor(path));
  await fill(first, 1);
  await first.releaseToReaders();
  await first.close();
  return path;
}

const homeOf = (path: string) => path.replace(/\.duckdb$/, ".versions");

/** Makes a DuckDB file with plain DuckDB. */
async function database(path: string, ...statements: string[]): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const statement of statements) await connection.run(statement);
  connection.closeSync();
  instance.closeSync();
}

const ours = [
  "create schema _tributary",
  "create table _tributary.warehouse (key varchar, value json)",
  "create schema procurement",
  "create table procurement.facts as select 11 as fact",
];

const unknownFile = (path: string) => ({
  code: "duckdb.unknown_file",
  fields: { path, versions_folder: homeOf(path) },
});

describe("a warehouse file", () => {
  it("is made again from the version that readers see when the work file is gone", async () => {
    const path = await warehouse();
    const first = await opened(settingsFor(path));
    await fill(first, 1);
    await first.releaseToReaders();
    await setFact(first, 2);
    await first.releaseToReaders();
    await first.close();
    await rm(join(homeOf(path), "work.duckdb"));
    const second = await opened(settingsFor(path));
    expect(await factOf(second)).toBe(2);
    await setFact(second, 3);
    await second.releaseToReaders();
    await second.close();
    await rm(join(homeOf(path), "work.duckdb"));
    await rm(path);
    await writeFile(join(homeOf(path), "work.duckdb.wal"), "a log whose file is gone");
    const third = await opened(settingsFor(path));
    expect(await factOf(third)).toBe(3);
    await third.releaseToReaders();
    expect(await helper("reader.helper.ts", path).ask("open")).toBe("3");
  });

  it("of ours at the path becomes the first version, with what its log holds, unnoticed by who reads it", async () => {
    const path = await warehouse();
    const direct = await opened(settingsFor(path, { readers: "direct" }));
    await fill(direct, 1);
    await direct.close();
    const other = helper("writer.helper.ts", path, "direct");
    await other.heard();
    await other.ask("fact 9");
    await other.kill();
    expect((await readdir(join(path, ".."))).sort()).toContain("w.duckdb.wal");
    const snapshot = await opened(settingsFor(path));
    expect(await factOf(snapshot)).toBe(9);
    const reader = helper("reader.helper.ts", path);
    expect(await reader.ask("open")).toBe("9");
    expect((await stat(path)).mode & 0o777).toBe(0o444);
    await setFact(snapshot, 10);
    await snapshot.releaseToReaders();
    expect(await reader.ask("open")).toBe("10");
    expect(await reader.ask("ask 0")).toBe("9");
    expect((await readdir(homeOf(path))).filter(name => name.startsWith("20"))).toHaveLength(2);
  });

  it("that somebody puts back beside versions is refused, and both ways out lose nothing", async () => {
    const path = await published();
    const backup = join(await temporaryFolder(), "backup.duckdb");
    await copyFile(path, backup);
    const later = await opened(settingsFor(path));
    await setFact(later, 2);
    await later.releaseToReaders();
    await later.close();
    await rm(path);
    await copyFile(backup, path);
    for (const look of [() => opened(settingsFor(path)), () => inspectFile({ path, readers: "snapshot" })])
      await expect(look()).rejects.toMatchObject({
        exitCode: 6,
        ...unknownFile(path),
      });
    expect(await readFile(path)).toEqual(await readFile(backup));
    await rename(homeOf(path), `${homeOf(path)}.before`);
    const restored = await opened(settingsFor(path));
    expect(await factOf(restored)).toBe(1);
    await restored.close();
    await rm(path);
    await rm(homeOf(path), { recursive: true });
    await rename(`${homeOf(path)}.before`, homeOf(path));
    const gone = await opened(settingsFor(path));
    expect(await factOf(gone)).toBe(2);
    await gone.close();
  });

  it("that comes to the path during a run is not replaced by what the run shows", async () => {
    const path = await published();
    const backup = await readFile(path);
    const destination = await opened(settingsFor(path));
    await setFact(destination, 2);
    await rm(path);
    await writeFile(path, backup);
    await expect(destination.releaseToReaders()).rejects.toMatchObject(unknownFile(path));
    expect(await readFile(path)).toEqual(backup);
    await rm(path);
    await destination.releaseToReaders();
    expect(await helper("reader.helper.ts", path).ask("open")).toBe("2");
  });

  it("that was begun with where there are no links is gone on from, until a run put its own there", async () => {
    const path = await warehouse();
    await database(path, ...ours);
    const makeLink = () => Promise.reject(Object.assign(new Error("EPERM"), { code: "EPERM" }));
    await (await opened(settingsFor(path, { makeLink }))).close();
    const begun = await readFile(path);
    const next = await opened(settingsFor(path, { makeLink }));
    await setFact(next, 12);
    await next.releaseToReaders();
    await next.close();
    const last = await opened(settingsFor(path, { makeLink }));
    expect(await factOf(last)).toBe(12);
    await last.close();
    await rm(path);
    await writeFile(path, begun);
    await expect(opened(settingsFor(path, { makeLink }))).rejects.toMatchObject(unknownFile(path));
  });

  it("may have been made with plain DuckDB, as long as it has our table", async () => {
    const path = await warehouse();
    await database(path, ...ours);
    const destination = await opened(settingsFor(path));
    expect(await factOf(destination)).toBe(11);
  });

  it("of another program is refused and left as it is", async () => {
    for (const readers of ["snapshot", "direct"] as const) {
      const path = await warehouse();
      const refused = async (code: string, facts = {}) => {
        const before = await readFile(path);
        await expect(opened(settingsFor(path, { readers }))).rejects.toMatchObject({
          name: "DestinationError",
          exitCode: 6,
          code,
          fields: { path, file: path, ...facts },
        });
        expect(await readFile(path)).toEqual(before);
        await rm(path);
      };
      const others = ["duckdb.not_ours", { state_schema: "_tributary" }] as const;
      await database(path, "create table theirs as select 1 as one");
      await refused(...others);
      await database(path, "create view theirs as select 1 as one");
      await refused(...others);
      await writeFile(path, "not a database at all ".repeat(1000));
      await refused("duckdb.no_database");
      await writeFile(path, "SQLite format 3\0".padEnd(4096, "x"));
      await refused("duckdb.no_database");
      await database(path, ...ours.map(statement => statement.replace("_tributary", "_another")));
      await refused(...others);
    }
  });

  it("cannot be a folder, or a link to somewhere else", async () => {
    const path = await warehouse();
    await mkdir(path);
    await expect(opened(settingsFor(path))).rejects.toMatchObject({ code: "duckdb.path_is_folder" });
    await rm(path, { recursive: true });
    await symlink("elsewhere.duckdb", path);
    await expect(opened(settingsFor(path))).rejects.toMatchObject({
      code: "duckdb.path_is_link",
      fields: { path, target: "elsewhere.duckdb", direct: false },
    });
    await rm(path);
    const snapshot = await opened(settingsFor(path));
    await fill(snapshot, 1);
    await snapshot.releaseToReaders();
    await snapshot.close();
    await expect(opened(settingsFor(path, { readers: "direct" }))).rejects.toMatchObject({
      code: "duckdb.path_is_link",
      fields: { direct: true },
    });
    expect(await readdir(join(path, ".."))).not.toContain("w.duckdb.stage");
  });

  it("whose work file is another program's is refused", async () => {
    const path = await published();
    const work = join(homeOf(path), "work.duckdb");
    await rename(work, `${work}.away`);
    await database(work, "create table theirs as select 1 as one");
    await expect(opened(settingsFor(path))).rejects.toMatchObject({ code: "duckdb.not_ours", fields: { file: work } });
    await rm(work);
    expect(await factOf(await opened(settingsFor(path)))).toBe(1);
  });

  it.each([
    ["cut short", async (file: string) => truncate(file, 5000)],
    ["emptied", async (file: string) => truncate(file, 0)],
    ["torn", tear],
    ["another thing", async (file: string) => writeFile(file, "damaged")],
  ])("whose work file was %s goes on from the newest version, keeps the file and tells it", async (_what, damage) => {
    const path = await warehouse();
    const home = homeOf(path);
    const first = await opened(settingsFor(path));
    await fill(first, 1);
    await first.releaseToReaders();
    await setFact(first, 2);
    await first.close();
    const work = join(home, "work.duckdb");
    await damage(work);
    await writeFile(`${work}.wal`, "a log of the damaged file");
    const damaged = await readFile(work);
    const second = await opened(settingsFor(path));
    expect(await factOf(second)).toBe(1);
    const paths = { work_path: work, kept_path: join(home, "damaged.duckdb") };
    expect(second.warnings).toMatchObject([
      { code: "duckdb.damaged_replaced", fields: { ...paths, reason: expect.stringMatching(/./) } },
    ]);
    expect(await readFile(join(home, "damaged.duckdb"))).toEqual(damaged);
    expect((await readdir(home)).filter(name => name.includes(".wal"))).toEqual(["damaged.duckdb.wal"]);
    await setFact(second, 3);
    await second.releaseToReaders();
    await second.close();
    expect(await helper("reader.helper.ts", path).ask("open")).toBe("3");
    const third = await opened(settingsFor(path));
    expect([await factOf(third), third.warnings]).toEqual([3, []]);
    await third.cleanse([]);
    expect((await readdir(home)).filter(name => name.startsWith("damaged"))).toEqual([]);
  });

  it("whose work file is damaged before anything was published, or is what readers open, is left as it is", async () => {
    for (const readers of ["snapshot", "direct"] as const) {
      const path = await warehouse();
      const first = await opened(settingsFor(path, { readers }));
      await fill(first, 1);
      await first.close();
      const work = readers === "direct" ? path : join(homeOf(path), "work.duckdb");
      await truncate(work, 5000);
      const damaged = await readFile(work);
      await expect(opened(settingsFor(path, { readers }))).rejects.toMatchObject({
        exitCode: 6,
        code: "duckdb.damaged",
      });
      expect(await readFile(work)).toEqual(damaged);
    }
  });

  it("that is damaged like its newest version is left as it is", async () => {
    const path = await published();
    const work = join(homeOf(path), "work.duckdb");
    const version = await realpath(path);
    await chmod(version, 0o644);
    for (const file of [work, version]) await tear(file);
    const damaged = await readFile(work);
    await expect(opened(settingsFor(path))).rejects.toMatchObject({ exitCode: 6 });
    expect(await readFile(work)).toEqual(damaged);
    expect(await readdir(homeOf(path))).not.toContain("damaged.duckdb");
  });

  it("is nobody's to put aside while a process has it open", async () => {
    const path = await published();
    const holding = helper("writer.helper.ts", path, "snapshot");
    await holding.heard();
    const work = join(homeOf(path), "work.duckdb");
    await tear(work);
    await expect(opened(settingsFor(path)).then(factOf)).rejects.toMatchObject({ exitCode: 4 });
    expect(await readdir(homeOf(path))).not.toContain("damaged.duckdb");
  });

  it("without a folder, or below a file, ends with advice", async () => {
    const folder = await temporaryFolder();
    await expect(opened(settingsFor(join(folder, "missing", "w.duckdb")))).rejects.toMatchObject({
      exitCode: 6,
      code: "duckdb.vanished",
    });
    await writeFile(join(folder, "file"), "");
    await expect(opened(settingsFor(join(folder, "file", "w.duckdb")))).rejects.toMatchObject({
      exitCode: 6,
      code: "duckdb.no_folder",
    });
    await expect(opened(settingsFor("/proc/1/w.duckdb", { readers: "direct" }))).rejects.toMatchObject({ exitCode: 6 });
    expect(await readdir(folder)).toEqual(["file"]);
  });

  it("is made whole or not at all: what a full disk or a kill cut short is in no later run's way", async () => {
    const script = join(import.meta.dirname, "writer.helper.ts");
    const env = { ...process.env, NODE_OPTIONS: "" };
    for (const readers of ["snapshot", "direct"] as const)
      for (const kilobytes of readers === "snapshot" ? [0, 4, 8] : [4]) {
        const path = await warehouse();
        // DuckDB begins a file with three parts of 4 KB: the disk is full at each of them.
        const limited = ["-c", `ulimit -f ${kilobytes} && exec "$@"`, "bash", process.execPath, script, path, readers];
        await expect(promisify(execFile)("bash", limited, { env })).rejects.toThrow("The disk is full");
        const { home, work } = layoutOf({ path, readers });
        expect([await entryAt(work), await readdir(home)]).toEqual([undefined, []]);
        await writeFile(join(home, "made-1-1.tmp"), "what a killed run had begun");
        await fill(await opened(settingsFor(path, { readers })), 1);
        expect((await readdir(home)).filter(name => name.startsWith("made-"))).toEqual([]);
      }
  });

  it("is seeded once by two processes that start together", async () => {
    const path = await published();
    await rm(join(homeOf(path), "work.duckdb"));
    const both = [helper("writer.helper.ts", path), helper("writer.helper.ts", path)];
    const said = await Promise.all(both.map(other => other.heard()));
    expect(said.filter(line => line === "held")).toHaveLength(1);
    expect(said.filter(line => line.startsWith("LockedError 4"))).toHaveLength(1);
    const holder = both[said.indexOf("held")]!;
    await holder.ask("fact 6");
    await holder.kill();
    expect(await factOf(await opened(settingsFor(path)))).toBe(6);
  });
});
