import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { expect, inject, onTestFinished } from "vitest";
import type { Dialect } from "../../src/warehouse/dialect.ts";
import { type Reading as OpenedFile, openDuckdbForReading } from "../../src/warehouse/duckdb/reading.ts";
import { openDucklakeForReading } from "../../src/warehouse/ducklake/reading.ts";
import { valueTypes } from "../../src/warehouse/postgres/connect.ts";
import { createDatabase } from "./database.ts";

type Row = Record<string, unknown>;

/** A warehouse of the test's own, and a reader's view of it between two runs. */
export interface Warehouse {
  readonly name: Dialect["name"];
  /** `destination` of the configuration. */
  readonly destination: Readonly<Record<string, unknown>>;
  /** Counts as number, moments as Date, JSON parsed. */
  query<T = Row>(text: string): Promise<T[]>;
  /** The same for many queries: no run may begin before it resolves. */
  look<T>(looking: (view: View) => Promise<T>): Promise<T>;
  drop(): Promise<void>;
}

/** A warehouse between two runs. */
export type View = Pick<Warehouse, "name" | "query">;

/** A DuckDB file; `snapshot` reads what analysts would, `direct` what the last run left. */
export async function duckdbWarehouse(readers: "snapshot" | "direct" = "direct"): Promise<Warehouse> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-sync-"));
  const path = join(folder, "warehouse.duckdb");
  return {
    destination: { type: "duckdb", path, readers },
    drop: () => rm(folder, { recursive: true, force: true }),
    ...looked("duckdb", () => openDuckdbForReading({ path, readers, stateSchema: "_tributary" })),
  };
}

function looked(name: Warehouse["name"], open: () => Promise<Reading>): Pick<Warehouse, "name" | "query" | "look"> {
  const borrow = lingering(open);
  const look = <T>(looking: (view: View) => Promise<T>) =>
    borrow(async ({ db }) => {
      const query = async <R>(text: string) => (await sql<R>`${sql.raw(text)}`.execute(db)).rows;
      return looking({ name, query });
    });
  return { name, query: <T>(text: string) => look(view => view.query<T>(text)), look };
}

type Reading = Pick<OpenedFile, "db" | "close">;

/**
 * Opening the file takes 50 ms, a question 2. So it stays open for questions that follow at once, and is closed before
 * anything can happen that waits for a file or a socket, as every run does before it opens the warehouse.
 */
function lingering(open: () => Promise<Reading>): <T>(using: (reading: Reading) => Promise<T>) => Promise<T> {
  let held: Promise<Reading> | undefined;
  let users = 0;
  let parting: NodeJS.Immediate | undefined;
  let parted: Promise<unknown> = Promise.resolve();
  const part = () => {
    const last = held;
    held = undefined;
    // One that did not open has told whoever asked.
    parted = Promise.resolve(last?.then(reading => reading.close())).catch(() => undefined);
  };
  return async using => {
    clearImmediate(parting);
    users++;
    try {
      held ??= parted.then(open);
      return await using(await held);
    } finally {
      users--;
      if (users === 0) parting = setImmediate(part);
    }
  };
}

/** A database on the server at `serverUrl`. */
export async function postgresWarehouse(serverUrl: string): Promise<Warehouse> {
  const database = await createDatabase(serverUrl);
  const client = new pg.Client({ connectionString: database.url, types: valueTypes });
  await client.connect();
  const query = async <T>(text: string) => (await client.query(text)).rows as T[];
  return {
    name: "postgres",
    destination: { type: "postgres", url: database.url },
    query,
    look: looking => looking({ name: "postgres", query }),
    async drop() {
      await client.end();
      await database.drop();
    },
  };
}

/** A lake: its catalog in a database on the server at `serverUrl`, its files in a folder. */
export async function ducklakeWarehouse(serverUrl: string, extensions: string): Promise<Warehouse> {
  const database = await createDatabase(serverUrl);
  const dataPath = await mkdtemp(join(tmpdir(), "tributary-lake-"));
  const schemas = { schema: "procurement", stateSchema: "_tributary", catalogSchema: "ducklake" };
  const open = async () => {
    const reading = await openDucklakeForReading({ ...schemas, catalog: database.url, dataPath, extensions });
    if (reading === undefined) throw new Error("there is no lake yet");
    return reading;
  };
  return {
    destination: { type: "ducklake", catalog: database.url, data_path: dataPath, extensions },
    async drop() {
      await database.drop();
      await rm(dataPath, { recursive: true, force: true });
    },
    ...looked("ducklake", open),
  };
}

/** Programs that prove something run without vitest, and make what they want. */
const tested: readonly string[] = process.env["VITEST"] === undefined ? [] : inject("databases");

/** Each kind that the run tests, for `describe.each`; what `make` makes is gone when the test is over. */
export const warehouses: readonly { readonly name: Warehouse["name"]; readonly make: () => Promise<Warehouse> }[] = [
  { name: "duckdb" as const, make: () => passing(duckdbWarehouse()) },
  { name: "postgres" as const, make: () => passing(postgresWarehouse(inject("postgresUrl"))) },
  { name: "ducklake" as const, make: () => passing(ducklakeWarehouse(inject("postgresUrl"), inject("extensions"))) },
].filter(({ name }) => tested.includes(name));

/**
 * For suites about requests and decisions: `npm test` runs each of their tests in one database, chosen by title, and
 * `npm run test:all` runs all of them in both. A run takes half the processor's time in PostgreSQL: three of four are there.
 */
export const eitherWarehouse: readonly { readonly name: string; readonly make: () => Promise<Warehouse> }[] =
  process.env["VITEST"] !== undefined && inject("everywhere")
    ? warehouses
    : [
        {
          name: "in a database",
          make: () => {
            const title = expect.getState().currentTestName ?? "";
            const sum = [...title].reduce((all, letter) => all + letter.charCodeAt(0), 0);
            return warehouses.at(sum % 4 === 0 ? 0 : -1)!.make();
          },
        },
      ];

/** The warehouse, dropped at the end of the test. */
export async function passing<T extends Pick<Warehouse, "drop">>(making: Promise<T>): Promise<T> {
  const warehouse = await making;
  onTestFinished(() => warehouse.drop());
  return warehouse;
}
