import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const built = process.env["TRIBUTARY_BUILT"];

/** The command that tests start in processes of its own: as vitest's run has built it (`built.ts`), elsewhere the sources. */
export const program = built ?? join(import.meta.dirname, "../../src/cli/main.ts");

/** The variables it is started with, the test's own never. What one process has compiled the next need not: 0.1 s of CPU. */
export const variables = {
  PATH: process.env["PATH"] ?? "",
  NODE_COMPILE_CACHE: join(built === undefined ? tmpdir() : dirname(built), "tributary-compiled"),
};
