import type { TestProject } from "vitest/node";
import { makeRoom } from "./room.ts";

/** The quick tests start no server: suites that are written for both databases run in DuckDB alone. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeRoom = await makeRoom();
  project.provide("postgresUrl", "");
  project.provide("databases", ["duckdb"]);
  project.provide("everywhere", false);
  return removeRoom;
}
