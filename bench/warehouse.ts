import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { DuckDBInstance } from "@duckdb/node-api";
import { createDatabase } from "../test/support/database.ts";
import type { AnyWarehouse, Load } from "./figure.ts";
import type { Laboratory } from "./laboratory.ts";
import { type Measured, measure } from "./measurement.ts";
import type { Service } from "./service.ts";

/** A stream's line of a run's report. */
export interface StreamLine {
  readonly stream: string;
  readonly status: string;
  readonly requests: number;
  readonly bytes: number;
  readonly rows_read: number;
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly deleted: number;
}

/** A message of a run's log at level debug; `at` is ms since 1970. */
export interface Said {
  readonly at: number;
  readonly message: string;
  readonly stream: string | undefined;
}

/** One command: what its process used, what its report says by stream, what it logged. */
export interface Run {
  readonly load: Load;
  readonly streams: ReadonlyMap<string, StreamLine>;
  readonly said: readonly Said[];
  /** So many were sent to the warehouse. */
  readonly statements: number;
}

/** A new warehouse and the command that fills it. */
export interface BenchWarehouse {
  /** Runs e.g. ["sync", "items"]; `job` names its CPU profile. Throws unless it succeeds. */
  run(job: string, command: readonly string[]): Promise<Run>;
  /** Runs a command that reads the warehouse alone; its name is its first word, and `take` answers what is kept of its output. Throws unless it succeeds. */
  look(job: string, command: readonly string[], take?: (stdout: Readable) => Promise<string>): Promise<Measured>;
  /** A statement of PostgreSQL's superuser, or in DuckDB's file, which has to be one with `readers: direct`. Not for a lake. */
  execute(statement: string): Promise<void>;
  /** Everything of it lies in here. */
  readonly folder: string;
  /** Bytes of the tables and all that is kept about them. DuckDB: the work file and its log; PostgreSQL: the database; a lake: its files and the catalog's database. */
  size(): Promise<number>;
  /** The names of a lake's data files; else none. */
  dataFiles(): Promise<readonly string[]>;
  /** PostgreSQL: bytes of write-ahead log since the server began, whoever wrote it; else 0. */
  logged(): Promise<number>;
  /** DuckDB: bytes of the versions kept for readers; else 0. */
  versions(): Promise<number>;
  /** The numbers in the one row of a query, as readers see the tables. Not for a lake. */
  numbers(query: string): Promise<readonly number[]>;
  remove(): Promise<void>;
}

/** `config` are further keys, e.g. { streams: … }. */
export async function makeWarehouse(
  laboratory: Laboratory,
  warehouse: AnyWarehouse,
  service: Service,
  config: Readonly<Record<string, unknown>> = {},
): Promise<BenchWarehouse> {
  const folder = await mkdtemp(join(laboratory.folder, "warehouse-"));
  const database = warehouse === "duckdb" ? undefined : await createDatabase(laboratory.postgresUrl);
  const isLake = warehouse === "ducklake";
  const files = join(folder, "lake");
  const types = {
    duckdb: { type: "duckdb", path: "./warehouse.duckdb" },
    postgres: { type: "postgres", url: database?.url },
    ducklake: { type: "ducklake", catalog: database?.url, data_path: files, extensions: laboratory.extensions },
  };
  const destination = { ...types[warehouse], ...(config["destination"] as object | undefined) };
  const file = join(folder, "config.yaml");
  // JSON is YAML.
  await writeFile(
    file,
    JSON.stringify({
      company: "acme",
      ...config,
      destination,
      api: { base_url: service.url, key: service.key },
    }),
  );
  const measured: BenchWarehouse["look"] = (job, command, take) => {
    const options = [
      ...["--config", file, "--log-level", "debug"],
      ...(command[0] === "read" ? [] : ["--json"]),
      ...(["status", "report"].includes(command[0]!) ? [] : ["--no-progress"]),
    ];
    return measure(laboratory, job, [laboratory.built.cli, ...command, ...options], take);
  };
  const asked = async (what: string) => {
    const answer = await database?.admin.query(`select (${what})::text as n`);
    return Number(answer?.rows[0].n);
  };
  return {
    folder,
    look: measured,
    async execute(statement) {
      if (database !== undefined) return void (await database.admin.query(statement));
      const instance = await DuckDBInstance.create(join(folder, "warehouse.duckdb"));
      const connection = await instance.connect();
      await connection.run(statement).finally(() => {
        connection.closeSync();
        instance.closeSync();
      });
    },
    async run(job, command) {
      const { stdout, stderr, statements, ...usage } = await measured(job, command);
      const { streams } = JSON.parse(stdout) as { streams: StreamLine[] };
      const failed = streams.find(({ status }) => status !== "succeeded" && status !== "skipped");
      if (failed !== undefined) throw new Error(`${job}: expected every stream to succeed, got ${stdout}\n${stderr}`);
      const sum = (of: "rows_read" | "requests" | "bytes") => streams.reduce((all, line) => all + line[of], 0);
      const load = { rows: sum("rows_read"), requests: sum("requests"), bytes: sum("bytes"), ...usage };
      return { load, streams: new Map(streams.map(line => [line.stream, line])), said: saidIn(stderr), statements };
    },
    async size() {
      if (database !== undefined)
        return (await asked("pg_database_size(current_database())")) + (isLake ? await bytesIn(files, isParquet) : 0);
      return bytesIn(join(folder, "warehouse.versions"), name => name.startsWith("work.duckdb"));
    },
    dataFiles: async () => (isLake ? (await readdir(files, { recursive: true })).filter(isParquet) : []),
    async logged() {
      return database === undefined ? 0 : asked("pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')");
    },
    async versions() {
      if (database !== undefined) return 0;
      return bytesIn(join(folder, "warehouse.versions"), name => name.endsWith("/warehouse.duckdb"));
    },
    async numbers(query) {
      if (database !== undefined) {
        const { rows } = await database.admin.query({ text: query, rowMode: "array" });
        return (rows[0] as unknown[]).map(Number);
      }
      const instance = await DuckDBInstance.create(join(folder, "warehouse.duckdb"), { access_mode: "READ_ONLY" });
      const connection = await instance.connect();
      try {
        return (await (await connection.run(query)).getRows())[0]!.map(Number);
      } finally {
        connection.closeSync();
        instance.closeSync();
      }
    },
    async remove() {
      await database?.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const isParquet = (name: string) => name.endsWith(".parquet");

/** Bytes of the files below a folder whose path in it is wanted. */
export async function bytesIn(home: string, isWanted: (name: string) => boolean): Promise<number> {
  const names = (await readdir(home, { recursive: true })).filter(isWanted);
  const sizes = await Promise.all(names.map(async name => (await stat(join(home, name))).size));
  return sizes.reduce((all, size) => all + size, 0);
}

function saidIn(stderr: string): Said[] {
  return stderr.split("\n").flatMap(line => {
    if (!line.startsWith("{")) return [];
    const { time, msg, stream } = JSON.parse(line) as { time: string | number; msg: string; stream?: string };
    return [{ at: new Date(time).getTime(), message: msg, stream }];
  });
}
