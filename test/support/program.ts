import { join } from "node:path";

/** The command that tests start in processes of its own: as vitest's run has built it (`built.ts`), elsewhere the sources. */
export const program = process.env["TRIBUTARY_BUILT"] ?? join(import.meta.dirname, "../../src/cli/main.ts");
