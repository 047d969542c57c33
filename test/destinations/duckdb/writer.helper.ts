/* A run in a process of its own: opens the warehouse, says `held` or why not, obeys `fact <n>` and `show`, and holds it until killed or told to `close`. */

import { hostname } from "node:os";
import { createInterface } from "node:readline";
import { sql } from "kysely";
import { systemClock } from "../../../src/clock.ts";
import { openDuckdb } from "../../../src/destinations/duckdb/open.ts";

const [path, readers, waitMs] = process.argv.slice(2);
const destination = await openDuckdb({
  path: path!,
  readers: readers === "direct" ? "direct" : "snapshot",
  keepVersions: 2,
  schema: "procurement",
  stateSchema: "_tributary",
  runId: "run-other",
  holder: { pid: process.pid, host: hostname(), command: "tributary sync --full", startedAt: "2026-01-31T03:00:00Z" },
  clock: systemClock,
});
const say = (line: string) => process.stdout.write(`${line}\n`);
await destination.lock("acme", ["facts"], Number(waitMs ?? 0)).then(
  () => say("held"),
  error => say(`${error.name} ${error.exitCode}: ${error.message}`),
);
for await (const line of createInterface({ input: process.stdin })) {
  const [what, value] = line.split(" ");
  if (what === "fact") await sql`update procurement.facts set fact = ${Number(value)}`.execute(destination.db);
  if (what === "show") await destination.show();
  if (what === "close") await destination.close();
  say("done");
}
