import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { text } from "node:stream/consumers";
import { makeDuckdb, makePostgres } from "../crash/warehouse.ts";
import { serve } from "../support/served.ts";
import { startPostgres } from "../support/server.ts";

/*
 * node test/all/prove.ts: preset all of a small company (200 orders, 200 invoices, 100 items) at 50 ms latency with 8
 * requests in flight, into both databases, against requests × latency / 8; then once more with nothing changed. Runs the
 * command as it is installed (`npm run build`). Ends with 1 when a figure misses its target.
 */

const sizes = { orders: 200, invoices: 200, items: 100, findings: 60, ingested: 400 };
const LATENCY_MS = 50;
const IN_FLIGHT = 8;
const TARGET = 1.15;
const program = join(import.meta.dirname, "../../dist/tributary.js");

const server = await startPostgres();
const rows: Record<string, unknown>[] = [];
for (const make of [makeDuckdb, makePostgres(server.url)]) {
  const service = await serve({ sizes, latencyMs: LATENCY_MS });
  const api = { key: service.key, max_concurrency: IN_FLIGHT };
  const warehouse = await make(service.url, { api, streams: { preset: "all" } });
  let before = 0;
  for (const run of ["first", "second"]) {
    const begun = performance.now();
    const child = spawn(process.execPath, [program, "sync", "--config", warehouse.config, "--no-progress", "--json"], {
      cwd: warehouse.folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    const wallMs = performance.now() - begun;
    if (child.exitCode !== 0)
      throw new Error(`expected the sync to succeed, got exit code ${child.exitCode}:\n${stderr}`);
    const { total } = await service.requests();
    const requests = total - before;
    before = total;
    const report = JSON.parse(stdout) as { streams: { inserted: number; updated: number; deleted: number }[] };
    const changed = report.streams.reduce((sum, line) => sum + line.inserted + line.updated + line.deleted, 0);
    const idealMs = (requests * LATENCY_MS) / IN_FLIGHT;
    rows.push({
      database: warehouse.kind,
      run,
      streams: report.streams.length,
      requests,
      "rows changed": changed,
      "wall s": Math.round(wallMs / 10) / 100,
      "requests × latency / 8 s": Math.round(idealMs / 10) / 100,
      ratio: Math.round((1000 * wallMs) / idealMs) / 1000,
      target: run === "first" ? TARGET : "",
    });
    if (run === "first" && wallMs > TARGET * idealMs) process.exitCode = 1;
    if (run === "second" && changed > 0) process.exitCode = 1;
  }
  await warehouse.remove();
  await service.close();
}
await server.close();
console.table(rows);
