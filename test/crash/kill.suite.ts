import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCompany, type Sizes } from "./company.ts";
import { goodSync, killedSync } from "./killing.ts";
import { chances, seedOfToday } from "./kills.ts";
import { repeatsOf } from "./repeats.ts";
import { instantOf, openYard, requestsSoFar, type Scenario, strict, trial, type Yard } from "./trial.ts";
import type { MakeWarehouse } from "./warehouse.ts";

const small: Sizes = { orders: 40, invoices: 20, items: 250, findings: 40, ingested: 150 };
/** The instants are others in each run of the tests. `npm run simulation` takes streams of every shape and many more. */
const few = {
  destination: { publish_every: "1s" },
  streams: {
    ...strict.streams,
    exclude: ["invoice*", "findings*"],
    settings: { purchase_orders: { history: true }, purchase_order_details: { history: true } },
  },
};
const INSTANTS: Readonly<Record<Scenario, number>> = { first: 2, night: 2 };
/** What one transaction stores, and what may be under way beside it. */
const BATCH_ROWS = 5_000;
const IN_FLIGHT = 16;

/** Kills of the process at instants that are drawn anew for each run of the tests, against one kind of warehouse. */
export function killSuite(name: string, make: MakeWarehouse, instants = INSTANTS): void {
  const seed = seedOfToday();
  describe(`kill -9 of a sync into ${name} (CRASH_SEED=${seed})`, () => {
    let yard: Yard;
    beforeAll(async () => {
      yard = await openYard(make, small, few);
    });
    afterAll(() => yard.close());

    for (const scenario of ["first", "night"] as const) {
      for (const chance of chances(instants[scenario], seed)) {
        it(`${scenario}, at ${chance.toFixed(3)}: the next run ends as if nothing had been`, async () => {
          const { faults, repeats } = await trial(yard, scenario, instantOf(yard, scenario, chance));
          expect(faults).toEqual([]);
          expect(repeats.rows).toBeLessThanOrEqual(BATCH_ROWS);
        });
      }
    }
  });
}

/** How much is asked for again after a kill. */
export function repeatsSuite(name: string, make: MakeWarehouse): void {
  describe(`a slow service, ${name}`, () => {
    it("is asked again for no more than the batch in flight after a kill", async () => {
      const company = await openCompany({ ...small, orders: 240, items: 2_500 }, { latencyMs: 150 });
      // Published at its end alone: what comes while a publish lasts is stored later, and that takes as long as the machine does.
      const warehouse = await make(company.url, { streams: few.streams });
      await killedSync(warehouse, company, { by: "requests", value: 200 });
      const killed = await requestsSoFar(company);
      company.faults.latencyMs = 0;
      await goodSync(warehouse);
      const { requests, paths } = await repeatsOf(warehouse, killed, await requestsSoFar(company));
      const last = Math.max(...killed.map(entry => entry.at));
      const ofLastSeconds = killed.filter(entry => entry.at >= last - 2_000);
      expect(killed.length - ofLastSeconds.length).toBeGreaterThan(60);
      expect(requests, paths.join(" ")).toBeLessThanOrEqual(ofLastSeconds.length + IN_FLIGHT);
      await warehouse.remove();
      await company.close();
    });
  });
}
