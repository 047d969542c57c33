import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
import { openDuckdbForReading } from "../../src/destinations/duckdb/reading.ts";
import { valueTypes } from "../../src/destinations/postgres/values.ts";
import { createDatabase } from "./database.ts";

type Row = Record<string, unknown>;

/** A warehouse of the test's own, and a reader's view of it between two runs. */
export interface Warehouse {
  readonly name: "duckdb" | "postgres";
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
  const look = async <T>(looking: (view: View) => Promise<T>) => {
    const reading = await openDuckdbForReading({ path, readers, stateSchema: "_tributary" });
    const query = async <R>(text: string) => (await sql<R>`${sql.raw(text)}`.execute(reading.db)).rows;
    try {
      return await looking({ name: "duckdb", query });
    } finally {
      await reading.close();
    }
  };
  return {
    name: "duckdb",
    destination: { type: "duckdb", path, readers },
    query: <T>(text: string) => look(view => view.query<T>(text)),
    look,
    drop: () => rm(folder, { recursive: true, force: true }),
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

/** Both kinds, for `describe.each`; what `make` makes is gone when the test is over. */
export const warehouses: readonly { readonly name: string; readonly make: () => Promise<Warehouse> }[] = [
  { name: "duckdb", make: () => passing(duckdbWarehouse()) },
  { name: "postgres", make: () => passing(postgresWarehouse(inject("postgresUrl"))) },
];

/** The warehouse, dropped at the end of the test. */
export async function passing(making: Promise<Warehouse>): Promise<Warehouse> {
  const warehouse = await making;
  onTestFinished(() => warehouse.drop());
  return warehouse;
}
