import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/order.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "simulator/test/**/*.test.ts"],
    // Those run in a lake alone, with DuckDB's extensions: vitest.lake.config.ts.
    exclude: ["test/lake/**"],
    globalSetup: ["test/support/postgres.ts"],
    pool: "forks",
    // No module keeps state, so files may share them: loading 200 modules anew for each file took a tenth of the time.
    isolate: false,
    // On two processors: a worker waits for PostgreSQL, for the commands that it starts and for clocks a sixth of its time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Only what hangs: the longest test takes 85 s on a quiet machine, and ten times that on a slow and busy one. No test
    // has a limit of its own, or that would be the first to be met there.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
  },
});
