/*
 * node test/lake/year.ts --nights 365: a lake of the core's streams lives through so many nights, in each of which a hundredth of
 * the rows changes, and says what has piled up by then and what a night takes. --size multiplies the service, --streams takes some
 * (items,invoices). The catalog's times are PostgreSQL's: each night moves them back by a day, so that what a day's age decides is
 * decided as in a year.
 */
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { startSimulator } from "../../simulator/simulator.ts";
import { textsOf } from "../../src/message.ts";
import { runSync } from "../../src/sync/run/run.ts";
import { stillClock } from "../support/clock.ts";
import { bench } from "../support/run.ts";
import { startPostgres } from "../support/server.ts";
import { lakeExtensions } from "./extensions.ts";

const DAY = 86_400_000;
/** A night's figures are medians of so many. */
const LAST = 10;
const { values } = parseArgs({
  options: {
    nights: { type: "string", default: "365" },
    size: { type: "string", default: "1" },
    streams: { type: "string" },
  },
});
const nights = Number(values.nights);
const size = Number(values.size);
const names = values.streams?.split(",") ?? [];

/** What a night took: until its end, in publishes, and of the processors, by this process (the service is in it) and the catalog's server. */
interface Night {
  readonly ms: number;
  readonly publishMs: number;
  readonly cpuMs: number;
  readonly serverMs: number;
}

const server = await startPostgres();
const folder = await mkdtemp(join(tmpdir(), "tributary-year-"));
const clock = stillClock();
const sizes = {
  orders: 400 * size,
  invoices: 300 * size,
  items: 2_000 * size,
  findings: 300 * size,
  ingested: 1_000 * size,
};
const simulator = await startSimulator({ sizes, now: clock.date });
const destination = { type: "ducklake", catalog: server.url, data_path: folder, extensions: await lakeExtensions() };
const publishing = new Set<string>();
let publishMs = 0;
let since = 0;
const { sync } = bench({
  ...{ simulator, warehouse: { destination }, clock, config: { views: false } },
  run: (order, tools) => runSync(order, { ...tools, log: { ...tools.log, debug: timePublish } }),
});
const client = new pg.Client({ connectionString: server.url });
await client.connect();

const lived: Night[] = [];
try {
  for (let night = 0; night <= nights; night++) {
    const before = await used();
    publishMs = 0;
    const { status, errors } = await sync({ names });
    if (status !== "succeeded" && status !== "warning")
      throw new Error(`night ${night} ${status}: ${textsOf(errors).join(" ")}`);
    const after = await used();
    lived.push({
      ms: after.ms - before.ms,
      publishMs,
      cpuMs: after.cpuMs - before.cpuMs,
      serverMs: after.serverMs - before.serverMs,
    });
    if ((night > 0 && night % 30 === 0) || night === nights) await report(night);
    for (const stream of ["purchase_orders", "invoices", "items", "findings", "ingested"])
      simulator.update(stream, Math.ceil(simulator.truth.count(stream) / 100));
    clock.advance(DAY);
    await passDay();
  }
  if (nights > 30) compare();
} finally {
  await client.end();
  await simulator.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
}

function timePublish(event: string, facts: object = {}): void {
  const stream = String((facts as { readonly stream?: string }).stream);
  const now = performance.now();
  // Streams wait for each other: what counts is that one of them is at it.
  if (publishing.size > 0) publishMs += now - since;
  since = now;
  if (event === "publishing") publishing.add(stream);
  if (event === "published") publishing.delete(stream);
}

async function passDay(): Promise<void> {
  await client.query("update ducklake.ducklake_snapshot set snapshot_time = snapshot_time - interval '1 day'");
  await client.query(
    "update ducklake.ducklake_files_scheduled_for_deletion set schedule_start = schedule_start - interval '1 day'",
  );
}

async function report(night: number): Promise<void> {
  const files = await filesIn(folder);
  const bytes = files.reduce((sum, each) => sum + each, 0);
  const rows = await catalogRows();
  const piled = `${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, ${rows.all} rows in the catalog, ${rows.inlined} of them inlined, ${rows.snapshots} snapshots`;
  process.stdout.write(`night ${night}: ${piled}; ${took(medians(lived.length))}\n`);
}

function compare(): void {
  const [first, last] = [medians(31), medians(lived.length)];
  const ratio = (of: (night: Night) => number) => (of(last) / of(first)).toFixed(2);
  process.stdout.write(
    `night ${nights} to night 30: ${ratio(each => each.ms)} of the time, ${ratio(each => each.publishMs)} of the publishes', ${ratio(each => each.cpuMs + each.serverMs)} of the CPU\n`,
  );
}

/** Of the last ten of the nights up to the one with this number. */
function medians(until: number): Night {
  const some = lived.slice(Math.max(0, until - LAST), until);
  const median = (of: (night: Night) => number) => some.map(of).toSorted((a, b) => a - b)[Math.floor(some.length / 2)]!;
  return {
    ms: median(each => each.ms),
    publishMs: median(each => each.publishMs),
    cpuMs: median(each => each.cpuMs),
    serverMs: median(each => each.serverMs),
  };
}

function took({ ms, publishMs, cpuMs, serverMs }: Night): string {
  const seconds = (of: number) => `${(of / 1000).toFixed(2)} s`;
  return `${seconds(ms)}, publishes ${seconds(publishMs)}, CPU ${seconds(cpuMs)} and the server's ${seconds(serverMs)}`;
}

async function used(): Promise<Pick<Night, "ms" | "cpuMs" | "serverMs">> {
  const { user, system } = process.cpuUsage();
  return { ms: performance.now(), cpuMs: (user + system) / 1000, serverMs: await serverCpu() };
}

/** Of the server's processes and those that have ended; 0 where there is no /proc. */
async function serverCpu(): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const parent = (await timesOf(rows[0]!.pid))?.parent;
  const pids = (await readdir("/proc").catch(() => [])).filter(name => /^\d+$/.test(name));
  const all = await Promise.all(pids.map(pid => timesOf(Number(pid))));
  const ended = (await timesOf(parent ?? 0))?.ended ?? 0;
  return all.reduce((sum, each) => sum + (each?.parent === parent ? (each?.own ?? 0) : 0), ended);
}

async function timesOf(pid: number) {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  const fields = text
    ?.slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  if (fields === undefined) return undefined;
  // Of a hundredth of a second.
  return { parent: fields[1], own: 10 * (fields[11]! + fields[12]!), ended: 10 * (fields[13]! + fields[14]!) };
}

async function filesIn(root: string): Promise<readonly number[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter(entry => entry.isFile())
    .map(async entry => (await stat(join(entry.parentPath, entry.name))).size);
  return Promise.all(sizes);
}

async function catalogRows(): Promise<{ readonly all: number; readonly inlined: number; readonly snapshots: number }> {
  const { rows: tables } = await client.query<{ name: string }>(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'ducklake'",
  );
  let [all, inlined, snapshots] = [0, 0, 0];
  for (const { name } of tables) {
    const { rows } = await client.query<{ n: string }>(`select count(*) as n from ${name}`);
    const n = Number(rows[0]!.n);
    all += n;
    if (name.includes("_inlined_d")) inlined += n;
    if (name.endsWith("ducklake_snapshot")) snapshots = n;
  }
  return { all, inlined, snapshots };
}
