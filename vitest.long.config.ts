import { defineConfig } from "vitest/config";
import { decisionTests, longTests } from "./test/tiers.ts";
import { shared } from "./vitest.config.ts";

/** What `npm run test:all` adds to `npm test`: the long suites, and the suites about decisions in both databases. */
export default defineConfig({
  test: {
    ...shared,
    // Named alone in some runs: in one without WebAssembly.
    include: [...longTests, ...decisionTests(), "test/sync/{run/truth,extract/*}.test.ts"],
    exclude: [],
    provide: { everywhere: true },
  },
});
