import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../test/support/server.ts";
import { build } from "./build.ts";
import { cpuFigures, type Figure, memoryFigures } from "./figures.ts";
import { type Result, runFloor, runPair } from "./jobs.ts";
import type { Laboratory } from "./measurement.ts";
import { help, type Options, readOptions } from "./options.ts";
import { reportTable } from "./report.ts";
import { startService } from "./service.ts";

/** Rows of the runs that show what a run costs before its first row. */
const FEW = 100;

const say = (sentence: string) => process.stderr.write(`${sentence}\n`);

async function main(options: Options): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-bench-"));
  const postgres =
    options.warehouses.includes("postgres") && options.postgres === undefined ? await startPostgres() : undefined;
  try {
    const { nodeFlags, profiles } = options;
    say("building");
    const laboratory = { built: await build(folder), folder, nodeFlags, profiles };
    const url = options.postgres ?? postgres?.url ?? "";
    const few = await rounds({ ...laboratory, profiles: undefined }, options, FEW, options.runs, url);
    const results = await rounds(laboratory, options, options.rows, options.runs, url);
    const figures = cpuFigures(results, few, options.warehouses);
    const single = [...few, ...results];
    if (options.memory !== undefined) {
      const smaller = await rounds(laboratory, options, options.memory[0], 1, url);
      const larger = await rounds(laboratory, options, options.memory[1], 1, url);
      figures.push(...memoryFigures(smaller, larger, options.warehouses));
      single.push(...smaller, ...larger);
    }
    print(options, figures, single);
  } finally {
    await postgres?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every job `runs` times, with a floor before each warehouse, so that a slow moment of the machine meets both sides. */
async function rounds(
  laboratory: Laboratory,
  options: Options,
  rows: number,
  runs: number,
  postgresUrl: string,
): Promise<Result[]> {
  const service = await startService(laboratory.built, rows);
  const results: Result[] = [];
  try {
    for (let run = 1; run <= runs; run++) {
      for (const warehouse of options.warehouses) {
        say(`${rows.toLocaleString("en-US")} rows, ${warehouse}, ${run} of ${runs}`);
        results.push(await runFloor(laboratory, service));
        results.push(...(await runPair(laboratory, service, rows, warehouse, postgresUrl)));
      }
    }
  } finally {
    await service.close();
  }
  return results;
}

function print(options: Options, figures: readonly Figure[], results: readonly Result[]): void {
  if (options.json) process.stdout.write(`${JSON.stringify({ node: process.version, figures, results }, null, 2)}\n`);
  else process.stdout.write(`${reportTable(figures)}\n`);
}

const options = readOptions(process.argv.slice(2));
if (options === undefined) process.stdout.write(`${help}\n`);
else await main(options);
