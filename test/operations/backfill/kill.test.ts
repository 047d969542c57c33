import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { key } from "../../crash/company.ts";
import { chances, seedOfToday } from "../../crash/kills.ts";
import { type MakeWarehouse, makeDuckdb, makePostgres } from "../../crash/warehouse.ts";
import { type History, openHistory, trialOf } from "./killed.ts";

const sizes = { orders: 0, invoices: 0, items: 0, findings: 0, ingested: 6_000 };
const makers: readonly { readonly name: string; readonly make: MakeWarehouse }[] = [
  { name: "duckdb", make: makeDuckdb },
  { name: "postgres", make: (...args) => makePostgres(inject("postgresUrl"))(...args) },
];
const seed = seedOfToday();

describe.each(makers)(`kill -9 of a backfill into $name (CRASH_SEED=${seed})`, ({ make }) => {
  let history: History;
  beforeAll(async () => {
    history = await openHistory(make, sizes, { key, latencyMs: 20 });
  });
  afterAll(() => history.close());

  test.each(chances(2, seed))("at %f: the same command ends as if nothing had been", async chance => {
    const { faults, again, open } = await trialOf(history, chance);
    expect(faults).toEqual([]);
    expect(again).toBeLessThanOrEqual(open);
  });
});
