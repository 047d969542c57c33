/*
 * A run in a process of its own: opens the warehouse, says `held` or why not, obeys `fact <n>`, `show`, `lose-log <device>`
 * and `lose-file <device>` (what DuckDB writes into its log or its file from then on goes to the device), and holds it until
 * killed or told to `close`.
 */

import { closeSync, openSync, readdirSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { createInterface } from "node:readline";
import { sql } from "kysely";
import { systemClock } from "../../../src/clock.ts";
import { openDuckdb } from "../../../src/warehouse/duckdb/open.ts";

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
const sayWhy = (error: { name: string; exitCode?: number; message: string }) =>
  say(`${error.name} ${error.exitCode}: ${error.message.replaceAll("\n", " ")}`);
await destination.lock("acme", ["facts"], Number(waitMs ?? 0)).then(() => say("held"), sayWhy);

/** Node closes any descriptor by its number, and the next file that is opened gets the lowest one that is free. */
function lose(ending: string, device: string): void {
  const folder = "/proc/self/fd";
  const target = (fd: string) => {
    try {
      return readlinkSync(`${folder}/${fd}`);
    } catch {
      return "";
    }
  };
  const lost = readdirSync(folder).find(fd => target(fd).endsWith(ending));
  if (lost === undefined) throw new Error(`expected DuckDB to have a ${ending} open, found none`);
  closeSync(Number(lost));
  for (let fd = -1; fd !== Number(lost); ) fd = openSync(device, device.startsWith("/dev") ? "w" : "r");
}

/** Every commit from then on ends with a checkpoint, which is when DuckDB writes into its file. */
async function loseFile(device: string): Promise<void> {
  await sql`set wal_autocheckpoint = '1B'`.execute(destination.db);
  lose(".duckdb", device);
}

async function setFact(fact: number): Promise<void> {
  await destination.db.transaction().execute(async trx => {
    await sql`update procurement.facts set fact = ${fact}`.execute(trx);
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const [what, value] = line.split(" ");
  try {
    if (what === "fact") await setFact(Number(value));
    if (what === "lose-log") lose(".wal", value!);
    if (what === "lose-file") await loseFile(value!);
    if (what === "show") await destination.releaseToReaders();
    if (what === "close") await destination.close();
    say("done");
  } catch (error) {
    sayWhy(error as Error);
  }
}
