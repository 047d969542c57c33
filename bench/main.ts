import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lakeExtensions } from "../test/lake/extensions.ts";
import { startPostgres } from "../test/support/server.ts";
import { build } from "./build.ts";
import { type Figure, isMet } from "./figure.ts";
import type { Laboratory, Part } from "./laboratory.ts";
import { type Options, readOptions } from "./options.ts";
import { cpu } from "./parts/cpu.ts";
import { exports } from "./parts/exports.ts";
import { fanout } from "./parts/fanout.ts";
import { growth } from "./parts/growth.ts";
import { idle } from "./parts/idle.ts";
import { lake } from "./parts/lake.ts";
import { latency } from "./parts/latency.ts";
import { models } from "./parts/models.ts";
import { nightly } from "./parts/nightly.ts";
import { planner } from "./parts/planner.ts";
import { publish } from "./parts/publish.ts";
import { records } from "./parts/records.ts";
import { replay } from "./parts/replay.ts";
import { startup } from "./parts/startup.ts";
import { undici } from "./parts/undici.ts";
import { reportTable } from "./report.ts";

/** In the order of bench/README.md. */
const parts: readonly Part[] = [
  latency,
  cpu,
  fanout,
  nightly,
  growth,
  lake,
  planner,
  publish,
  models,
  exports,
  replay,
  records,
  startup,
  idle,
  undici,
];

const say = (sentence: string) => process.stderr.write(`${sentence}\n`);

async function main(options: Options): Promise<readonly Figure[]> {
  const { scale, runs, quick, nodeFlags, profiles, warehouses } = options;
  const folder = await mkdtemp(join(tmpdir(), "tributary-bench-"));
  const hasLake = options.parts.includes(lake.name);
  const needsServer = (hasLake || warehouses.includes("postgres")) && options.postgres === undefined;
  const server = needsServer ? await startPostgres() : undefined;
  try {
    say("building");
    const laboratory: Laboratory = {
      built: await build(folder),
      folder,
      warehouses,
      postgresUrl: options.postgres ?? server?.url ?? "",
      extensions: hasLake ? await lakeExtensions() : "",
      runs,
      quick,
      nodeFlags,
      profiles,
      size: (rows, least = 1) => Math.max(least, Math.round(rows * scale)),
      say,
    };
    const figures: Figure[] = [];
    for (const part of parts) {
      if (!options.parts.includes(part.name)) continue;
      say(part.name);
      figures.push(...(await part.measure(laboratory)));
    }
    return figures;
  } finally {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const options = readOptions(
  process.argv.slice(2),
  parts.map(({ name }) => name),
);
if (typeof options === "string") process.stdout.write(`${options}\n`);
else {
  const figures = await main(options);
  const told = options.json ? JSON.stringify({ node: process.version, figures }, null, 2) : reportTable(figures);
  process.stdout.write(`${told}\n`);
  // At another scale than its own a target says nothing.
  if (options.scale === 1 && figures.some(figure => isMet(figure) === false)) process.exitCode = 1;
}
