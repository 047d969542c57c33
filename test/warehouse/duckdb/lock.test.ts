import { rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../../src/clock.ts";
import type { DuckdbConfig } from "../../../src/config/config.ts";
import { checkDestination } from "../../../src/operations/check/destination.ts";
import { liveHolder, writeHolder } from "../../../src/warehouse/duckdb/lock/holder.ts";
import { openDuckdbForReading } from "../../../src/warehouse/duckdb/reading.ts";
import { destinationFailure, lockConflict } from "../../../src/warehouse/duckdb/session/failure.ts";
import { layoutOf } from "../../../src/warehouse/duckdb/session/file_layout.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";
import { factOf, fill, helper, opened, settingsFor, temporaryFolder } from "./workbench.ts";

/** A clock whose time passes only by sleeping. */
function sleepingClock(): Clock & { slept: number } {
  const clock = {
    slept: 0,
    now: () => clock.slept,
    sleep: async (ms: number) => {
      clock.slept += ms;
    },
  };
  return clock;
}

const warehouse = async () => join(await temporaryFolder(), "w.duckdb");

const checked = (path: string, readers: "snapshot" | "direct") =>
  Array.fromAsync(
    checkDestination(
      { ...settingsFor(path, { readers }), type: "duckdb", grantSelectTo: [] } as unknown as DuckdbConfig,
      { version: "1", companies: [], streams: [], versioned: new Set(), views: false, workers: false, catalogue: [] },
      systemClock,
    ),
  );

const holderOf = (path: string) => liveHolder(layoutOf({ path, readers: "snapshot" }));

describe.each(["snapshot", "direct"] as const)("the lock, readers: %s", readers => {
  it("keeps a second process out and names the holder, also after a publish", async () => {
    const path = await warehouse();
    const destination = await opened(settingsFor(path, { readers }));
    await destination.lock("acme", ["facts"], 0);
    await fill(destination, 1);
    for (const publish of [false, true]) {
      if (publish) await destination.releaseToReaders();
      const said = await helper("writer.helper.ts", path, readers).heard();
      expect(said).toContain("LockedError 4: ");
      expect(said).toContain(`run run-1 (process ${process.pid} on `);
      expect(said).toContain("`tributary sync`) has held it since 2026-01-31T02:00:00Z");
    }
    await destination.close();
    expect(await helper("writer.helper.ts", path, readers).heard()).toBe("held");
  });

  it("lets this process know who the other one is, wait for it, and take over when it ends", async () => {
    const path = await warehouse();
    const other = helper("writer.helper.ts", path, readers);
    expect(await other.heard()).toBe("held");
    const clock = sleepingClock();
    const destination = await opened(settingsFor(path, { readers, clock }));
    await expect(destination.lock("acme", ["facts"], 0)).rejects.toMatchObject({ name: "LockedError", exitCode: 4 });
    expect(clock.slept).toBe(0);
    await expect(destination.lock("acme", ["facts"], 2000)).rejects.toThrow(`run run-other (process ${other.pid} on `);
    expect(clock.slept).toBe(2000);
    await expect(sql`select 1`.execute(destination.db)).rejects.toMatchObject({ exitCode: 4 });
    await expect(destination.releaseToReaders()).rejects.toMatchObject({ exitCode: 4 });
    await other.ask("close");
    await destination.lock("acme", ["facts"], 0);
    await fill(destination, 2);
  });

  it("is free at once when its holder was killed, and what was committed is there", async () => {
    const path = await warehouse();
    const first = await opened(settingsFor(path, { readers }));
    await fill(first, 1);
    await first.close();
    const other = helper("writer.helper.ts", path, readers);
    expect(await other.heard()).toBe("held");
    await other.ask("fact 7");
    await other.kill();
    const destination = await opened(settingsFor(path, { readers }));
    await destination.lock("acme", ["facts"], 0);
    expect(await factOf(destination)).toBe(7);
  });

  it("refuses a second opening in the same process, and the refusal costs the first nothing", async () => {
    const path = await warehouse();
    const first = await opened(settingsFor(path, { readers }));
    await fill(first, 1);
    const second = await opened(settingsFor(path, { readers, runId: "run-2" }));
    await expect(second.lock("acme", ["facts"], 0)).rejects.toThrow("run run-1 (process");
    await second.close();
    expect(await helper("writer.helper.ts", path, readers).heard()).toContain("LockedError 4");
    await first.close();
    const third = await opened(settingsFor(path, { readers }));
    await third.lock("acme", ["facts"], 0);
    expect(await factOf(third)).toBe(1);
  });

  it("is another program's without a run to wait for: a failure, which `check` sees too", async () => {
    const path = await warehouse();
    const layout = layoutOf({ path, readers });
    const first = await opened(settingsFor(path, { readers }));
    await first.lock("acme", ["facts"], 0);
    await ensureState(first.db, first.dialect, first.stateSchema);
    await fill(first, 1);
    await first.releaseToReaders();
    await first.close();
    const killed = { runId: "run-0", pid: 1, host: "elsewhere", command: "tributary sync", startedAt: "2026-01-30" };
    await writeHolder(layout, killed);
    const { mtimeMs } = await stat(layout.work);
    expect(await checked(path, readers)).toMatchObject([{ name: "destination", level: "ok" }, { name: "disk" }]);
    expect((await stat(layout.work)).mtimeMs).toBe(mtimeMs);
    const program = helper("reader.helper.ts", layout.work);
    await program.ask("open");
    const destination = await opened(settingsFor(path, { readers }));
    const refusal = { code: "lock.file_open", exitCode: 6, fields: { path: layout.work, pid: program.pid } };
    await expect(destination.lock("acme", ["facts"], 0)).rejects.toMatchObject(refusal);
    expect(await checked(path, readers)).toMatchObject([{ ...refusal, name: "destination", level: "fail" }]);
    await program.kill();
    await destination.lock("acme", ["facts"], 0);
  });

  it.each(["another", "the same"])("names a run of %s host name while it has the file, and no longer", async name => {
    const path = await warehouse();
    const other = helper("writer.helper.ts", path, readers);
    expect(await other.heard()).toBe("held");
    const host = name === "another" ? "elsewhere" : hostname();
    const holder = { runId: "run-2", pid: other.pid, host, command: "tributary sync", startedAt: "" };
    const layout = layoutOf({ path, readers });
    await writeHolder(layout, holder);
    expect(await liveHolder(layout)).toEqual(holder);
    await other.kill();
    expect(await liveHolder(layout)).toBeUndefined();
    // In a container the number may be another process's by now, or this one's.
    for (const pid of [process.pid, process.ppid]) {
      await writeHolder(layout, { ...holder, pid });
      expect(await liveHolder(layout)).toBeUndefined();
    }
  });

  it("lets at most one of several that open at the same time in", async () => {
    const path = await warehouse();
    const all = await Promise.all([1, 2, 3, 4].map(n => opened(settingsFor(path, { readers, runId: `run-${n}` }))));
    const locked = await Promise.allSettled(all.map(destination => destination.lock("acme", ["facts"], 0)));
    expect(locked.filter(result => result.status === "fulfilled")).toHaveLength(1);
  });
});

it.each(["No locks available", "Function not implemented", "Operation not supported", "Input/output error"])(
  "is not another process's where the file system has none to give: %s",
  said => {
    const error = new Error(
      `IO Error: Could not set lock on file "/mnt/w.duckdb": ${said}. See also https://duckdb.org`,
    );
    expect(lockConflict(error)).toBeUndefined();
    expect(destinationFailure("open it", error)).toMatchObject({
      exitCode: 6,
      message: expect.stringContaining("The file system cannot lock files"),
    });
  },
);

it("a commit without room for its temporary file says that the disk is full, not that memory ran out or a bug", () => {
  const said =
    "Failed to commit: failed to offload data block of size 256.0 KiB (83.0 MiB/83.1 MiB used).\nThis limit was set by the 'max_temp_directory_size' setting.";
  const errors = ["TransactionContext Error: ", "Out of Memory Error: "].map(kind => new Error(kind + said));
  for (const error of errors)
    expect(destinationFailure("publish it", error)).toMatchObject({
      exitCode: 6,
      message: expect.stringMatching(/83\.1 MiB used\)\. The disk is full/),
    });
});

