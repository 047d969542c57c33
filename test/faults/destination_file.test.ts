import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { DestinationError } from "../../src/errors.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { destinationFailure } from "../../src/warehouse/duckdb/session/failure.ts";
import { folderElsewhere } from "../warehouse/duckdb/workbench.ts";
import { type FileEvening, fileEvening, type Place, YESTERDAYS } from "./file_night.ts";

const MADE_AT = "2026-03-17T11-00-00.000Z";

let evening: FileEvening;
beforeAll(async () => {
  evening = await fileEvening();
});
afterAll(() => evening.close());

/** The warehouse as the evening left it, gone when the test is over. */
async function copied(): Promise<Place> {
  const place = await evening.copy();
  onTestFinished(() => rm(place.folder, { recursive: true }));
  return place;
}

const expectRight = async (place: Place): Promise<void> => expect(await place.wrong()).toEqual([]);

function expectToldOnce(report: RunReport, what: RegExp): void {
  expect([report.exit_code, report.errors]).toMatchObject([6, [{ message: expect.stringMatching(what) }]]);
}

describe("what a publish that was killed leaves", () => {
  it.each<[string, (place: Place) => Promise<unknown>]>([
    [
      "half a copy, old versions, a whole copy and links that are not in their place",
      async ({ home, work, path }) => {
        await mkdir(join(home, "2026-03-17T10-00-00.000Z.tmp"));
        await writeFile(join(home, "2026-03-17T10-00-00.000Z.tmp", "w.duckdb"), "half");
        for (const day of [10, 11, 12]) await cp(work, join(home, `2026-03-${day}T11-00-00.000Z`, "w.duckdb"));
        await cp(work, join(home, MADE_AT, "w.duckdb"));
        await symlink(`w.versions/${MADE_AT}/w.duckdb`, `${path}.tributary.new`);
        await symlink("../nowhere", join(home, "link.new"));
      },
    ],
    [
      "half a work file, and none",
      async ({ home, work }) => {
        await rm(work);
        await writeFile(join(home, "work.tmp"), "half");
        await writeFile(`${work}.wal`, "a log of a file that is gone");
      },
    ],
  ])("%s", async (_name, leave) => {
    const place = await copied();
    await leave(place);
    const report = await place.run();
    expect([report.exit_code, report.errors]).toEqual([0, []]);
    await expectRight(place);
  });

  it("a work file that is ahead of what readers have: the next run shows it, though nothing is new", async () => {
    const place = await copied();
    const link = await readlink(place.path);
    await place.run();
    const newest = (await readdir(place.home))
      .filter(name => name.startsWith("20"))
      .sort()
      .at(-1)!;
    await rm(join(place.home, newest), { recursive: true });
    await rm(place.path);
    await symlink(link, place.path);
    expect(await place.seen()).toBe(YESTERDAYS);
    const report = await place.run();
    expect(report.streams).toMatchObject([{ inserted: 0, updated: 0 }]);
    await expectRight(place);
  });
});

describe("what somebody does between two runs", () => {
  it.each<[string, (place: Place) => Promise<unknown>]>([
    ["the work file is removed", ({ work }) => rm(work)],
    ["the folder of versions is removed, and the link leads nowhere", ({ home }) => rm(home, { recursive: true })],
    ["the link is removed", ({ path }) => rm(path)],
    [
      "a reader's log is left beside the version",
      async ({ path }) => writeFile(join(path, "..", `${await readlink(path)}.wal`), "a log"),
    ],
  ])("%s: the next run puts it right", async (_name, spoil) => {
    const place = await copied();
    await spoil(place);
    const report = await place.run();
    expect([report.exit_code, report.errors]).toEqual([0, []]);
    await expectRight(place);
  });

  it("a folder that may not be written is told with what to do", async () => {
    await expect(evening.at("/sys").run()).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringMatching(/write permission|read-only file system/),
    });
  });
});

describe("what somebody does under a run", () => {
  it.each<[string, (place: Place) => Promise<unknown>, RegExp]>([
    ["removes the work file", ({ work }) => rm(work), /somebody removed it/],
    [
      "puts another in its place",
      async ({ work }) => {
        await rm(work);
        await cp(join(evening.folder, "w.versions", "work.duckdb"), work);
      },
      /somebody replaced it/,
    ],
  ])("%s: the run says so, readers keep what they have, the next run makes it good", async (_name, spoil, told) => {
    const place = await copied();
    const link = await readlink(place.path);
    expectToldOnce(await place.run(async () => void (await spoil(place))), told);
    expect([await readlink(place.path), await place.seen()]).toEqual([link, YESTERDAYS]);
    const report = await place.run();
    expect([report.exit_code, report.errors]).toEqual([0, []]);
    await expectRight(place);
  });

  it("removes the work file and starts another run: that one is refused", async () => {
    const place = await copied();
    await rm(place.work);
    const holder = {
      runId: "run-1",
      pid: process.ppid,
      host: hostname(),
      command: "tributary sync",
      startedAt: "2026-03-16",
    };
    await writeFile(join(place.home, "holder.json"), JSON.stringify(holder));
    await expect(place.run()).rejects.toMatchObject({ exitCode: 4, message: expect.stringMatching(/run run-1/) });
    await writeFile(join(place.home, "holder.json"), JSON.stringify({ ...holder, pid: 2 ** 22 + 1 }));
    expect((await place.run()).exit_code).toBe(0);
    await expectRight(place);
  });

  it("removes the link: readers have it again at the end", async () => {
    const place = await copied();
    expect((await place.run(() => rm(place.path))).exit_code).toBe(0);
    await expectRight(place);
  });
});

describe("a disk that is full", () => {
  it("while a version is copied: what ends the copy is what the run tells", async () => {
    const { work, folder } = await copied();
    const copy = join(import.meta.dirname, "../../src/warehouse/duckdb/versions/copy.ts");
    const program = `import(${JSON.stringify(copy)}).then(m => m.copyDatabase(${JSON.stringify(work)}, ${JSON.stringify(join(folder, "copy"))}, 0o444)).catch(error => console.log(error.message))`;
    const limited = ["-c", 'ulimit -f 100 && exec "$@"', "bash", process.execPath, "-e", program];
    const { stdout } = await promisify(execFile)("bash", limited);
    const told = destinationFailure("publish it", new Error(stdout.trim()));
    expect(told).toBeInstanceOf(DestinationError);
    expect(told).toMatchObject({ message: expect.stringMatching(/EFBIG.*The disk is full/) });
  });
});

describe("versions on another disk than the link", () => {
  it("are published and pruned, and a file of ours at the path becomes the first of them", async () => {
    const other = await folderElsewhere();
    const folder = await mkdtemp(join(tmpdir(), "tributary-file-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const place = evening.at(folder);
    await symlink(other, place.home);
    await cp(join(evening.folder, "w.versions", "work.duckdb"), place.path);
    for (let i = 0; i < 3; i++) {
      const report = await place.run();
      expect([report.exit_code, report.errors]).toEqual([0, []]);
      evening.clock.advance(1_000);
    }
    expect((await readdir(other)).filter(name => name.startsWith("20"))).toHaveLength(2);
    await expectRight(place);
  });
});
