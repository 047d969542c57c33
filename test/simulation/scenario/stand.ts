import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { stringify } from "yaml";
import { tear } from "../../support/tear.ts";
import type { View, Warehouse } from "../../support/warehouse.ts";
import type { Strike } from "../engine/job.ts";
import type { Database, Loss } from "./story.ts";

export type Row = Record<string, unknown>;

/** A scenario's warehouse, looked at from outside. */
export interface Stand {
  readonly database: Database;
  readonly config: string;
  /** Further keys of the configuration from now on. */
  configure(more: Row): Promise<void>;
  /** What is in the tables: what readers are shown, or what the last run left. `undefined`: nothing can be read yet. */
  look(of: "shown" | "left", sql: string): Promise<Row[] | undefined>;
  /** For comparisons with the service's truth. */
  readonly warehouse: Warehouse;
  /** Rows of a company that are staged, by table. */
  staged(company: string): Promise<ReadonlyMap<string, number>>;
  /** What should not be there between two runs. */
  litter(): Promise<readonly string[]>;
  /**
   * Takes the file that runs write away, writes into it as a kill amid a checkpoint may, or takes a run of a stream out of the
   * archive; false where that took nothing away, or nothing was shown or kept yet.
   */
  lose(how: Loss): Promise<boolean>;
  /** Whether the text stands anywhere in the warehouse's files. */
  holds(text: string): Promise<boolean>;
  /** Ends a backend, or takes a lake's files away for a moment. */
  strike(strike: Strike): Promise<void>;
  /** After a death, or a strike: resolves when nothing of the run is left at work, and all is there that was taken away. */
  rest(): Promise<void>;
  remove(): Promise<void>;
}

/** Makes warehouses of one kind. */
export type MakeStand = (readers: "snapshot" | "direct") => Promise<Stand>;

export async function writeConfig(file: string, destination: Row, more: Row): Promise<void> {
  const { destination: further, ...others } = more;
  await writeFile(file, stringify({ ...others, destination: { ...destination, ...(further as Row) } }));
}

/** Removes what lies in the middle of an archive: the answers that one run got for one stream. */
export async function loseOfArchive(folder: string): Promise<boolean> {
  const archive = join(folder, "archive", "acme");
  const found: string[] = [];
  for (const stream of await readdir(archive).catch(() => []))
    for (const run of await readdir(join(archive, stream))) found.push(join(archive, stream, run));
  const lost = found.sort()[found.length >> 1];
  if (lost === undefined) return false;
  await rm(lost, { recursive: true });
  return true;
}

/** DuckDB files below one folder, looked at over one connection, one look at a time. */
export async function duckdbStands(): Promise<{ make: MakeStand; close(): void }> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  await connection.run("set TimeZone = 'UTC'");
  const looks: Looks = { connection, number: 0, last: Promise.resolve() };
  return {
    make: readers => duckdbStand(looks, readers),
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** Looks over one connection: a reader's in the middle of a run that is killed may still be under way after it. */
interface Looks {
  readonly connection: DuckDBConnection;
  number: number;
  last: Promise<unknown>;
}

const isTorn = (error: unknown): boolean => /Corrupt database/.test(String(error));

async function duckdbStand(looks: Looks, readers: "snapshot" | "direct"): Promise<Stand> {
  const { connection } = looks;
  const folder = await mkdtemp(join(tmpdir(), "simulation-"));
  const path = join(folder, "w.duckdb");
  const home = join(folder, readers === "direct" ? "w.duckdb.stage" : "w.versions");
  const work = readers === "direct" ? path : join(home, "work.duckdb");
  const stage = readers === "direct" ? home : join(home, "stage");
  const config = join(folder, "config.yaml");

  type Looking<T> = (query: (sql: string) => Promise<Row[]>) => Promise<T>;
  function within<T>(file: string, looking: Looking<T>): Promise<T | undefined> {
    const turn = looks.last.then(() => attached(file, looking));
    looks.last = turn.catch(() => undefined);
    return turn;
  }

  async function attached<T>(file: string, looking: Looking<T>): Promise<T | undefined> {
    const name = `f${++looks.number}`;
    try {
      await connection.run(`attach '${file}' as ${name} (read_only)`);
    } catch (error) {
      // Nor what was torn, before a run has replaced it.
      if (/does not exist|No such file/.test(String(error)) || isTorn(error)) return undefined;
      throw error;
    }
    try {
      await connection.run(`use ${name}`);
      return await looking(async sql => (await connection.runAndReadAll(sql)).getRowObjectsJS() as Row[]);
    } finally {
      await connection.run("use memory");
      await connection.run(`detach ${name}`);
    }
  }
  /** As a kill tears the work file: what it is opened with, or what nothing uses yet. Rows that are torn are a disk's fault. */
  async function tearOfKill(): Promise<boolean> {
    const before = await readFile(work);
    await tear(work);
    const isOpened = (await within(work, async () => true)) === true;
    if (isOpened) await writeFile(work, before);
    return !isOpened;
  }
  const look: Warehouse["look"] = async looking => {
    const found = await within(work, query =>
      looking({ name: "duckdb", query: query as unknown as View["query"] }).then(value => ({ value })),
    );
    if (found === undefined) throw new Error("expected a warehouse, found none");
    return found.value;
  };
  return {
    database: "duckdb",
    config,
    configure: more => writeConfig(config, { type: "duckdb", path: "./w.duckdb", readers }, more),
    look: (of, sql) => within(of === "shown" ? path : work, query => query(sql)),
    warehouse: {
      name: "duckdb",
      destination: {},
      query: <T>(text: string) => look(view => view.query<T>(text)),
      look,
      drop: async () => undefined,
    },
    async staged(company) {
      const found = new Map<string, number>();
      const entries = await readdir(stage, { recursive: true, withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        if (entry.name !== "manifest.json") continue;
        const manifest = JSON.parse(await readFile(join(entry.parentPath, entry.name), "utf8"));
        if (manifest.company !== company) continue;
        const table = entry.parentPath
          .split("/")
          .at(-1)!
          .replace(/-[0-9a-f]{10}$/, "");
        found.set(table, (found.get(table) ?? 0) + manifest.record.rows);
      }
      return found;
    },
    async litter() {
      const names = await readdir(home);
      const staged = await readdir(stage, { recursive: true, withFileTypes: true }).catch(() => []);
      return [
        ...names.filter(
          name => readers === "snapshot" && !/^(20.*Z|work\.duckdb|damaged\.duckdb(\.wal)?|stage)$/.test(name),
        ),
        ...names.filter(name => readers === "direct" && /^(holder|claim|waiting)/.test(name)),
        ...staged.filter(entry => entry.isFile()).map(entry => entry.name),
        ...(await readdir(folder)).filter(
          name => !/^(archive|config\.yaml|w\.duckdb|w\.versions|w\.duckdb\.stage)$/.test(name),
        ),
      ];
    },
    async lose(how) {
      if (how === "archive") return loseOfArchive(folder);
      if (!existsSync(path) || !existsSync(work)) return false;
      if (how === "removed") await rm(work);
      else return tearOfKill();
      return true;
    },
    async holds(text) {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      for (const entry of entries)
        if (entry.isFile() && (await readFile(join(entry.parentPath, entry.name))).includes(text)) return true;
      return false;
    },
    strike: async () => undefined,
    rest: async () => undefined,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
