import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { stringify } from "yaml";
import { plainly } from "../lake/plain.ts";
import { connected, createDatabase } from "../support/database.ts";

/** Further keys of the configuration. */
export type More = Readonly<Record<string, unknown>>;

/** A warehouse on disk or on a server, with the configuration that leads to it. */
export interface Warehouse {
  readonly kind: "duckdb" | "postgres" | "ducklake";
  readonly folder: string;
  /** Path of the configuration file. */
  readonly config: string;
  /** What a reader of the tables sees: DuckDB's published file. */
  data(sql: string): Promise<unknown[][]>;
  /** What the last run left: DuckDB's own file. No run may be under way. */
  state(sql: string): Promise<unknown[][]>;
  /** Answers to several questions over one connection; `data` and `state` as above. */
  answers(of: "data" | "state", questions: readonly string[]): Promise<unknown[][][]>;
  /** What should not be there between two runs. */
  litter(): Promise<string[]>;
  /** The same warehouse once more, elsewhere. No run may be under way. */
  copy(): Promise<Warehouse>;
  /** Rewrites the configuration. */
  configure(more: More): Promise<void>;
  remove(): Promise<void>;
}

/** How a warehouse of each kind is made: beside nothing (DuckDB), on a server (PostgreSQL). */
export type MakeWarehouse = (serviceUrl: string, more?: More) => Promise<Warehouse>;

async function writeConfig(folder: string, serviceUrl: string, destination: object, more: More): Promise<void> {
  const { destination: further, ...others } = more;
  const config = {
    company: "acme",
    ...others,
    api: { base_url: serviceUrl, key: `\${CRASH_KEY}`, clock: "ignore", ...(others["api"] as object | undefined) },
    destination: { ...destination, ...(further as object | undefined) },
  };
  await writeFile(join(folder, "config.yaml"), stringify(config));
}

export const makeDuckdb: MakeWarehouse = async (serviceUrl, more = {}) => {
  const folder = await mkdtemp(join(tmpdir(), "tributary-crash-"));
  const warehouse = duckdbAt(folder, serviceUrl);
  await warehouse.configure(more);
  return warehouse;
};

