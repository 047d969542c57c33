import type { TestProject } from "vitest/node";
import setUp from "./postgres.ts";

/** For the long suites: those that need one database run in each. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const tearDown = await setUp(project);
  project.provide("everywhere", true);
  return tearDown;
}
