import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Destination } from "../../src/warehouse/destination.ts";
import { openDuckdb } from "../../src/warehouse/duckdb/open.ts";
import { openDucklake } from "../../src/warehouse/ducklake/open.ts";
import { openPostgres } from "../../src/warehouse/postgres/open.ts";
import { createDatabase } from "../support/database.ts";

const run = {
  schema: "procurement",
  stateSchema: "_tributary",
  runId: "run-1",
  holder: { pid: process.pid, host: "here", command: "sync", startedAt: "2025-01-01T00:00:00Z" },
  clock: systemClock,
};

const all = [
  {
    name: "postgres",
    async make() {
      const database = await createDatabase(inject("postgresUrl"));
      const destination = await openPostgres({ ...run, url: database.url, grantSelectTo: [] });
      onTestFinished(async () => {
        await destination.close();
        await database.drop();
      });
      return destination;
    },
  },
  {
    name: "duckdb",
    async make() {
      const folder = await mkdtemp(join(tmpdir(), "tributary-tables-"));
      const path = join(folder, "warehouse.duckdb");
      const destination = await openDuckdb({ ...run, path, readers: "snapshot", keepVersions: 2 });
      onTestFinished(async () => {
        await destination.close();
        await rm(folder, { recursive: true, force: true });
      });
      return destination;
    },
  },
  {
    name: "ducklake",
    async make() {
      const database = await createDatabase(inject("postgresUrl"));
      const folder = await mkdtemp(join(tmpdir(), "tributary-lake-"));
      const place = {
        catalog: database.url,
        catalogSchema: "ducklake",
        dataPath: folder,
        extensions: inject("extensions"),
      };
      const destination = await openDucklake({ ...run, ...place });
      onTestFinished(async () => {
        await destination.close();
        await database.drop();
        await rm(folder, { recursive: true, force: true });
      });
      return destination;
    },
  },
] as const;

/** An empty warehouse of each kind that the run tests, gone when the test is over. */
export const warehouses: readonly { readonly name: string; readonly make: () => Promise<Destination> }[] = all.filter(
  ({ name }) => inject("databases").includes(name),
);

/** An empty warehouse in PostgreSQL, whatever the run tests. */
export const inPostgres: () => Promise<Destination> = all[0].make;
export const inDuckdb: () => Promise<Destination> = all[1].make;
