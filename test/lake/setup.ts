import type { TestProject } from "vitest/node";
import setUp from "../support/postgres.ts";
import { lakeExtensions } from "./extensions.ts";

/** What the lake's suites need beside that: DuckDB's extensions. Suites that are written for all databases run in a lake alone. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const extensions = await lakeExtensions();
  const tearDown = await setUp(project);
  project.provide("databases", ["ducklake"]);
  project.provide("extensions", extensions);
  return tearDown;
}
