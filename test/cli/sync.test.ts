import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { runOutcome } from "../../src/cli/commands/sync.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Estimate } from "../../src/operations/estimate/estimate.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { plain } from "../support/run.ts";
import { json, roleDatabase, simulated, workplace } from "./workplace.ts";

const line = (report: RunReport, stream: string) => report.streams.find(one => one.stream === stream);

test("a dry run asks a page of what was never read, sync loads everything, then nothing, then exactly what changed", async () => {
  const simulator = await simulated();
  const { run, folder } = workplace(simulator);
  const fresh = json<Estimate>(await run(["sync", "--dry-run", "--json"]));
  expect(readdirSync(folder)).toEqual(["config.yaml"]);
  expect(fresh).toMatchObject({ dry_run: true, at_least: true, in_flight: 8, asked: simulator.requests.total });
  const requests = Object.fromEntries(fresh.streams.map(one => [one.stream, [one.requests, one.at_least]]));
  expect(requests).toEqual({
    purchase_orders: [1, false],
    invoices: [1, false],
    items: [2, true],
    findings: [1, false],
    findings_summary: [1, false],
    ingested: [1, false],
    purchase_order_details: [12, false],
    invoice_matches: [8, false],
  });

  const first = await run(["sync"]);
  expect(first.code).toBe(0);
  expect(first.stdout).toMatch(
    /^stream +status +read +inserted +updated +unchanged +deleted +missing +rejects +requests +in table +at service +time\n/,
  );
  expect(first.stdout).toMatch(/\npurchase_orders +succeeded +12 +12 +0 +0 +0 +0 +0 +1 /);
  expect(first.stdout).toMatch(/\nRun \S+ succeeded after /);
  expect(first.stdout).toContain(`Readers find the tables in ${join(folder, "w.duckdb")}, schema procurement`);
  expect(first.stderr).toContain("created table purchase_orders");

  simulator.requests.clear();
  const loaded = await run(["sync", "--dry-run"]);
  expect(simulator.requests.total).toBe(1);
  expect(loaded.stdout).toMatch(/\nitems +2 +as many pages as the last full scan/);
  expect(loaded.stdout).toMatch(/\npurchase_order_details +≥ 1 +1 audit/);
  expect(loaded.stdout).toContain("Nothing was written; finding out took 1 request.");

  const second = json<RunReport>(await run(["sync", "--json"]));
  expect(Object.keys(second)).toEqual(
    "run_id status exit_code started_at finished_at warnings notes errors streams".split(" "),
  );
  expect(second).toMatchObject({ status: "succeeded", exit_code: 0, warnings: [], errors: [] });
  expect(second.streams.map(one => one.inserted + one.updated + one.deleted)).toEqual(Array(8).fill(0));
  expect(line(second, "purchase_order_details")).toMatchObject({ company: "acme", status: "succeeded", requests: 1 });

  simulator.update("items", 3);
  simulator.insert("items", 2);
  const third = json<RunReport>(await run(["sync", "items", "--json"]));
  expect(third.streams).toHaveLength(1);
  expect(line(third, "items")).toMatchObject({ inserted: 2, updated: 3, deleted: 0 });
});

test("sync into PostgreSQL; a detail brings its list, a list no details", async () => {
  const { destination } = await roleDatabase();
  const { run } = workplace(await simulated(), { destination, views: false });
  const lists = json<RunReport>(await run(["sync", "purchase_orders", "--json"]));
  expect(lists.streams.map(one => one.stream)).toEqual(["purchase_orders"]);
  const details = await run(["sync", "purchase_order_d*"]);
  expect(details.stdout).toMatch(/\npurchase_orders +succeeded[\s\S]*\npurchase_order_details +succeeded +12 +12 /);
  expect(details.stdout).toContain("Readers find the tables in schema procurement: `tributary query`");
  const status = json<{ streams: { stream: string; status: string; rows: number }[] }>(await run(["status", "--json"]));
  expect(status.streams.find(one => one.stream === "purchase_order_details")).toMatchObject({ rows: 12 });
  const estimate = json<Estimate>(await run(["sync", "purchase_order_d*", "--dry-run", "--json"]));
  expect(estimate.streams).toMatchObject([{ requests: 1 }, { stream: "purchase_order_details", requests: 1 }]);
});

