import { defineConfig } from "vitest/config";
import { longTests } from "./test/tiers.ts";
import { shared } from "./vitest.config.ts";

/** `npm run test:quick`: what needs no server and no process of its own, and the conformance suite in DuckDB. */
export default defineConfig({
  test: {
    ...shared,
    include: [
      "test/*.test.ts",
      "test/catalog/columns.test.ts",
      "test/{config,language,rows,schemas,source,mutations}/**/*.test.ts",
      "test/sync/extract/*.test.ts",
      "test/repository/{contributing,generated,hygiene,layers,size,undici}.test.ts",
      "test/warehouse/conformance/*.test.ts",
    ],
    // The first asks PostgreSQL, the others take their time.
    exclude: ["test/schemas/quoting.test.ts", "test/warehouse/conformance/planner.test.ts", ...longTests],
    globalSetup: ["test/support/room.ts"],
    // Without a server, suites that are written for both databases run in DuckDB alone.
    provide: { postgresUrl: "", databases: ["duckdb"], everywhere: false, extensions: "" },
  },
});
