import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Simulator } from "../../simulator/simulator.ts";
import { openCompany } from "./company.ts";
import { sync } from "./killing.ts";
import { holderNamed, startTogether } from "./together.ts";
import { type MakeWarehouse, makeDuckdb, makePostgres } from "./warehouse.ts";

const kinds: readonly (readonly [string, MakeWarehouse])[] = [
  ["DuckDB", makeDuckdb],
  ["PostgreSQL", makePostgres(inject("postgresUrl"))],
];
const few = { destination: { publish_every: "1s" }, streams: { exclude: ["invoice*", "findings*", "ingested"] } };

const LATENCY_MS = 300;

let company: Simulator;
beforeAll(async () => {
  company = await openCompany(
    { orders: 100, invoices: 1, items: 200, findings: 1, ingested: 1 },
    { latencyMs: LATENCY_MS },
  );
});
afterAll(() => company.close());

describe.each(kinds)("two syncs of the same streams, %s", (_name, make) => {
  it("one works, the other is told at once who does, after a publish too", async () => {
    const warehouse = await make(company.url, few);
    const { refused, working } = await startTogether(warehouse);
    expect(refused.code, refused.stderr).toBe(4);
    expect(holderNamed(refused), refused.stderr).toBe(working.child.pid);
    if (warehouse.kind === "duckdb") {
      while ((await readdir(join(warehouse.folder, "w.versions"))).every(name => !/^20.*Z$/.test(name)))
        await sleep(20);
      // However long a third process takes to start, the first is still at work then.
      company.faults.latencyMs = 4_000;
      const late = await sync(warehouse);
      company.faults.latencyMs = LATENCY_MS;
      expect(late.code, late.stderr).toBe(4);
      expect(holderNamed(late), late.stderr).toBe(working.child.pid);
    }
    const worked = await working.ended;
    expect(worked.code, worked.stderr).toBe(0);
    expect(await warehouse.litter()).toEqual([]);
    await warehouse.remove();
  });
});
