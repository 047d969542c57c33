import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pg from "pg";
import { stringify } from "yaml";
import { systemClock } from "../../src/clock.ts";
import { loadConfig } from "../../src/config/load.ts";
import { runOnWorkers } from "../../src/fleet/following.ts";
import { openFleet } from "../../src/fleet/opening.ts";
import { runDefaults } from "../../src/library/connector.ts";
import type { Log } from "../../src/logging.ts";
import { asDue, type Refresh } from "../../src/sync/context.ts";
import type { RunReport } from "../../src/sync/run/report.ts";
import { valueTypes } from "../../src/warehouse/postgres/connect.ts";
import { createDatabase } from "../support/database.ts";
import { silentLog } from "../support/log.ts";
import type { PostgresServer } from "../support/server.ts";
import type { Warehouse } from "../support/warehouse.ts";

const program = resolve(import.meta.dirname, "../../dist/tributary.js");

/** A configuration in a folder of its own, and the workers that were started with it. */
export class Place {
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #workers = new Set<ChildProcess>();

  private constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#env = env;
  }

  static async make(config: object, env: Readonly<Record<string, string>> = { KEY: "demo-key" }): Promise<Place> {
    const folder = await mkdtemp(join(tmpdir(), "tributary-fleet-"));
    await writeFile(join(folder, "config.yaml"), stringify(config));
    return new Place(folder, env);
  }

  get file(): string {
    return join(this.#folder, "config.yaml");
  }

  async load() {
    return (await loadConfig(this.file, { ...process.env, ...this.#env })).config;
  }

  /** Starts a worker; `file`: another configuration than this place's, `within`: a command that starts it elsewhere. */
  start(file = this.file, within: readonly string[] = []): ChildProcess {
    const command = [
      ...within,
      process.execPath,
      program,
      "work",
      "--no-server",
      "--log-level",
      "warn",
      "--config",
      file,
    ];
    const child = spawn(command[0]!, command.slice(1), {
      env: { ...process.env, ...this.#env },
      stdio: ["ignore", "inherit", "inherit"],
    });
    this.#workers.add(child);
    child.once("exit", () => this.#workers.delete(child));
    return child;
  }

  async workers() {
    await using fleet = await openFleet(await this.load(), { clock: systemClock }, { supervises: false });
    return await fleet.workers();
  }

  async run(names: readonly string[], refresh: Refresh = asDue): Promise<RunReport> {
    const config = await this.load();
    const log: Log = { ...silentLog, warn: ({ message }) => void process.stdout.write(`  ${message}\n`) };
    await using fleet = await openFleet(config, { clock: systemClock }, { supervises: false });
    const order = {
      ...(await runDefaults()),
      ...{ command: "tributary sync", config, selection: { names, company: undefined }, refresh },
      limits: { maxTimeMs: undefined, maxRequests: undefined, waitMs: 0 },
    };
    const signal = new AbortController().signal;
    const tools = { queue: fleet.queue, workers: fleet.workers, clock: systemClock, random: Math.random, log, signal };
    return await runOnWorkers(order, { ...tools, watch: () => undefined });
  }

  async close(): Promise<void> {
    const ended = [...this.#workers].map(child => new Promise(end => child.once("exit", end)));
    for (const child of this.#workers) child.kill("SIGKILL");
    await Promise.all(ended);
    await rm(this.#folder, { recursive: true });
  }
}

/** A database of its own, looked into by a connection for each look: its server is killed. */
export async function freshWarehouse(server: PostgresServer): Promise<Warehouse> {
  const { url, drop } = await createDatabase(server.url);
  const look: Warehouse["look"] = async looking => {
    const client = new pg.Client({ connectionString: url, types: valueTypes });
    await client.connect();
    try {
      return await looking({
        name: "postgres",
        query: async <T>(text: string) => (await client.query(text)).rows as T[],
      });
    } finally {
      await client.end();
    }
  };
  const query = <T>(text: string) => look(view => view.query<T>(text));
  return { name: "postgres", destination: { type: "postgres", url }, query, look, drop };
}
