import { defineConfig } from "vitest/config";
import { shared } from "../../vitest.config.ts";

/** Every suite, also those that `npm test` leaves out: a mutant may need one of them. */
export default defineConfig({ test: { ...shared, include: ["test/**/*.test.ts"] } });
