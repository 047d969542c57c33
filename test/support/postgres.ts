import type { TestProject } from "vitest/node";
import { startPostgres } from "./server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

/** One real PostgreSQL for the whole test run; suites make a database or a schema of their own in it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  project.provide("postgresUrl", server.url);
  return () => server.close();
}