test("the first signal stops at a safe point, says what was saved, and the next run goes on", async () => {
  const simulator = await simulated({ sizes: { items: 10, orders: 100 } });
  const place = workplace(simulator, { views: false });
  simulator.faults.latencyMs = 100;
  simulator.faults.only = "/po/";
  const child = place.start("sync", "items", "purchase_order_details");
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  while (simulator.requests.count("/po/{po_number}") < 20) await sleep(20);
  child.kill("SIGINT");
  const [ended] = await once(child, "close");
  const [stdout, stderr] = await output;
  expect(ended).toBe(130);
  expect(stderr).toContain("stopping at the next safe point");
  expect(stdout).toContain("Stopped by SIGINT");
  expect(stdout).toMatch(/Saved: up to date: .*items.*; begun, \d+ rows read and kept: purchase_order_details/);
  const before = simulator.requests.count("/po/{po_number}");
  simulator.faults.latencyMs = 0;
  const next = json<RunReport>(await place.run(["sync", "purchase_order_details", "--json"]));
  expect(line(next, "purchase_order_details")).toMatchObject({ status: "succeeded" });
  // What was in flight when it stopped is all that is asked twice.
  expect(simulator.requests.count("/po/{po_number}") - before).toBeLessThan(100);
  expect(simulator.requests.count("/po/{po_number}")).toBeLessThanOrEqual(100 + 8 + Math.ceil(0.02 * 100));
});

test("a second signal leaves at once, and nothing is lost", async () => {
  const simulator = await simulated({ faults: { hang: 1, only: "/items" } });
  const place = workplace(simulator, { views: false });
  const child = place.start("sync", "items");
  const stderr = text(child.stderr);
  while (simulator.requests.count("/items") < 1) await sleep(20);
  process.kill(child.pid ?? 0, "SIGTERM");
  process.kill(child.pid ?? 0, "SIGINT");
  const [code] = await once(child, "close");
  expect([130, 143]).toContain(code);
  expect(await stderr).not.toContain("bug");
  simulator.faults.hang = 0;
  expect(json<RunReport>(await place.run(["sync", "items", "--json"])).streams).toMatchObject([{ inserted: 130 }]);
});

test("--max-time ends a run also while its first request waits for what a 429 asked for", async () => {
  const simulator = await simulated();
  const place = workplace(simulator, { views: false });
  simulator.faults.planLimit = { remaining: 0, retryAfterSeconds: 40 };
  const stopped = await place.run(["sync", "items", "--max-time", "1s"]);
  expect(stopped.code).toBe(5);
  expect(stopped.stderr).toContain("--max-time is over after 1 s");
  simulator.faults.planLimit = null;
  expect((await place.run(["sync", "items", "--max-time", "1h"])).code).toBe(0);
});

test("a run's report names the warehouse file only where there is one", async () => {
  const { folder } = workplace({ url: "http://127.0.0.1:1" });
  const loaded = await loadConfig(join(folder, "config.yaml"), { KEY: "secret-key" });
  const moment = "2026-01-01T00:00:00.000Z";
  const report: RunReport = {
    ...{ run_id: "r", status: "succeeded", exit_code: 0, started_at: moment, finished_at: moment },
    ...{ warnings: [], notes: [], errors: [], streams: [] },
  };
  const told = async () => (await runOutcome(report, loaded.config)).text(plain, 2_600);
  expect(await told()).not.toContain("Readers find");
  // The command's time, not that of the run's record.
  expect(await told()).toContain("succeeded after 2 s");
  writeFileSync(join(folder, "w.duckdb"), "");
  expect(await told()).toContain(`duckdb -readonly ${join(folder, "w.duckdb")}`);
  expect((await told()).split("\n").at(-1)).toContain("`tributary query`");
});

test("a run with a wrong key, after others, does not end with where the tables are", async () => {
  const simulator = await simulated();
  const { run } = workplace(simulator, { views: false });
  expect((await run(["sync", "items"])).code).toBe(0);
  const refused = await run(["sync", "items"], { env: { KEY: "another-key" } });
  expect(refused.code).toBe(3);
  expect(refused.stdout).not.toContain("Readers find");
});
