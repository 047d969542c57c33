import { chmod, mkdir, readdir, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { describe, expect, it, onTestFinished } from "vitest";
import { factOf, fill, helper, opened, setFact, settingsFor, temporaryFolder } from "./workbench.ts";

const warehouse = async () => join(await temporaryFolder(), "w.duckdb");
const versions = async (path: string) =>
  (await readdir(path.replace(/\.duckdb$/, ".versions"))).filter(name => name.startsWith("20"));

/** Opens the published file as an analyst's program would, by one of the two ways it can. */
async function reader(path: string, way: "own" | "cached" = "own"): Promise<DuckDBConnection> {
  const options = { access_mode: "READ_ONLY" };
  const instance = await (way === "own"
    ? DuckDBInstance.create(path, options)
    : DuckDBInstance.fromCache(path, options));
  const connection = await instance.connect();
  onTestFinished(() => {
    connection.closeSync();
    instance.closeSync();
  });
  return connection;
}

async function seenBy(connection: DuckDBConnection): Promise<unknown> {
  return (await (await connection.run("select fact from procurement.facts")).getRows())[0]?.[0];
}

describe("the published file", () => {
  it("gives each reader one version: the old ones theirs, new ones the newest, in this process and in others", async () => {
    const path = await warehouse();
    const destination = await opened(settingsFor(path));
    await fill(destination, 1);
    expect(await destination.releaseToReaders()).toEqual({ path, note: undefined });
    const other = helper("reader.helper.ts", path);
    expect(await other.ask("open")).toBe("1");
    const held = [await reader(path), await reader(path, "cached")];
    for (const fact of [2, 3, 4]) {
      await setFact(destination, fact);
      const openedWhilePublishing = (async () => {
        const seen: unknown[] = [];
        for (let i = 0; i < 10; i++) seen.push(await seenBy(await reader(path)));
        return seen;
      })();
      await destination.releaseToReaders();
      for (const seen of await openedWhilePublishing) expect([fact - 1, fact]).toContain(seen);
      expect(await seenBy(await reader(path))).toBe(fact);
      expect(await seenBy(await reader(path, "cached"))).toBe(fact);
      expect(await other.ask("open")).toBe(String(fact));
    }
    for (const connection of held) expect(await seenBy(connection)).toBe(1);
    expect(await other.ask("ask 0")).toBe("1");
  });

  it("is there whole before the link leads to it", async () => {
    const path = await warehouse();
    const found: unknown[] = [];
    const makeLink = async (target: string, link: string) => {
      const version = join(dirname(path), target);
      found.push((await stat(version)).mode & 0o777, await seenBy(await reader(version)));
      await symlink(target, link);
    };
    const destination = await opened(settingsFor(path, { makeLink }));
    await fill(destination, 7);
    await destination.releaseToReaders();
    expect(found).toEqual([0o444, 7]);
  });

  it("is a relative link to a file nobody may write, and keeps the last versions", async () => {
    const path = await warehouse();
    const destination = await opened(settingsFor(path, { keepVersions: 3 }));
    await fill(destination, 1);
    for (let i = 0; i < 5; i++) await destination.releaseToReaders();
    const names = await versions(path);
    expect(names).toHaveLength(3);
    expect(await readlink(path)).toBe(join("w.versions", names.sort().at(-1)!, "w.duckdb"));
    expect((await stat(path)).mode & 0o777).toBe(0o444);
    expect((await stat(join(path, "..", "w.versions", "stage"))).mode & 0o777).toBe(0o700);
  });

  it("shares its versions with no other path: with and without its extension they would be the same", async () => {
    const path = await warehouse();
    const destination = await opened(settingsFor(path, { keepVersions: 1 }));
    await fill(destination, 1);
    await destination.releaseToReaders();
    await destination.close();
    const bare = path.replace(/\.duckdb$/, "");
    const refused = { name: "DestinationError", exitCode: 6, code: "duckdb.second_path", fields: { other_path: path } };
    await expect(opened(settingsFor(bare))).rejects.toMatchObject(refused);
    expect(await seenBy(await reader(path))).toBe(1);
    await rm(path);
    const renamed = await opened(settingsFor(bare));
    await setFact(renamed, 2);
    await renamed.releaseToReaders();
    expect(await seenBy(await reader(bare))).toBe(2);
  });

  it("keeps at least the version just published, and orders versions when the clock is set back", async () => {
    const path = await warehouse();
    let now = Date.parse("2026-05-05T05:05:05Z");
    const clock = { now: () => now, sleep: async () => {} };
    const destination = await opened(settingsFor(path, { keepVersions: 0, clock }));
    await fill(destination, 1);
    await destination.releaseToReaders();
    now -= 3_600_000;
    await setFact(destination, 2);
    await destination.releaseToReaders();
    expect(await versions(path)).toEqual(["2026-05-05T05-05-05.001Z"]);
    expect(await seenBy(await reader(path))).toBe(2);
  });

  it("is not touched by one who opened it for writing and left a log", async () => {
    const path = await warehouse();
    const destination = await opened(settingsFor(path));
    await fill(destination, 1);
    await destination.releaseToReaders();
    const spoiler = helper("reader.helper.ts", path);
    await makeWritable(path);
    expect(await spoiler.ask("spoil")).toBe("spoilt");
    await setFact(destination, 2);
    await destination.releaseToReaders();
    await spoiler.kill();
    const reading = helper("reader.helper.ts", path);
    expect(await reading.ask("open")).toBe("2");
    await reading.kill();
    await destination.close();
    const again = helper("reader.helper.ts", path);
    await makeWritable(path);
    expect(await again.ask("spoil")).toBe("spoilt");
    await again.kill();
    const next = await opened(settingsFor(path));
    expect(await seenBy(await reader(path))).toBe(2);
    expect(await factOf(next)).toBe(2);
    const tables = await (await reader(path)).run("select count(*) from duckdb_tables() where table_name = 'evil'");
    expect(await tables.getRows()).toEqual([[0n]]);
  });

  it("stays when a publish fails, which leaves nothing behind and can be done again", async () => {
    const path = await warehouse();
    const home = path.replace(/\.duckdb$/, ".versions");
    const now = Date.parse("2026-05-05T05:05:05Z");
    const clock = { now: () => now, sleep: async () => {} };
    const destination = await opened(settingsFor(path, { clock }));
    await fill(destination, 1);
    await destination.releaseToReaders();
    await setFact(destination, 2);
    const before = await readdir(home);
    const { dev, ino } = await stat(path);
    const obstacle = join(home, "link.new");
    await destination.close();
    const failing = await opened(
      settingsFor(path, {
        clock,
        makeLink: async () =>
          Promise.reject(Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" })),
      }),
    );
    await expect(failing.releaseToReaders()).rejects.toMatchObject({
      ...{ name: "DestinationError", exitCode: 6, code: "duckdb.disk_full" },
      fields: { doing: `publish ${path}`, reason: "ENOSPC: no space left on device" },
    });
    expect((await readdir(home)).filter(ownName)).toEqual(before.filter(ownName));
    expect(await seenBy(await reader(path))).toBe(1);
    expect((await stat(path)).ino).toBe(ino);
    expect((await stat(path)).dev).toBe(dev);
    expect((await failing.releaseState()).isPending).toBe(true);
    await failing.close();
    const destination2 = await opened(settingsFor(path, { clock }));
    await mkdir(obstacle);
    await destination2.releaseToReaders();
    expect(await seenBy(await reader(path))).toBe(2);
  });

  it("fails with advice when its folder vanishes", async () => {
    const path = await warehouse();
    const destination = await opened(settingsFor(path));
    await fill(destination, 1);
    await rm(path.replace(/\.duckdb$/, ".versions"), { recursive: true });
    const vanished = { name: "DestinationError", exitCode: 6, code: "duckdb.out_of_place", fields: { removed: true } };
    await expect(destination.releaseToReaders()).rejects.toMatchObject(vanished);
  });

  it("is replaced in place where there are no links, without the log of another", async () => {
    const path = await warehouse();
    const makeLink = () =>
      Promise.reject(Object.assign(new Error("EPERM: operation not permitted"), { code: "EPERM" }));
    const destination = await opened(settingsFor(path, { makeLink }));
    await fill(destination, 1);
    const shown = await destination.releaseToReaders();
    expect(shown.note).toMatchObject({ code: "duckdb.no_links", fields: { path } });
    const spoiler = helper("reader.helper.ts", path);
    await makeWritable(path);
    expect(await spoiler.ask("spoil")).toBe("spoilt");
    await spoiler.kill();
    await setFact(destination, 2);
    expect((await destination.releaseState()).isPending).toBe(true);
    await destination.releaseToReaders();
    expect(await helper("reader.helper.ts", path).ask("open")).toBe("2");
    expect((await destination.releaseState()).isPending).toBe(false);
    await destination.close();
    const next = await opened(settingsFor(path, { makeLink }));
    expect(await factOf(next)).toBe(2);
    expect((await readdir(join(path, ".."))).sort()).toEqual(["w.duckdb", "w.versions"]);
  });

  it("says that a release is pending when a run was killed before it", async () => {
    const path = await warehouse();
    const first = await opened(settingsFor(path));
    await fill(first, 1);
    expect(await first.releaseState()).toEqual({ isPending: true, releasedAt: undefined });
    await first.releaseToReaders();
    expect(await first.releaseState()).toMatchObject({ isPending: false, releasedAt: expect.any(Date) });
    await first.db.insertInto("warehouse").values({ key: "version", value: "1" }).execute();
    await setFact(first, 1).then(() => first.releaseToReaders());
    await first.db
      .transaction()
      .execute(trx => trx.updateTable("warehouse").set({ value: "2" }).where("key", "=", "version").execute());
    expect((await first.releaseState()).isPending).toBe(false);
    await first.close();
    const other = helper("writer.helper.ts", path);
    await other.heard();
    await other.ask("fact 5");
    await other.kill();
    const next = await opened(settingsFor(path));
    expect((await next.releaseState()).isPending).toBe(true);
    await next.releaseToReaders();
    expect((await next.releaseState()).isPending).toBe(false);
    expect(await seenBy(await reader(path))).toBe(5);
  });

  it("knows what is pending by the number beside a version; one without a number is published again", async () => {
    const path = await warehouse();
    const destination = await opened(settingsFor(path));
    await fill(destination, 1);
    await destination.releaseToReaders();
    const home = path.replace(/\.duckdb$/, ".versions");
    const note = join(home, basename(dirname(await readlink(path))), "publish_number");
    await rm(note);
    expect((await destination.releaseState()).isPending).toBe(true);
    await destination.releaseToReaders();
    const renewed = join(home, basename(dirname(await readlink(path))), "publish_number");
    // A power cut may leave it empty: then the version is made once more.
    await writeFile(renewed, "");
    expect((await destination.releaseState()).isPending).toBe(true);
    await destination.releaseToReaders();
    expect((await destination.releaseState()).isPending).toBe(false);
    await rm(join(home, basename(dirname(await readlink(path))), "w.duckdb"), { force: true });
    expect((await destination.releaseState()).isPending).toBe(true);
  });

  it("is whole whenever the publishing process is killed, and its leftovers go", async () => {
    const path = await warehouse();
    const first = await opened(settingsFor(path));
    await fill(first, 0);
    await first.releaseToReaders();
    await first.close();
    for (let kill = 1; kill <= 3; kill++) {
      const other = helper("writer.helper.ts", path);
      await other.heard();
      await other.ask(`fact ${kill}`);
      const publishing = other.ask("show").catch(() => "killed");
      await new Promise(resolve => setTimeout(resolve, kill * 24));
      await other.kill();
      await publishing;
      expect([kill - 1, kill]).toContain(await seenBy(await reader(path)));
      const next = await opened(settingsFor(path));
      expect(await factOf(next)).toBe(kill);
      await next.releaseToReaders();
      expect(await seenBy(await reader(path))).toBe(kill);
      await next.close();
    }
    const home = path.replace(/\.duckdb$/, ".versions");
    await mkdir(join(home, "2026-01-01T00-00-00.000Z.tmp"));
    await writeFile(join(home, "2026-01-01T00-00-00.000Z.tmp", "w.duckdb"), "half");
    await writeFile(join(home, "link.new"), "");
    await writeFile(join(home, "claim-1-1"), "");
    const last = await opened(settingsFor(path));
    await last.close();
    expect((await readdir(home)).filter(name => !name.startsWith("20"))).toEqual(["stage", "work.duckdb"]);
    expect(await versions(path)).toHaveLength(2);
  });
});

/** Without what comes and goes with a session. */
const ownName = (name: string) => !/^(claim|spill)/.test(name) && !name.endsWith(".wal");

/** An ordinary user's opening for writing fails at the file's mode; whoever owns the file can change that. */
async function makeWritable(path: string): Promise<void> {
  await chmod(path, 0o644);
}
