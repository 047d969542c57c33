/*
 * node test/lake/year.ts --nights 365: a lake of the core's streams lives through so many nights, in each of which a hundredth of
 * the rows changes, and says what has piled up by then and what a night takes. --size multiplies the service.
 */
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { startSimulator } from "../../simulator/simulator.ts";
import { stillClock } from "../support/clock.ts";
import { bench } from "../support/run.ts";
import { startPostgres } from "../support/server.ts";
import { lakeExtensions } from "./extensions.ts";

const DAY = 86_400_000;
const { values } = parseArgs({
  options: { nights: { type: "string", default: "365" }, size: { type: "string", default: "1" } },
});
const nights = Number(values.nights);
const size = Number(values.size);

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
const { sync } = bench({ simulator, warehouse: { destination }, clock, config: { views: false } });
const client = new pg.Client({ connectionString: server.url });
await client.connect();

const times: number[] = [];
try {
  for (let night = 0; night <= nights; night++) {
    const began = performance.now();
    const { status, errors } = await sync();
    if (status !== "succeeded" && status !== "warning")
      throw new Error(`night ${night} ${status}: ${errors.join(" ")}`);
    times.push(performance.now() - began);
    if (night % 30 === 5 || night === nights) await report(night);
    for (const stream of ["purchase_orders", "invoices", "items", "findings", "ingested"])
      simulator.update(stream, Math.ceil(simulator.truth.count(stream) / 100));
    clock.advance(DAY);
  }
} finally {
  await client.end();
  await simulator.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
}

async function report(night: number): Promise<void> {
  const files = await filesIn(folder);
  const bytes = files.reduce((sum, each) => sum + each, 0);
  const last = times.slice(-6).toSorted((a, b) => a - b);
  const rows = await catalogRows();
  process.stdout.write(
    `night ${night}: ${(last[Math.floor(last.length / 2)]! / 1000).toFixed(2)} s, ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, ${rows.all} rows in the catalog, ${rows.inlined} of them inlined, ${rows.snapshots} snapshots\n`,
  );
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
