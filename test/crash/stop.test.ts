import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { RequestEntry, Simulator } from "../../simulator/simulator.ts";
import { openCompany } from "./company.ts";
import { type Ended, goodSync, startSync, sync } from "./killing.ts";
import { differences, tablesOf } from "./tables.ts";
import { requestsSoFar } from "./trial.ts";
import { type MakeWarehouse, makeDuckdb, makePostgres, type Warehouse } from "./warehouse.ts";

const kinds: readonly (readonly [string, MakeWarehouse])[] = [
  ["DuckDB", makeDuckdb],
  ["PostgreSQL", makePostgres(inject("postgresUrl"))],
];
const few = { streams: { defaults: { details: { audit: 0 } }, exclude: ["invoice*", "findings*", "ingested"] } };
const details = "/po/{po_number}";
/** Requests that may be under way when a run is stopped, or answered and not yet looked at. */
const UNDER_WAY = 16;

let company: Simulator;
beforeAll(async () => {
  company = await openCompany({ orders: 250, invoices: 1, items: 6_000, findings: 1, ingested: 1 });
});
afterAll(() => company.close());

/** A sync that gets the signals once so many requests of an endpoint have come. */
async function stopped(
  warehouse: Warehouse,
  template: string,
  count: number,
  ...signals: readonly NodeJS.Signals[]
): Promise<Ended> {
  const running = startSync(warehouse);
  while (company.requests.count(template) < count && running.child.exitCode === null) await sleep(1);
  for (const signal of signals) running.child.kill(signal);
  return running.ended;
}

const identity = ({ path, query }: RequestEntry): string => `${path}?${new URLSearchParams(query)}`;

describe.each(kinds)("runs that are stopped, %s", (_name, make) => {
  it("each go on where the one before was stopped, and end as if they had been one", async () => {
    const undisturbed = await make(company.url, few);
    await goodSync(undisturbed);
    const expected = await tablesOf(undisturbed);
    await undisturbed.remove();
    await requestsSoFar(company);
    const warehouse = await make(company.url, few);
    const fetched = new Set<string>();
    /** Pages of the list under way, and details, that this run was given though an earlier one had been. */
    const repeated = async () => {
      const answered = (await requestsSoFar(company)).filter(entry => entry.status === 200);
      const paths = answered.filter(entry => ["/items", details].includes(entry.template)).map(identity);
      const again = paths.filter(path => fetched.has(path));
      for (const path of paths) fetched.add(path);
      return again.length;
    };

    company.faults.latencyMs = 150;
    const inScan = await stopped(warehouse, "/items", 8, "SIGINT");
    expect(inScan.code, inScan.stderr).toBe(130);
    expect(inScan.stdout).toMatch(/Saved: .*begun, \d+ rows read and kept: items.*Stopped by SIGINT/s);
    expect(await repeated()).toBe(0);

    const inDetails = await stopped(warehouse, details, 40, "SIGTERM");
    expect(inDetails.code, inDetails.stderr).toBe(143);
    expect(inDetails.stdout).toMatch(/Saved: .*purchase_order_details.*Stopped by SIGTERM/s);
    expect(await repeated()).toBeLessThanOrEqual(UNDER_WAY);

    const before = fetched.size;
    const twice = await stopped(warehouse, details, 20, "SIGINT", "SIGINT");
    expect(twice.code, twice.stderr).toBe(130);
    expect(await repeated()).toBeLessThanOrEqual(UNDER_WAY);
    /** The second signal waits for nothing: what this run was given and had not yet stored is asked for once more. */
    const lost = fetched.size - before;

    const budget = await sync(warehouse, ["--max-requests", "25"]);
    expect(budget.code, budget.stderr).toBe(5);
    expect(company.requests.total).toBe(25);
    let again = await repeated();

    const hurried = await sync(warehouse, ["--max-time", "1s"]);
    expect(hurried.code, hurried.stderr).toBe(5);
    // On a slow machine the time may be over before the first stream begins: then stderr says so.
    expect(hurried.stdout + hurried.stderr).toMatch(/--max-time/);
    again += await repeated();

    company.faults.latencyMs = 0;
    const last = await goodSync(warehouse);
    expect(last.stdout).toMatch(/succeeded/);
    again += await repeated();
    expect(again).toBeLessThanOrEqual(lost + 2 * UNDER_WAY);
    expect(differences(expected, await tablesOf(warehouse))).toEqual([]);
    expect(await warehouse.litter()).toEqual([]);
    await warehouse.remove();
  });
});
