import type { TestProject } from "vitest/node";
import type { Dialect } from "../../src/warehouse/dialect.ts";
import { buildProgram } from "./built.ts";
import makeRoom from "./room.ts";
import { startPostgres } from "./server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    postgresUrl: string;
    /** Those that suites written for both run in. */
    databases: readonly Dialect["name"][];
    /** Whether suites that need one database run in each of them. */
    everywhere: boolean;
    /** A folder with DuckDB's extensions, for lakes; empty where the run has none. */
    extensions: string;
  }
}

/**
 * One real PostgreSQL for the whole test run, in which suites make a database or a schema of their own, and one build of the
 * command. The server is never cut off from its power, so it need not wait for the disk: a database costs half the time.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeRoom = await makeRoom();
  // A server of an older major that somebody keeps running, by its superuser's address.
  const url = process.env["TRIBUTARY_TEST_POSTGRES"];
  const given = url === undefined ? undefined : { url, close: () => Promise.resolve() };
  const [server, removeProgram] = await Promise.all([
    given ?? startPostgres(["fsync=off", "max_wal_size=256MB"]),
    buildProgram(),
  ]);
  project.provide("postgresUrl", server.url);
  project.provide("databases", ["postgres", "duckdb"]);
  project.provide("extensions", "");
  return async () => {
    await server.close();
    await removeProgram();
    await removeRoom();
  };
}
