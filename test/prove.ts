import { startSimulator } from "../simulator/simulator.ts";
import type { RunReport } from "../src/sync/run/run.ts";
import { lakeExtensions } from "./lake/extensions.ts";
import { stillClock } from "./support/clock.ts";
import { core as streams } from "./support/core.ts";
import { bench } from "./support/run.ts";
import { startPostgres } from "./support/server.ts";
import { type Compared, compareWarehouses, compareWithTruth } from "./support/truth.ts";
import { duckdbWarehouse, ducklakeWarehouse, postgresWarehouse, type Warehouse } from "./support/warehouse.ts";

/*
 * The proof at full size: first load, a second run over an unchanged service, a run after changes, each held against the
 * service's truth value by value, in both databases; with --lake in a lake instead. Ends with 1 on any difference.
 */

const sizes = { orders: 20_000, invoices: 20_000, items: 20_000, findings: 5_000, ingested: 50_000 };
const AUDIT = 0.02;
const DAY = "2026-03-15";

interface Figure {
  readonly what: string;
  readonly rows: number;
  readonly values: number;
  readonly differences: number;
  readonly requests: number;
  readonly seconds: number;
}

const figures: Figure[] = [];
const complaints: string[] = [];

function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    complaints.push(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(found)}`);
}

const changes = (report: RunReport, stream?: string) => {
  const lines = report.streams.filter(line => stream === undefined || line.stream === stream);
  const sum = (count: (line: (typeof lines)[number]) => number) => lines.reduce((all, line) => all + count(line), 0);
  return [sum(line => line.inserted), sum(line => line.updated), sum(line => line.deleted)];
};

async function prove(warehouse: Warehouse): Promise<void> {
  const clock = stillClock(`${DAY}T12:00:00Z`);
  const simulator = await startSimulator({ sizes, now: clock.date });
  const { sync } = bench({ simulator, warehouse, clock });
  const step = async (name: string): Promise<RunReport> => {
    simulator.requests.clear();
    const begun = performance.now();
    const report = await sync();
    const seconds = (performance.now() - begun) / 1000;
    const requests = simulator.requests.total;
    const compared = await compareWithTruth(simulator, warehouse, streams, DAY);
    note(`${warehouse.name}: ${name}`, compared, requests, seconds);
    expectEqual(`${warehouse.name}: ${name}: exit code`, report.exit_code, 0);
    clock.advance(60_000);
    return report;
  };
  try {
    await step("first load");
    const wholeLists = (sizes.orders + sizes.invoices + sizes.items + sizes.findings) / 100;
    // The feed is longer than its full_scan_pages: it is asked for from a day before its high-water mark and lookback on.
    const times = [...simulator.truth.rows("ingested")].map(row => Date.parse(String(row["ts"]))).filter(at => at > 0);
    const mark = times.reduce((latest, at) => Math.max(latest, at));
    const from = Date.parse(new Date(mark - 8 * 86_400_000).toISOString().slice(0, 10));
    const pages = wholeLists + Math.ceil(times.filter(at => at >= from).length / 100);
    const second = await step("second run");
    expectEqual(`${warehouse.name}: second run: changes`, changes(second), [0, 0, 0]);
    expectEqual(
      `${warehouse.name}: second run: requests`,
      simulator.requests.total,
      // One to ask whose key it is, one for the findings' totals.
      pages + 2 + Math.ceil(AUDIT * sizes.orders) + Math.ceil(AUDIT * sizes.invoices),
    );
    // The oldest go and others change, so that each of the three kinds has rows of its own.
    const last = [...simulator.truth.rows("purchase_orders", sizes.orders - 10)].map(row => String(row["po_number"]));
    simulator.delete("purchase_orders", last);
    simulator.update("purchase_orders", 100);
    simulator.insert("purchase_orders", 5);
    const third = await step("100 changed, 5 new, 10 gone");
    expectEqual(`${warehouse.name}: changed orders`, changes(third, "purchase_orders"), [5, 100, 10]);
    const unchanged = simulator.truth.count("purchase_orders") - 105;
    const details = simulator.requests.count("/po/{po_number}");
    // The missing ones are asked for by the same address, and before them one that is there.
    const asked = last.length + 1;
    expectEqual(`${warehouse.name}: details fetched`, details, 105 + Math.ceil(AUDIT * unchanged) + asked);
  } finally {
    await simulator.close();
  }
}

function note(what: string, compared: Compared, requests: number, seconds: number): void {
  figures.push({
    what,
    rows: compared.rows,
    values: compared.values,
    differences: compared.different,
    requests,
    seconds: Math.round(seconds * 10) / 10,
  });
  complaints.push(...compared.differences);
}

const server = await startPostgres();
const places: readonly Warehouse[] = process.argv.includes("--lake")
  ? [await ducklakeWarehouse(server.url, await lakeExtensions())]
  : [await duckdbWarehouse("snapshot"), await postgresWarehouse(server.url)];
try {
  for (const warehouse of places) await prove(warehouse);
  const [one, other] = places;
  if (one !== undefined && other !== undefined)
    note(`${one.name} against ${other.name}`, await compareWarehouses(one, other, streams), 0, 0);
} finally {
  for (const warehouse of places) await warehouse.drop();
  await server.close();
}
console.table(figures);
for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length === 0 ? 0 : 1;
