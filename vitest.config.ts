import { defineConfig, type ViteUserConfig } from "vitest/config";
import { LongestFirst } from "./test/support/order.ts";
import { longTests } from "./test/tiers.ts";

/** Files that open no database, start no process and change no folder. */
const pure = [
  "test/*.test.ts",
  "test/{catalog,config,rows,source,mutations,language}/**/*.test.ts",
  "test/sync/extract/*.test.ts",
  "simulator/test/**/*.test.ts",
];

// In a lake alone, with DuckDB's extensions: vitest.lake.config.ts. The long suites: vitest.long.config.ts.
const elsewhere = ["test/lake/**", ...longTests];

/** What all configurations share. */
export const shared = {
  globalSetup: ["test/support/postgres.ts"],
  provide: { everywhere: false },
  pool: "forks",
  // No module keeps state, so files may share them: loading 200 modules anew for each file took a tenth of the time.
  isolate: false,
  // On two processors: three workers took 1.4 of them, for a worker waits for PostgreSQL, for commands and for clocks.
  maxWorkers: 4,
  sequence: { sequencer: LongestFirst },
  // Only what hangs: the longest test takes 85 s on a quiet machine, and ten times that on a slow and busy one. No test
  // has a limit of its own, or that would be the first to be met there.
  testTimeout: 1_200_000,
  hookTimeout: 1_200_000,
} satisfies ViteUserConfig["test"];

export default defineConfig({
  test: {
    ...shared,
    projects: [
      { test: { name: "pure", pool: "threads", include: pure, exclude: elsewhere } },
      { test: { name: "real", include: ["test/**/*.test.ts"], exclude: [...elsewhere, ...pure] } },
    ],
  },
});
