import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { valueTypes } from "../../../src/warehouse/postgres/connect.ts";
import { lakeLitter } from "../../crash/warehouse.ts";
import { plainly } from "../../lake/plain.ts";
import { connected, createDatabase } from "../../support/database.ts";
import type { View } from "../../support/warehouse.ts";
import { loseOfArchive, type MakeStand, type Row, type Stand, writeConfig } from "./stand.ts";

/** What a look is told while a server or a store is away that comes back. */
const passing =
  /terminat|ECONN|Connection|starting up|shutting down|recovery mode|Unable to connect|server closed|no connection to the server|Not a directory/i;
/** How long a lake's files are away. */
const AWAY_MS = 500;

/** Asks again while what is asked is away. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (!passing.test(String(error)) || attempt === 100) throw error;
      await sleep(50);
    }
  }
}

/** Undefined where there are no such tables, or there is no lake. */
const ifThere = (rows: Promise<Row[]>): Promise<Row[] | undefined> =>
  rows.catch(error => {
    if (/does not exist/.test(String(error))) return undefined;
    throw error;
  });

/** Whether the text stands in a row of the tables in these schemas. */
async function holding(ask: (sql: string) => Promise<Row[]>, schemas: string, text: string): Promise<boolean> {
  const tables = await ask(
    `select table_schema as s, table_name as t from information_schema.tables where table_schema in (${schemas}) and table_type = 'BASE TABLE'`,
  );
  for (const { s, t } of tables) {
    const [row] = await ask(`select count(*) as n from "${s}"."${t}" x where strpos(x::text, '${text}') > 0`);
    if (Number(row!["n"]) > 0) return true;
  }
  return false;
}

/** A database on the server, and what stands of each run have in common that work with it. */
async function serve(serverUrl: string) {
  const folder = await mkdtemp(join(tmpdir(), "simulation-"));
  const database = await createDatabase(serverUrl);
  await database.admin.end();
  const name = new URL(database.url).pathname.slice(1);
  let client: pg.Client | undefined;

  /** The connection is made anew after the server was killed. */
  const ask = (text: string): Promise<Row[]> =>
    patiently(async () => {
      try {
        if (client === undefined) {
          client = new pg.Client({ connectionString: database.url, types: valueTypes });
          client.on("error", () => undefined);
          await client.connect();
        }
        return (await client.query(text)).rows as Row[];
      } catch (error) {
        if (passing.test(String(error))) {
          await client?.end().catch(() => undefined);
          client = undefined;
        }
        throw error;
      }
    });
  const others = "datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'";
  return {
    folder,
    url: database.url,
    ask,
    stand: {
      config: join(folder, "config.yaml"),
      async staged(company) {
        const found = await ask(
          "select 1 from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = '_tributary' and relname = 'stages'",
        );
        if (found.length === 0) return new Map();
        const rows = await ask(
          `select stream, record from _tributary.stages where record is not null and company = '${company}'`,
        );
        return new Map(rows.map(row => [String(row["stream"]), Number((row["record"] as Row)["rows"] ?? 0)]));
      },
      lose: async how => how === "archive" && loseOfArchive(folder),
      async strike({ backend }) {
        await ask(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}
          and pid = ${backend ?? "pid"}`);
      },
      async rest() {
        let left: readonly Row[] = [];
        for (let turn = 0; turn < 1_200; turn++) {
          // Of a transaction that the server took with it DuckDB keeps an idle session, as long as its process lives.
          left = await ask(`select application_name, state, query from pg_stat_activity where ${others}
            and not (state = 'idle' and query = 'DISCARD ALL')`);
          if (left.length === 0) return;
          await sleep(50);
        }
        throw new Error(
          `expected the run's sessions to end within 60 s, but they are still there: ${JSON.stringify(left)}`,
        );
      },
      async remove() {
        await client?.end().catch(() => undefined);
        const server = await connected(serverUrl);
        await server.query(`drop database if exists ${name} with (force)`);
        await server.end();
        await rm(folder, { recursive: true, force: true });
      },
    } satisfies Partial<Stand>,
  };
}

/** A database for each warehouse, on one server. */
export function postgresStands(serverUrl: string): MakeStand {
  return async () => {
    const { url, ask, stand } = await serve(serverUrl);
    const query = ask as unknown as View["query"];
    return {
      ...stand,
      database: "postgres",
      configure: more => writeConfig(stand.config, { type: "postgres", url }, more),
      look: (_of, sql) => ifThere(ask(sql)),
      warehouse: {
        name: "postgres",
        destination: {},
        query,
        look: looking => looking({ name: "postgres", query }),
        drop: async () => undefined,
      },
      async litter() {
        const rows = await ask(
          `select relname from pg_class join pg_namespace n on n.oid = relnamespace where relkind = 'r' and relpersistence <> 'p'
             and relname <> 'stages' and nspname !~ '^pg_toast'
           union all select company || ' ' || stream from _tributary.stages union all select family from _tributary.holders`,
        );
        return rows.map(row => String(row["relname"]));
      },
      holds: text => holding(ask, "'procurement', '_tributary'", text),
    };
  };
}

/** A folder for each lake, and a database of its catalog on one server. */
export function lakeStands(serverUrl: string, extensions: string): MakeStand {
  return async () => {
    const { folder, url, ask, stand } = await serve(serverUrl);
    const files = join(folder, "lake");
    const destination = { type: "ducklake", catalog: url, data_path: files, extensions };
    let back: Promise<void> | undefined;

    const look = <T>(looking: (view: View) => Promise<T>): Promise<T> =>
      patiently(() =>
        plainly(
          destination,
          async connection => {
            await connection.run("set TimeZone = 'UTC'");
            const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJS();
            return looking({ name: "ducklake", query: query as unknown as View["query"] });
          },
          "read_only, ",
        ),
      );
    const query = <T>(sql: string) => look(view => view.query<T>(sql));

    /** A file in its place: as long as it is there nothing can be read or made below. */
    async function takeAway(): Promise<void> {
      const away = `${files}.away`;
      if (back !== undefined || !(await moved(files, away))) return;
      await writeFile(files, "");
      back = sleep(AWAY_MS).then(async () => {
        await rm(files);
        await rename(away, files);
        back = undefined;
      });
    }
    return {
      ...stand,
      database: "ducklake",
      configure: more => writeConfig(stand.config, destination, more),
      look: (_of, sql) => ifThere(query<Row>(sql)),
      warehouse: { name: "ducklake", destination, query, look, drop: async () => undefined },
      litter: async () => (await ask(lakeLitter)).map(row => String(row["relname"])),
      holds: async text =>
        (await holding(ask, "'ducklake', '_tributary'", text)) ||
        (await look(view => holding(view.query, "'procurement', '_tributary'", text))),
      strike: strike => (strike.strike === "store" ? takeAway() : stand.strike(strike)),
      async rest() {
        await back;
        await stand.rest();
      },
      async remove() {
        await back;
        await stand.remove();
      },
    };
  };
}

/** False where there is nothing yet. */
const moved = (from: string, to: string): Promise<boolean> =>
  rename(from, to).then(
    () => true,
    () => false,
  );
