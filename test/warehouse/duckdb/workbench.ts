import { spawn } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sql } from "kysely";
import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { type DuckdbSettings, openDuckdb } from "../../../src/warehouse/duckdb/open.ts";

/** A folder that goes when the test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-duckdb-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The same on another disk. */
export async function folderElsewhere(): Promise<string> {
  const disks = ["/dev/shm", "/tmp", "/var/tmp"];
  const here = (await stat(tmpdir())).dev;
  const there = await Promise.all(
    disks.map(path =>
      stat(path).then(
        ({ dev }) => dev,
        () => here,
      ),
    ),
  );
  const disk = disks.find((_, i) => there[i] !== here);
  if (disk === undefined) expect.fail(`${tmpdir()} and ${disks} are one disk, so the test would prove nothing`);
  const folder = await mkdtemp(join(disk, "tributary-duckdb-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Settings of a run on `path`; `more` replaces what the test is about. */
export function settingsFor(path: string, more: Partial<DuckdbSettings> = {}): DuckdbSettings {
  return {
    path,
    readers: "snapshot",
    keepVersions: 2,
    schema: "procurement",
    stateSchema: "_tributary",
    runId: "run-1",
    holder: { pid: process.pid, host: hostname(), command: "tributary sync", startedAt: "2026-01-31T02:00:00Z" },
    clock: systemClock,
    ...more,
  };
}

/** Opens a destination that is closed when the test is over. */
export async function opened(settings: DuckdbSettings): Promise<Awaited<ReturnType<typeof openDuckdb>>> {
  const destination = await openDuckdb(settings);
  onTestFinished(() => destination.close());
  return destination;
}

/** Makes the file a warehouse with one table, `procurement.facts`, of one row. */
export async function fill(destination: Destination, fact: number): Promise<void> {
  await sql`create schema if not exists _tributary`.execute(destination.db);
  await sql`create schema if not exists procurement`.execute(destination.db);
  await sql`create table if not exists _tributary.warehouse (key varchar, value json)`.execute(destination.db);
  await sql`create table if not exists procurement.facts (fact integer)`.execute(destination.db);
  await setFact(destination, fact);
}

export async function setFact(destination: Destination, fact: number): Promise<void> {
  await destination.db.transaction().execute(async trx => {
    await sql`delete from procurement.facts`.execute(trx);
    await sql`insert into procurement.facts values (${fact})`.execute(trx);
  });
}

export async function factOf(destination: Destination): Promise<number | undefined> {
  const { rows } = await sql<{ fact: number }>`select fact from procurement.facts`.execute(destination.db);
  return rows[0]?.fact;
}

/** A process of its own, running a script of this folder; it answers each line it is told with one line. */
export interface Helper {
  ask(line: string): Promise<string>;
  /** Next line it says unasked. */
  heard(): Promise<string>;
  kill(): Promise<void>;
  readonly pid: number;
}

export function helper(script: string, ...args: string[]): Helper {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>(resolve => child.once("close", () => resolve()));
  const heard = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`${script} ended before it answered`);
    return value;
  };
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  return {
    heard,
    kill,
    pid: child.pid!,
    ask: async line => {
      child.stdin.write(`${line}\n`);
      return heard();
    },
  };
}