function duckdbAt(folder: string, serviceUrl: string): Warehouse {
  const path = join(folder, "w.duckdb");
  const home = join(folder, "w.versions");
  const work = join(home, "work.duckdb");
  return {
    kind: "duckdb",
    folder,
    config: join(folder, "config.yaml"),
    data: async sql => (await askFile(path, [sql]))[0]!,
    state: async sql => (await askFile(work, [sql]))[0]!,
    answers: (of, questions) => askFile(of === "data" ? path : work, questions),
    async litter() {
      const names = await readdir(home);
      const staged = await readdir(join(home, "stage"), { recursive: true, withFileTypes: true });
      return [
        ...names.filter(name => !/^(20.*Z|work\.duckdb|stage)$/.test(name)),
        ...names.filter(name => name.startsWith("20")).slice(2),
        ...staged.filter(entry => entry.isFile()).map(entry => entry.name),
        ...(await readdir(folder)).filter(name => !["config.yaml", "w.duckdb", "w.versions"].includes(name)),
      ];
    },
    async copy() {
      const other = await mkdtemp(join(tmpdir(), "tributary-crash-"));
      await cp(folder, other, { recursive: true, verbatimSymlinks: true });
      return duckdbAt(other, serviceUrl);
    },
    configure: more => writeConfig(folder, serviceUrl, { type: "duckdb", path: "./w.duckdb" }, more),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Read only, over a connection that is gone when the answers are there. */
async function askFile(path: string, questions: readonly string[]): Promise<unknown[][][]> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    await connection.run(`attach '${path}' as file (read_only)`);
    await connection.run("use file");
    await connection.run("set TimeZone = 'UTC'");
    const answers: unknown[][][] = [];
    for (const question of questions) answers.push(await (await connection.run(question)).getRows());
    return answers;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Warehouses on one server. */
export function makePostgres(serverUrl: string): MakeWarehouse {
  return async (serviceUrl, more = {}) => {
    const database = await createDatabase(serverUrl);
    await database.admin.end();
    const warehouse = await postgresAt(database.url, serverUrl, serviceUrl, more);
    return warehouse;
  };
}

async function postgresAt(url: string, serverUrl: string, serviceUrl: string, more: More): Promise<Warehouse> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-crash-"));
  const name = new URL(url).pathname.slice(1);
  let further = more;
  const ask = async (address: string, sql: string) => (await askServer(address, [sql]))[0]!;
  const warehouse: Warehouse = {
    kind: "postgres",
    folder,
    config: join(folder, "config.yaml"),
    data: sql => ask(url, sql),
    state: sql => ask(url, sql),
    answers: (_of, questions) => askServer(url, questions),
    async litter() {
      const rows = await ask(
        url,
        `select relname from pg_class join pg_namespace n on n.oid = relnamespace where relkind = 'r' and relpersistence <> 'p'
           and relname <> 'stages' and nspname !~ '^pg_toast'
         union all select company || ' ' || stream from _tributary.stages union all select family from _tributary.holders`,
      );
      return rows.map(row => String(row[0]));
    },
    async copy() {
      const other = `t_${randomBytes(6).toString("hex")}`;
      await ask(serverUrl, `create database ${other} template ${name}`);
      const address = new URL(url);
      address.pathname = `/${other}`;
      return postgresAt(address.href, serverUrl, serviceUrl, further);
    },
    async configure(changed) {
      further = changed;
      await writeConfig(folder, serviceUrl, { type: "postgres", url }, further);
    },
    async remove() {
      await ask(serverUrl, `drop database if exists ${name} with (force)`);
      await rm(folder, { recursive: true, force: true });
    },
  };
  await warehouse.configure(more);
  return warehouse;
}

/** A lake, and what its configuration says of it. */
export interface LakeWarehouse extends Warehouse {
  readonly destination: Readonly<Record<string, unknown>>;
}

/** Lakes whose catalogs are on one server. */
export function makeDucklake(
  serverUrl: string,
  extensions: string,
): (serviceUrl: string, more?: More) => Promise<LakeWarehouse> {
  return async (serviceUrl, more = {}) => {
    const database = await createDatabase(serverUrl);
    await database.admin.end();
    const folder = await mkdtemp(join(tmpdir(), "tributary-crash-"));
    return ducklakeAt({ folder, url: database.url, serverUrl, extensions }, serviceUrl, more);
  };
}

/** What should not be in the catalog's PostgreSQL between two runs. */
export const lakeLitter = `select relname from pg_class join pg_namespace n on n.oid = relnamespace
    where relkind = 'r' and nspname = '_tributary' and relname not in ('stages', 'holders')
  union all select company || ' ' || stream from _tributary.stages union all select family from _tributary.holders`;

interface Lake {
  readonly folder: string;
  readonly url: string;
  readonly serverUrl: string;
  readonly extensions: string;
}

async function ducklakeAt(lake: Lake, serviceUrl: string, more: More): Promise<LakeWarehouse> {
  const { folder, url, serverUrl, extensions } = lake;
  const name = new URL(url).pathname.slice(1);
  const data = join(folder, "lake");
  const destination = { type: "ducklake", catalog: url, data_path: data, extensions };
  let further = more;
  const ask = (questions: readonly string[]) =>
    plainly(
      destination,
      async connection => {
        await connection.run("set TimeZone = 'UTC'");
        const answers: unknown[][][] = [];
        for (const question of questions) answers.push(await (await connection.run(question)).getRows());
        return answers;
      },
      "read_only, ",
    );
  const warehouse: LakeWarehouse = {
    kind: "ducklake",
    destination,
    folder,
    config: join(folder, "config.yaml"),
    data: async sql => (await ask([sql]))[0]!,
    state: async sql => (await ask([sql]))[0]!,
    answers: (_of, questions) => ask(questions),
    async litter() {
      const [rows] = await askServer(url, [lakeLitter]);
      return rows!.map(row => String(row[0]));
    },
    async copy() {
      const other = `t_${randomBytes(6).toString("hex")}`;
      await askServer(serverUrl, [`create database ${other} template ${name}`]);
      const address = new URL(url);
      address.pathname = `/${other}`;
      const elsewhere = await mkdtemp(join(tmpdir(), "tributary-crash-"));
      await cp(folder, elsewhere, { recursive: true });
      const path = `${join(elsewhere, "lake")}/`;
      await askServer(address.href, [
        `update ducklake.ducklake_metadata set value = '${path}' where key = 'data_path'`,
      ]);
      return ducklakeAt({ ...lake, folder: elsewhere, url: address.href }, serviceUrl, further);
    },
    async configure(changed) {
      further = changed;
      await writeConfig(folder, serviceUrl, destination, further);
    },
    async remove() {
      await askServer(serverUrl, [`drop database if exists ${name} with (force)`]);
      await rm(folder, { recursive: true, force: true });
    },
  };
  await warehouse.configure(more);
  return warehouse;
}

async function askServer(address: string, questions: readonly string[]): Promise<unknown[][][]> {
  const client = await connected(address);
  try {
    const answers: unknown[][][] = [];
    for (const text of questions) answers.push((await client.query({ text, rowMode: "array" })).rows as unknown[][]);
    return answers;
  } finally {
    await client.end();
  }
}
