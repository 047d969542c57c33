import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { key, type Sizes } from "../../crash/company.ts";
import { chances, seedOfToday } from "../../crash/kills.ts";
import { makeDuckdb, makePostgres } from "../../crash/warehouse.ts";
import { serve } from "../../support/served.ts";
import { startPostgres } from "../../support/server.ts";
import { built, openHistory, startBackfill, trialOf } from "./killed.ts";

/*
 * node test/operations/backfill/prove.ts: 36 months of a feed (--rows 300000) at 50 ms latency with 8 requests in flight, against
 * requests × latency / 8; then --kills 20 backfills of fewer rows, each killed at an instant of its own and resumed, against
 * an undisturbed one. --database postgres, --seed. Ends with 1 when a figure misses its target.
 */

const DAY = 86_400_000;
const MONTHS = 36;
const LATENCY_MS = 50;
const IN_FLIGHT = 8;
const TARGET = 1.1;

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "300000" },
    kills: { type: "string", default: "20" },
    "kill-rows": { type: "string", default: "30000" },
    database: { type: "string", default: "duckdb" },
    seed: { type: "string", default: String(seedOfToday()) },
  },
});
const server = values.database === "postgres" ? await startPostgres() : undefined;
const make = server === undefined ? makeDuckdb : makePostgres(server.url);
if (Number(values.rows) > 0) await proveSpeed(Number(values.rows));
if (Number(values.kills) > 0) await proveKills(Number(values.kills), Number(values["kill-rows"]), Number(values.seed));
await server?.close();

async function proveSpeed(rows: number): Promise<void> {
  const historyDays = Math.round((MONTHS * 365.25) / 12);
  const sizes = { orders: 0, invoices: 0, items: 0, findings: 0, ingested: rows };
  const service = await serve({ sizes, historyDays, latencyMs: LATENCY_MS });
  const warehouse = await make(service.url, { api: { key: service.key, max_concurrency: IN_FLIGHT } });
  const from = new Date(Date.now() - (historyDays + 1) * DAY).toISOString().slice(0, 10);
  const begun = performance.now();
  const running = startBackfill(
    warehouse,
    ["ingested", "--from", from, "--yes", "--json", "--log-level", "debug"],
    built,
  );
  let first: number | undefined;
  let last = begun;
  let seen = 0;
  const watching = setInterval(async () => {
    const { total } = await service.requests();
    if (total > seen) last = performance.now();
    seen = total;
    if (total > 0) first ??= performance.now();
  }, 100);
  const { code, stdout, stderr } = await running.ended;
  const wallMs = performance.now() - begun;
  clearInterval(watching);
  if (code !== 0) throw new Error(`expected the backfill to succeed, got exit code ${code}:\n${stderr}`);
  const { total: requests, most } = await service.requests();
  const [found] = await warehouse.data("select count(*) from procurement.ingested");
  const dated = await warehouse.data("select count(*) from procurement.ingested where ts is null");
  const line = (JSON.parse(stdout) as { streams: { rows_read: number; inserted: number }[] }).streams[0]!;
  const idealMs = (requests * LATENCY_MS) / IN_FLIGHT;
  const ratio = wallMs / idealMs;
  const seconds = (ms: number) => Math.round(ms / 100) / 10;
  console.table([
    {
      rows: Number(found![0]),
      "rows read": line.rows_read,
      "undated rows": Number(dated[0]![0]),
      requests,
      "most in flight": most,
      "wall s": seconds(wallMs),
      "requests × latency / 8 s": seconds(idealMs),
      ratio: Math.round(ratio * 1000) / 1000,
      target: TARGET,
    },
  ]);
  console.table({
    "until the first request s": seconds((first ?? begun) - begun),
    "asking s": seconds(last - (first ?? begun)),
    "after the last request s": seconds(performance.now() - last),
  });
  if (ratio > TARGET) process.exitCode = 1;
  await warehouse.remove();
  await service.close();
}

async function proveKills(count: number, ingested: number, seed: number): Promise<void> {
  const sizes: Sizes = { orders: 0, invoices: 0, items: 0, findings: 0, ingested };
  process.stdout.write(`${count} kills of a backfill of ${ingested} rows into ${values.database}, seed ${seed}\n`);
  const history = await openHistory(make, sizes, { key, latencyMs: 20 });
  const rows: Record<string, unknown>[] = [];
  for (const chance of chances(count, seed)) {
    const outcome = await trialOf(history, chance);
    const { phase, again, open, faults } = outcome;
    rows.push({
      "killed after requests": outcome.requests,
      phase,
      "pages again": again,
      "pages allowed": open,
      faults: faults.length,
    });
    for (const fault of faults) process.stdout.write(`  WRONG ${fault}\n`);
    if (faults.length > 0 || again > open) process.exitCode = 1;
  }
  console.table(rows);
  await history.close();
}
