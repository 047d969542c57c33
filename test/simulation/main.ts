import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildRunner } from "./engine/engine_process.ts";
import type { ScenarioResult } from "./engine/workspace.ts";
import { storyOf } from "./scenario/drawn.ts";
import type { Database } from "./scenario/story.ts";
import { addTotals, noTotals, type Totals } from "./totals.ts";

/*
 * npm run simulation -- [--database duckdb|postgres|ducklake] [--scenarios N] [--seed N] [--hours H] [--workers 2]
 * --seed alone runs that one scenario again; --hours goes on after the last seed that was run before.
 */

const { values } = parseArgs({
  options: {
    database: { type: "string", default: "duckdb" },
    scenarios: { type: "string" },
    seed: { type: "string" },
    hours: { type: "string" },
    workers: { type: "string", default: "2" },
    shrink: { type: "string", default: "60" },
    "keep-going": { type: "boolean", default: false },
  },
});
const database = values.database as Database;
if (database !== "duckdb" && database !== "postgres" && database !== "ducklake")
  throw new TypeError(`--database: expected duckdb, postgres or ducklake, got ${values.database}`);
for (const name of ["scenarios", "seed", "hours", "workers", "shrink"] as const)
  if (values[name] !== undefined && !(Number(values[name]) >= 0))
    throw new TypeError(`--${name}: expected a number, got ${values[name]}`);

const folder = join(import.meta.dirname, "../../node_modules/.cache");
const lastSeeds = join(folder, `simulation-${database}.json`);
const begun = performance.now();
const until = values.hours === undefined ? Number.POSITIVE_INFINITY : begun + Number(values.hours) * 3_600_000;
const first = values.seed === undefined ? (values.hours === undefined ? 1 : await nextSeed()) : Number(values.seed);
const scenarios = Number(
  values.scenarios ?? (values.hours !== undefined ? Number.MAX_SAFE_INTEGER : values.seed === undefined ? 100 : 1),
);
const workers = Math.max(1, Math.min(Number(values.workers), scenarios));

// Nothing in here has to outlive the machine: memory is faster, and a kill of a process loses none of it.
const room = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "simulation-"));
// PostgreSQL runs as a user of its own, who has to get in.
await chmod(room, 0o755);
const runner = await buildRunner();
const totals = noTotals();
const reports: string[] = [];
let seed = first;
let begunScenarios = 0;
let told = begun;

const status = () => {
  const seconds = (performance.now() - begun) / 1000;
  console.error(
    `${Math.round(seconds)} s: ${totals.scenarios} scenarios in ${database}, ${(totals.scenarios / seconds).toFixed(2)} a second, ${reports.length} divergences`,
  );
};
let stopped = false;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    stopped = true;
  });
const ended = () =>
  stopped || begunScenarios >= scenarios || performance.now() > until || (reports.length > 0 && !values["keep-going"]);

async function work(): Promise<void> {
  const child = fork(join(import.meta.dirname, "worker.ts"), [database, runner.file, values.shrink], {
    env: { ...process.env, TMPDIR: room },
  });
  const left = once(child, "exit");
  const answer = () => Promise.race([once(child, "message").then(([message]) => message), left.then(() => undefined)]);
  await answer();
  while (!ended()) {
    const story = storyOf(seed++, database);
    begunScenarios++;
    child.send(story);
    const result = (await answer()) as ScenarioResult | undefined;
    if (result === undefined) {
      const report = `Seed ${story.seed}: the process that ran it ended`;
      reports.push(report);
      console.error(`\n${report}\n`);
      return;
    }
    addTotals(totals, result.totals);
    if (result.report !== undefined) {
      reports.push(result.report);
      console.error(`\n${result.report}\n`);
    }
    if (performance.now() - told > 30_000) {
      told = performance.now();
      status();
    }
  }
  child.disconnect();
  await left;
}

async function nextSeed(): Promise<number> {
  const text = await readFile(lastSeeds, "utf8").catch(() => `{"next":1}`);
  return (JSON.parse(text) as { next: number }).next;
}

try {
  await Promise.all(Array.from({ length: workers }, work));
} finally {
  await runner.remove();
  await rm(room, { recursive: true, force: true });
}
if (values.hours !== undefined) {
  await mkdir(folder, { recursive: true });
  await writeFile(lastSeeds, JSON.stringify({ next: seed }));
}
print(totals);
status();
process.exitCode = reports.length === 0 ? 0 : 1;

function print({ runs, faults, deaths, counts }: Totals): void {
  const kinds: Record<string, number> = {};
  for (const [place, count] of Object.entries(deaths)) kinds[place] = count;
  for (const [title, part] of Object.entries({ runs, faults, deaths: kinds, counts })) {
    const rows = Object.entries(part).sort((a, b) => b[1] - a[1]);
    const sum = rows.reduce((all, [, count]) => all + count, 0);
    console.log(`\n${title}: ${sum}`);
    for (const [name, count] of rows) console.log(`  ${String(count).padStart(7)}  ${name}`);
  }
  console.log(`\nseeds ${first} to ${seed - 1}, ${reports.length} divergences`);
}
