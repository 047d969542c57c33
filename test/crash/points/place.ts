import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { DuckDBInstance } from "@duckdb/node-api";
import { stringify } from "yaml";
import type { Simulator } from "../../../simulator/simulator.ts";
import type { Readers } from "../../../src/warehouse/duckdb/session/file_layout.ts";
import { streams } from "../../../streams/index.ts";
import { tear } from "../../support/tear.ts";
import { compareWithTruth } from "../../support/truth.ts";

/** What happens at a call that changes something in the warehouse's folder: see strike.c. */
export type How = "kill" | "torn" | "once" | "full";

export interface Strike {
  /** strike.c as a library. */
  readonly library: string;
  /** From 1; 0 strikes nothing. */
  readonly at: number;
  readonly how: How;
}

/** A run as a process. `code` is null when it was killed. */
export interface Ended {
  readonly code: number | null;
  readonly said: string;
  /** What it changed in the warehouse's folder, e.g. "rename w.duckdb"; only of a run that was given a strike. */
  readonly calls: readonly string[];
}

/** What one run is told beside its place. */
export interface Order {
  readonly readers: Readers;
  /** Further keys of the configuration. */
  readonly more: Readonly<Record<string, unknown>>;
}

const program = join(import.meta.dirname, "../../../dist/tributary.js");
const selection = { include: [], exclude: ["invoice*", "findings*", "ingested"] };
const chosen = streams.filter(({ name }) => ["items", "purchase_orders", "purchase_order_details"].includes(name));

/** A DuckDB warehouse in a folder of its own. */
export class Place {
  readonly #room: string;
  readonly #simulator: Simulator;
  readonly folder: string;
  readonly path: string;
  readonly home: string;

  private constructor(room: string, simulator: Simulator) {
    this.#room = room;
    this.#simulator = simulator;
    this.folder = join(room, "warehouse");
    this.path = join(this.folder, "w.duckdb");
    this.home = join(this.folder, "w.versions");
  }

  static async make(yard: string, simulator: Simulator): Promise<Place> {
    const place = new Place(await mkdtemp(join(yard, "place-")), simulator);
    await mkdir(place.folder);
    return place;
  }

  async copy(yard: string): Promise<Place> {
    const place = await Place.make(yard, this.#simulator);
    await cp(this.folder, place.folder, { recursive: true, verbatimSymlinks: true });
    return place;
  }

  /** Tears the work file. */
  tear(): Promise<void> {
    return tear(join(this.home, "work.duckdb"));
  }

  /** `tributary sync` in a process of its own. */
  async run({ readers, more }: Order, strike?: Strike): Promise<Ended> {
    const file = (name: string) => join(this.#room, name);
    const { url, key } = this.#simulator;
    const destination = { type: "duckdb", path: this.path, readers };
    const config = { api: { base_url: url, key, clock: "ignore" }, company: "acme", destination, streams: selection };
    await writeFile(file("config.yaml"), stringify({ ...config, ...more }));
    await writeFile(file("state"), Buffer.alloc(64));
    await rm(file("log"), { force: true });
    const struck = strike && {
      LD_PRELOAD: strike.library,
      STRIKE_UNDER: `${this.folder}/`,
      STRIKE_STATE: file("state"),
      STRIKE_LOG: file("log"),
      STRIKE_AT: String(strike.at),
      STRIKE_HOW: strike.how,
    };
    const compiled = { NODE_COMPILE_CACHE: join(tmpdir(), "tributary-compiled") };
    const child = spawn(process.execPath, [program, "sync", "--config", file("config.yaml")], {
      env: { PATH: process.env["PATH"], ...compiled, ...struck },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [[code], out, err] = await Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]);
    const logged = await readFile(file("log"), "utf8").catch(() => "");
    const calls = logged.split("\n").slice(0, -1);
    return { code, said: `${out}${err}`, calls: calls.map(line => line.slice(line.indexOf(" ") + 1)) };
  }

  /** How many live rows each table has in what readers open; undefined while they can open nothing. */
  async counts(): Promise<ReadonlyMap<string, number> | undefined> {
    return this.#look(this.path, async ask => {
      const names = await ask<{ t: string }>(
        "select table_name as t from duckdb_tables() where database_name = current_database() and schema_name = 'procurement' order by 1",
      );
      const counts = new Map<string, number>();
      for (const { t } of names) {
        const [row] = await ask<{ n: bigint }>(
          `select count(*) as n from procurement."${t}" where _deleted_at is null`,
        );
        counts.set(t, Number(row!.n));
      }
      return counts;
    });
  }

  /** Where what readers open differs from what the service has. */
  async wrong(): Promise<readonly string[]> {
    const found = await this.#look(this.path, async ask => {
      const view = { name: "duckdb" as const, query: ask };
      const warehouse = {
        ...view,
        destination: {},
        look: <T>(looking: (at: typeof view) => Promise<T>) => looking(view),
        drop: async () => undefined,
      };
      const day = new Date().toISOString().slice(0, 10);
      return (await compareWithTruth(this.#simulator, warehouse, chosen, day)).differences;
    });
    return found ?? ["readers find no file"];
  }

  /** Files of the warehouse in which a column of items still says something. */
  async saying(column: string): Promise<readonly string[]> {
    const names = await readdir(this.folder, { recursive: true });
    const saying: string[] = [];
    for (const name of names.filter(each => each.endsWith(".duckdb"))) {
      const count = await this.#look(join(this.folder, name), async ask => {
        const [row] = await ask<{ n: bigint }>(`select count(${column}) as n from procurement.items`);
        return Number(row!.n);
      }).catch(error => {
        if (/Binder Error/.test(String(error))) return 0;
        throw error;
      });
      if (count !== undefined && count > 0) saying.push(name);
    }
    return saying;
  }

  /** What a finished run should not have left. */
  async litter({ readers }: Order): Promise<readonly string[]> {
    const here = await readdir(this.folder);
    const home = readers === "direct" ? `${this.path}.stage` : this.home;
    const own = (await readdir(home).catch(() => [])).sort();
    const versions = own.filter(name => /^20.*Z$/.test(name));
    const kept =
      readers === "direct" ? [/^acme-/] : [/^stage$/, /^work\.duckdb$/, /^damaged\.duckdb$/, /^damaged\.duckdb\.wal$/];
    const allowed = ["w.duckdb", readers === "direct" ? "w.duckdb.stage" : "w.versions", "w.duckdb.stage"];
    return [
      ...here.filter(name => !allowed.includes(name)),
      ...own.filter(name => !versions.includes(name) && !kept.some(pattern => pattern.test(name))),
      ...versions.slice(2),
    ];
  }

  remove(): Promise<void> {
    return rm(this.#room, { recursive: true, force: true });
  }

  async #look<T>(file: string, looking: (ask: <R>(sql: string) => Promise<R[]>) => Promise<T>): Promise<T | undefined> {
    const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
    const connection = await instance.connect();
    try {
      await connection.run("set TimeZone = 'UTC'");
      await connection.run(`attach '${file}' as looked (read_only)`);
      await connection.run("use looked");
      return await looking(async sql => (await connection.runAndReadAll(sql)).getRowObjectsJS() as never[]);
    } catch (error) {
      if (/does not exist|No such file/.test(String(error))) return undefined;
      throw error;
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  }
}