describe("reading", () => {
  it("never needs the lock of a published file", async () => {
    const path = await warehouse();
    const writer = await opened(settingsFor(path));
    await fill(writer, 1);
    await writer.releaseToReaders();
    const reading = await openDuckdbForReading({ path, readers: "snapshot", stateSchema: "_tributary" });
    expect(await holderOf(path)).toMatchObject({ runId: "run-1", pid: process.pid });
    expect(await reading.db.selectFrom("warehouse").select("key").execute()).toEqual([{ key: "publish" }]);
    await expect(reading.db.deleteFrom("warehouse").execute()).rejects.toThrow("read-only");
    await reading.close();
    expect(await helper("writer.helper.ts", path).heard()).toContain("LockedError 4");
    await writer.close();
    expect(await holderOf(path)).toBeUndefined();
  });

  it("of the one file is refused while a run writes, in its process too, and does no harm to the run's lock", async () => {
    const path = await warehouse();
    const settings = { path, readers: "direct", stateSchema: "_tributary" } as const;
    const writer = await opened(settingsFor(path, { readers: "direct" }));
    await fill(writer, 1);
    await expect(openDuckdbForReading(settings)).rejects.toMatchObject({ exitCode: 4 });
    const other = helper("writer.helper.ts", path, "direct");
    expect(await other.heard()).toContain("LockedError 4");
    await writer.close();
    const reading = await openDuckdbForReading(settings);
    expect(await reading.db.selectFrom("warehouse").select("key").execute()).toEqual([{ key: "publish" }]);
    const waiting = await opened(settingsFor(path, { readers: "direct" }));
    await expect(waiting.lock("acme", [], 0)).rejects.toMatchObject({ exitCode: 4 });
    await reading.close();
    const holding = helper("writer.helper.ts", path, "direct");
    expect(await holding.heard()).toBe("held");
    await expect(openDuckdbForReading(settings)).rejects.toThrow(`run run-other (process ${holding.pid} on `);
  });

  it("says so when nothing has been published, or the holder was killed", async () => {
    const path = await warehouse();
    const settings = { path, readers: "snapshot", stateSchema: "_tributary" } as const;
    await expect(openDuckdbForReading(settings)).rejects.toThrow("Run `tributary sync` first");
    const writer = await opened(settingsFor(path));
    await fill(writer, 1);
    await writer.releaseToReaders();
    await writer.close();
    const other = helper("writer.helper.ts", path);
    await other.heard();
    expect(await holderOf(path)).toMatchObject({ runId: "run-other", pid: other.pid });
    await other.kill();
    expect(await holderOf(path)).toBeUndefined();
    await rm(path);
  });
});
