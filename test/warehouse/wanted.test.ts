import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { type Clock, systemClock } from "../../src/clock.ts";
import type { Destination } from "../../src/warehouse/destination.ts";
import { openDuckdb } from "../../src/warehouse/duckdb/open.ts";
import { openPostgres } from "../../src/warehouse/postgres/open.ts";
import { ensureState } from "../../src/warehouse/state/state_ddl.ts";
import { createDatabase } from "../support/database.ts";

interface Opened {
  readonly runId: string;
  readonly makesRoom?: boolean;
  readonly clock?: Clock;
  readonly waiting?: (who: string, ms: number) => void;
}

type Open = (opened: Opened) => Promise<Destination>;

const settings = ({ runId, makesRoom = false, clock = systemClock, waiting }: Opened) => ({
  schema: "procurement",
  stateSchema: "_tributary",
  holder: { pid: process.pid, host: hostname(), command: "sync", startedAt: "2025-01-01T00:00:00Z" },
  runId,
  makesRoom,
  clock,
  ...(waiting === undefined ? {} : { waiting }),
});

const places: readonly { readonly name: string; readonly make: () => Promise<Open> }[] = [
  {
    name: "duckdb",
    async make() {
      const folder = await mkdtemp(join(tmpdir(), "tributary-wanted-"));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const path = join(folder, "w.duckdb");
      return opened => openDuckdb({ ...settings(opened), path, readers: "snapshot", keepVersions: 2 });
    },
  },
  {
    name: "postgres",
    async make() {
      const database = await createDatabase(inject("postgresUrl"));
      onTestFinished(() => database.drop());
      const open: Open = opened => openPostgres({ ...settings(opened), url: database.url, grantSelectTo: [] });
      const first = await open({ runId: "made" });
      await ensureState(first.db, first.dialect, first.stateSchema);
      await first.close();
      return open;
    },
  },
];

/** A clock that tells when somebody has begun to wait by it. */
function watched(): { readonly clock: Clock; readonly waiting: () => Promise<void>; readonly end: AbortController } {
  let begun = Promise.withResolvers<void>();
  const end = new AbortController();
  const sleep: Clock["sleep"] = ms => {
    begun.resolve();
    return systemClock.sleep(Math.min(ms, 50), end.signal);
  };
  const waiting = () => {
    begun = Promise.withResolvers();
    return begun.promise;
  };
  return { clock: { now: systemClock.now, sleep }, waiting, end };
}

describe.each(places)("$name", ({ make }) => {
  async function pair(makesRoom: boolean) {
    const open = await make();
    const { clock, waiting, end } = watched();
    const holder = await open({ runId: "holder" });
    onTestFinished(() => holder.close());
    await holder.lock("acme", ["feed"], 0);
    const other = await open({ runId: "other", makesRoom, clock });
    onTestFinished(() => other.close());
    return { open, holder, other, waiting, end };
  }

  test("is wanted by who waits, until that one gives up", async () => {
    const { holder, other, waiting, end } = await pair(false);
    expect(await holder.isWanted()).toBe(false);
    const locking = other.lock("acme", ["feed"], 600_000);
    await waiting();
    expect(await holder.isWanted()).toBe(true);
    end.abort(new Error("given up"));
    await expect(locking).rejects.toThrow("given up");
    expect(await holder.isWanted()).toBe(false);
  });

  test("is no longer wanted once the other has it", async () => {
    const { holder, other, waiting } = await pair(false);
    const locking = other.lock("acme", ["feed"], 600_000);
    await waiting();
    await holder.close();
    await locking;
    expect(await other.isWanted()).toBe(false);
  });

  test("stays free for who waits, though one that makes room comes first", async () => {
    const { open, holder, other, waiting } = await pair(false);
    const locking = other.lock("acme", ["feed"], 600_000);
    await waiting();
    const polite = await open({ runId: "polite", makesRoom: true });
    onTestFinished(() => polite.close());
    const later = polite.lock("acme", ["feed"], 600_000);
    await holder.close();
    await Promise.race([locking, later.then(() => expect.unreachable())]);
    await locking;
    await other.close();
    await later;
  });

  test("is not wanted by who makes room, nor by who doesn't wait", async () => {
    const { open, holder, other, waiting, end } = await pair(true);
    const locking = other.lock("acme", ["feed"], 600_000);
    await waiting();
    expect(await holder.isWanted()).toBe(false);
    end.abort(new Error("given up"));
    await expect(locking).rejects.toThrow("given up");
    const hasty = await open({ runId: "hasty" });
    onTestFinished(() => hasty.close());
    await expect(hasty.lock("acme", ["feed"], 0)).rejects.toMatchObject({ exitCode: 4 });
    expect(await holder.isWanted()).toBe(false);
  });

  test("who waits for a lock is told once who has it, and not where it does not wait", async () => {
    const open = await make();
    const first = await open({ runId: "first" });
    await first.lock("acme", ["orders"], 0);
    const { clock, waiting, end } = watched();
    const told: [string, number][] = [];
    const second = await open({ runId: "second", clock, waiting: (who, ms) => void told.push([who, ms]) });
    onTestFinished(() => second.close());
    await expect(second.lock("acme", ["orders"], 0)).rejects.toThrow("--wait 30m");
    expect(told).toEqual([]);
    const lock = second.lock("acme", ["orders"], 60_000);
    await waiting();
    await waiting();
    expect(told).toEqual([
      [expect.stringMatching(/^run first \(process \d+ on .*, which has held /), expect.any(Number)],
    ]);
    expect(told[0]![1]).toBeGreaterThan(50_000);
    await first.close();
    await lock;
    end.abort();
  });
});

test("of what a killed run left beside a DuckDB file nothing counts, and nothing stays", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tributary-wanted-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "w.duckdb");
  const holder = await openDuckdb({ ...settings({ runId: "holder" }), path, readers: "snapshot", keepVersions: 2 });
  onTestFinished(() => holder.close());
  const home = join(folder, "w.versions");
  const leave = (name: string, pid: number, host: string, at: number) =>
    writeFile(join(home, `waiting-${name}`), JSON.stringify({ pid, host, at }));
  await leave("dead", 2 ** 22 + 1, hostname(), Date.now());
  await leave("silent", 1, "elsewhere", Date.now() - 120_000);
  await writeFile(join(home, "waiting-torn"), "{");
  expect(await holder.isWanted()).toBe(false);
  expect((await readdir(home)).filter(name => name.startsWith("waiting-"))).toEqual([]);
  await leave("elsewhere", 1, "elsewhere", Date.now());
  expect(await holder.isWanted()).toBe(true);
});
