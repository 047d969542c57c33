/*
 * node test/warehouse/upgrade/make.ts <folder> [duckdb | postgres]: makes the fixtures, warehouses as the program in that folder writes them. The
 * folder is a checkout of the version that warehouses are to be upgraded from, with its node_modules:
 *
 *   git worktree add --detach ../before <commit> && ln -s "$PWD/node_modules" ../before/node_modules
 *   npx node test/warehouse/upgrade/make.ts ../before
 *
 * The service and its clock are this checkout's (`service.ts`), the program is the folder's.
 */
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import type { Clock } from "../../../src/clock.ts";
import type { StillClock } from "../../support/clock.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { startPostgres } from "../../support/server.ts";
import { dumpDatabase } from "./dump.ts";
import { pack } from "./pack.ts";
import { configuration, nights, openService, type Place, SMALL, STOPPED } from "./service.ts";

type Support = typeof import("../../support/run.ts");

const self = fileURLToPath(import.meta.url);
const fixtures = join(import.meta.dirname, "fixtures");

/** What a run of the child is told, as JSON. */
interface Stopped {
  readonly program: string;
  readonly simulator: { readonly url: string; readonly key: string };
  readonly destination: Readonly<Record<string, unknown>>;
  readonly archive: string;
  readonly now: number;
}

// What is stored of the machine is its name: not this one's.
os.hostname = () => "the-machine-of-before";
syncBuiltinESMExports();

const supportOf = (program: string): Promise<Support> => import(join(program, "test/support/run.ts"));

/** A clock that goes by the other one, and is ahead of it. */
const ahead = (clock: StillClock, ms: number): StillClock => ({ ...clock, now: () => clock.now() + ms });

async function live(place: Place, program: string, folder: string, destination: Stopped["destination"]) {
  const { bench } = await supportOf(program);
  const archive = join(folder, "archive");
  const { simulator, clock } = place;
  const config = configuration(archive);
  for (const { happens, names, aheadMs } of nights) {
    happens(place);
    // Answers are kept under the time at which they were here: one that is to come would stand for the latest for ever.
    const { archive: _archive, ...unarchived } = config;
    const own = bench({
      simulator,
      warehouse: { destination },
      clock: ahead(clock, aheadMs),
      config: aheadMs === 0 ? config : unarchived,
    });
    const report = await own.sync({ names });
    console.log(clock.date().toISOString(), report.status, report.errors.join(" | "));
  }
  clock.advance(3_600_000);
  await killHalfWay(place, { program, simulator, destination, archive, now: clock.now() });
  return { config, bench };
}

/** A run that is killed when it has asked for the third page: the first one is in the stage by then. */
async function killHalfWay({ simulator }: Place, told: Stopped): Promise<void> {
  simulator.faults.only = `/${STOPPED}`;
  simulator.faults.latencyMs = 1_500;
  simulator.requests.clear();
  const child = fork(self, [
    "--stopped",
    JSON.stringify({ ...told, simulator: { url: simulator.url, key: simulator.key } }),
  ]);
  const ended = once(child, "exit");
  while (simulator.requests.count(`/${STOPPED}`) < 3) await sleep(20);
  await sleep(1_000);
  child.kill("SIGKILL");
  await ended;
  simulator.faults.only = null;
  simulator.faults.latencyMs = 0;
  // PostgreSQL notices within a second that the session's other end is gone.
  await sleep(3_000);
}

async function runToBeKilled({ program, simulator, destination, archive, now }: Stopped): Promise<void> {
  const { bench } = await supportOf(program);
  const begun = performance.now();
  // Batches end by the clock, so it has to go.
  const clock: Clock = {
    now: () => now + performance.now() - begun,
    sleep: ms => sleep(ms),
  };
  const going = {
    ...clock,
    now: () => Math.floor(clock.now()),
    advance: () => undefined,
    date: () => new Date(clock.now()),
  };
  const own = bench({ simulator, warehouse: { destination }, clock: going, config: configuration(archive) });
  await own.sync({ names: [STOPPED] });
}

/** What the program of before asks for in its next runs, by stream: no later one may ask for more. */
async function next(
  place: Place,
  { bench, config }: Awaited<ReturnType<typeof live>>,
  destination: Stopped["destination"],
) {
  place.clock.advance(60_000);
  const own = bench({ simulator: place.simulator, warehouse: { destination }, clock: place.clock, config });
  const reports = [await own.sync({ names: SMALL }), await own.sync()];
  const counts = reports.map(({ streams }) => Object.fromEntries(streams.map(line => [line.stream, line.requests])));
  return { small: counts[0], all: counts[1] };
}

type Database = "duckdb" | "postgres";

async function make(program: string, names: readonly Database[]): Promise<void> {
  const folder = await mkdtemp(join(os.tmpdir(), "tributary-fixtures-"));
  await mkdir(fixtures, { recursive: true });
  const server = await startPostgres(["fsync=off"]);
  const databases: TestDatabase[] = [];
  const requests: Record<string, unknown> = {};
  try {
    for (const name of names) {
      const place = await openService(name);
      const home = join(folder, name);
      await mkdir(home);
      if (name === "duckdb") {
        const destination = { type: "duckdb", path: join(home, "warehouse.duckdb"), keep_versions: 1 };
        const lived = await live(place, program, home, destination);
        await cp(home, join(folder, "packed"), { recursive: true, verbatimSymlinks: true });
        await pack(join(folder, "packed"), join(fixtures, "duckdb.pack"));
        requests[name] = await next(place, lived, destination);
      } else {
        const [database, scratch] = [await createDatabase(server.url), await createDatabase(server.url)];
        databases.push(database, scratch);
        const destination = { type: "postgres", url: database.url };
        const lived = await live(place, program, home, destination);
        const configFile = join(folder, "config.yaml");
        const api = { base_url: place.simulator.url, key: "demo-key" };
        await writeFile(configFile, stringify({ ...lived.config, company: "acme", api, destination }));
        const main = join(program, "src/cli/main.ts");
        const maxBuffer = 2 ** 26;
        const ddl = execFileSync(process.execPath, [main, "ddl", "--config", configFile], {
          encoding: "utf8",
          maxBuffer,
        });
        await writeFile(join(home, "dump.json"), await dumpDatabase(database.admin, scratch.admin, ddl));
        await pack(home, join(fixtures, "postgres.pack"));
        requests[name] = await next(place, lived, destination);
      }
      await place.simulator.close();
      await writeFile(join(fixtures, `${name}.json`), `${JSON.stringify(requests[name], null, 2)}\n`);
    }
  } finally {
    for (const database of databases) await database.drop();
    await server.close();
    await rm(folder, { recursive: true });
  }
}

const [first, second, ...more] = process.argv.slice(2);
if (first === "--stopped") await runToBeKilled(JSON.parse(second!) as Stopped);
else if (first === undefined) throw new Error("expected the folder of a checkout of the program of before");
else await make(resolve(first), second === undefined ? ["duckdb", "postgres"] : ([second, ...more] as Database[]));
