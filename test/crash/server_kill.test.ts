import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, startPostgres } from "../support/server.ts";
import { chances, seedOfToday } from "./kills.ts";
import { serverTrial } from "./server_kill.ts";
import { instantOf, openYard, type Yard } from "./trial.ts";
import { makePostgres } from "./warehouse.ts";

const seed = seedOfToday();

describe(`kill -9 of PostgreSQL under a sync (CRASH_SEED=${seed})`, () => {
  let server: PostgresServer;
  let yard: Yard;
  beforeAll(async () => {
    server = await startPostgres();
    const sizes = { orders: 40, invoices: 20, items: 250, findings: 40, ingested: 150 };
    yard = await openYard(makePostgres(server.url), sizes, { streams: { exclude: ["invoice*", "findings*"] } });
  });
  afterAll(async () => {
    await yard.close();
    await server.close();
  });

  // The last tenth of a run is too near its end to be hit for certain.
  for (const [index, chance] of chances(2, seed).entries()) {
    const scenario = index === 1 ? "night" : "first";
    it(`${scenario}, at ${(chance * 0.9).toFixed(3)}: the run goes on when it is back, and ends as if nothing had been`, async () => {
      const outcome = await serverTrial(yard, server, scenario, instantOf(yard, scenario, chance * 0.45));
      expect(outcome.faults).toEqual([]);
      expect([outcome.code, outcome.errors]).toEqual([0, []]);
    });
  }
});
