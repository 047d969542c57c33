import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Sizes } from "./company.ts";
import { chances, seedOfToday } from "./kills.ts";
import { instantOf, openYard, strict, trial, type Yard } from "./trial.ts";
import { makeDuckdb, makePostgres } from "./warehouse.ts";

const small: Sizes = { orders: 40, invoices: 40, items: 0, findings: 0, ingested: 0 };
/** Answers of many rows, in pages too, details of details, and values of two tables; published as often as can be. */
const shapes = {
  destination: { publish_every: "1s" },
  streams: {
    ...strict.streams,
    include: ["invoice_gl_coding", "invoice_amendments", "fact_lineage", "erp_import_rows", "vendor_completeness"],
    exclude: ["purchase_order_details", "invoice_matches", "items", "findings*", "ingested"],
  },
};
const seed = seedOfToday();
const makes = [
  { name: "duckdb", make: makeDuckdb },
  { name: "postgres", make: makePostgres(inject("postgresUrl")) },
];

describe.each(makes)(`kill -9 of a sync of details of every shape into $name (CRASH_SEED=${seed})`, ({ make }) => {
  let yard: Yard;
  beforeAll(async () => {
    yard = await openYard(make, small, shapes);
  });
  afterAll(() => yard.close());

  for (const scenario of ["first", "night"] as const) {
    for (const chance of chances(2, seed)) {
      it(`${scenario}, at ${chance.toFixed(3)}: the next run ends as if nothing had been`, async () => {
        expect((await trial(yard, scenario, instantOf(yard, scenario, chance))).faults).toEqual([]);
      });
    }
  }
});
