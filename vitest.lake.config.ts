import { defineConfig } from "vitest/config";
import { shared } from "./vitest.config.ts";

/** `npm run test:lake`: suites that are written for all databases, in a lake, and the lake's own. */
export default defineConfig({
  test: {
    ...shared,
    include: [
      "test/lake/**/*.test.ts",
      "test/operations/move/*.test.ts",
      "test/warehouse/conformance/*.test.ts",
      "test/warehouse/schema/{tables,look,lost_rows,lost_columns,altered_types,extended_tables}.test.ts",
      "test/warehouse/{views/ensure,state/rejects}.test.ts",
    ],
    exclude: [],
    globalSetup: ["test/lake/setup.ts"],
  },
});
