import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import type { Ended } from "./process.ts";
import { roleDatabase, simulated, type Workplace, workplace } from "./workplace.ts";

/** A service that nobody asks. */
const silent = { url: "http://127.0.0.1:1" };

function refused({ code, stdout, stderr }: Ended, expected: number, ...words: readonly string[]): void {
  for (const word of words) expect(`${stdout}${stderr}`).toContain(word);
  expect(stderr).not.toMatch(/\n {4}at /);
  expect(stderr).not.toContain("bug");
  expect(code).toBe(expected);
}

test("a host that doesn't answer is exit code 1, a wrong key 3, each with what to do", async () => {
  const port = await closedPort();
  const nobody = workplace({ url: `http://127.0.0.1:${port}` });
  const simulator = await simulated({ key: "another-key" });
  const stranger = workplace(simulator);
  // A warehouse of its own: beside a run that makes a file and takes it away, a check may find it in use.
  const asker = workplace(simulator);
  const unreachable = await nobody.run(["sync", "items"]);
  const unheard = await nobody.run(["check"]);
  const wrong = await stranger.run(["sync", "--log-level", "trace"]);
  const checked = await asker.run(["check"]);
  const advice = ["ECONNREFUSED", "check api.base_url and the proxy"];
  refused(unreachable, 1, ...advice);
  refused(unheard, 1, "FAIL  api key", ...advice);
  expect(wrong.code).toBe(3);
  expect(wrong.stdout).toContain("The API key was refused: check api.key");
  // Nothing was loaded: nobody is sent to tables that aren't there, and no file is left that has none.
  expect(wrong.stdout).not.toContain("Readers find the tables");
  expect(wrong.stdout).not.toContain("nothing has changed");
  expect(readdirSync(stranger.folder)).toEqual(["config.yaml"]);
  refused(checked, 3, "FAIL  api key", "The API key was refused: check api.key");
});

test("a destination that can't be written is exit code 6, and is left as it was", async () => {
  const locked = workplace(silent, { destination: { path: "./locked/w.duckdb" } });
  mkdirSync(join(locked.folder, "locked"));
  chmodSync(join(locked.folder, "locked"), 0o555);
  chmodSync(locked.folder, 0o755);
  // Root may write anywhere.
  const user = process.getuid?.() === 0 ? { uid: 65_534 } : {};
  const below = workplace(silent, { destination: { path: "./config.yaml/w.duckdb" } });
  const absent = workplace(silent, { destination: { path: "./absent/w.duckdb" } });
  refused(await locked.run(["sync"], user), 6, "This user may not write there");
  const { stdout } = await locked.run(["check"], user);
  expect(stdout).toMatch(/FAIL {2}destination .*\n +This user may not write there/);
  for (const words of [["sync"], ["check", "--offline"], ["status"]])
    refused(await below.run(words), 6, "should be a folder is a file");
  refused(await absent.run(["sync"]), 6, "See that the folder of destination.path exists");
  expect(readdirSync(join(locked.folder, "locked"))).toEqual([]);
});

test("a file whose path DuckDB takes for another one is refused before anything is made", async () => {
  const { run, folder } = workplace(silent, { destination: { path: "./what?/w.duckdb" } });
  for (const words of [["sync"], ["check", "--offline"], ["status"], ["query", "select 1"]])
    refused(await run(words), 2, "Expected a path without a question mark");
  expect(readdirSync(folder)).toEqual(["config.yaml"]);
});

test("another program's file is exit code 6, and stays byte for byte", async () => {
  const database = workplace(silent);
  const file = join(database.folder, "w.duckdb");
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  await connection.run("create table theirs as select 42 as answer");
  connection.closeSync();
  instance.closeSync();
  const notes = workplace(silent);
  writeFileSync(join(notes.folder, "w.duckdb"), "shopping list\n".repeat(400));
  const before = readFileSync(file);
  const sync = await database.run(["sync"]);
  const check = await database.run(["check", "--offline"]);
  const status = await database.run(["status"]);
  const text = await notes.run(["sync"]);
  for (const ended of [sync, check, status]) refused(ended, 6, "point destination.path to another place");
  refused(text, 6, "no DuckDB database", "point destination.path to another place");
  expect(readFileSync(file)).toEqual(before);
});

test("PostgreSQL: missing rights and foreign tables are exit code 6, nothing is made", async () => {
  const powerless = await roleDatabase(false);
  const foreign = await roleDatabase();
  const { admin, role } = foreign;
  await admin.query(`create schema procurement authorization ${role}; create table procurement.items (theirs int)`);
  const simulator = await simulated();
  const without = workplace(simulator, { destination: powerless.destination });
  const crossed = workplace(simulator, { destination: foreign.destination });
  const nowhere = workplace(simulator, {
    destination: { type: "postgres", url: `postgres://me:\${PASSWORD}@127.0.0.1:1/db` },
  });
  const sync = await without.run(["sync"]);
  const check = await without.run(["check"]);
  const dba = await without.run(["ddl", "--for-dba"]);
  const theirs = await crossed.run(["sync"]);
  const theirsChecked = await crossed.run(["check"]);
  const unreachable = await nowhere.run(["check"]);
  for (const ended of [sync, check]) refused(ended, 6, `The role ${powerless.role} lacks rights`, "ddl --for-dba");
  for (const ended of [theirs, theirsChecked]) refused(ended, 6, "procurement.items");
  refused(unreachable, 6, "nothing answers there");
  const made = await admin.query("select relname from pg_class where relnamespace = 'procurement'::regnamespace");
  expect(made.rows).toEqual([{ relname: "items" }]);

  // What the script for the administrator grants is enough.
  await powerless.admin.query(dba.stdout);
  const { stdout } = await without.run(["check"]);
  expect(stdout).toMatch(/ok {4}destination +PostgreSQL .*nothing in it yet/);

  // For workers, whose queue has a schema of its own, it is not.
  const shared = workplace(simulator, { destination: powerless.destination, workers: {} });
  refused(await shared.run(["check"]), 6, `The role ${powerless.role} lacks rights`, '"_tributary_jobs"');
  await powerless.admin.query((await shared.run(["ddl", "--for-dba"])).stdout);
  expect((await shared.run(["check"])).stdout).toMatch(/ok {4}destination +PostgreSQL .*nothing in it yet/);
});

test("a second sync is exit code 4 within 5 seconds and names the holder, in both databases", async () => {
  const simulator = await simulated({ faults: { hang: 1, only: "/items" } });
  const { destination } = await roleDatabase();
  for (const place of [workplace(simulator), workplace(simulator, { destination })]) {
    simulator.requests.clear();
    const first = place.start("sync", "items");
    while (simulator.requests.count("/items") < 1) await sleep(20);
    const [second, status] = await timed(place);
    refused(second, 4, `process ${first.pid} on `, "tributary sync", "since ", "--wait 30m");
    expect(status.stdout).toMatch(new RegExp(`Running: +\\S+ \\(tributary sync, process ${first.pid} on `));
    first.kill("SIGTERM");
    expect((await once(first, "close"))[0]).toBe(143);
  }
});

/** Both answers at once: the sync's within 5 seconds, or a few times what the other takes on a machine that has other work. */
async function timed(place: Workplace): Promise<[Ended, Ended]> {
  const begun = performance.now();
  const second = await place.run(["sync"]);
  const between = performance.now();
  const status = await place.run(["status"]);
  expect(between - begun).toBeLessThan(Math.max(5_000, 4 * (performance.now() - between)));
  return [second, status];
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
