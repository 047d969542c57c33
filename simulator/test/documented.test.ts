import { afterAll, beforeAll, expect, test } from "vitest";
import { serviceOf } from "../service.ts";
import { type Simulator, startSimulator } from "../simulator.ts";
import { vocabularies } from "../vocabulary/vocabulary.ts";
import { ask, stillClock } from "./reading.ts";
import { checkShape, facts } from "./shape.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ now: stillClock().now });
});
afterAll(() => simulator.close());

test("every documented endpoint has a route, and every route is documented", () => {
  const sizes = { orders: 1, invoices: 1, items: 1, findings: 1, ingested: 1 };
  const chosen = { seed: 1, sizes, linesPerOrder: undefined, vocabulary: vocabularies.plain };
  const service = serviceOf(chosen, stillClock().now, "keyset");
  expect(
    service.routes.map(({ template }) => template).sort(),
    "routes of the simulator (+) against test/facts/endpoints.json (-): a new endpoint needs a route in a domain of simulator/",
  ).toEqual(facts.map(({ path }) => path).sort());
});

test("every documented endpoint without parameters answers in the documented shape", async () => {
  const wrong: string[] = [];
  for (const { path, shape } of facts.filter(fact => !fact.path.includes("{"))) {
    const response = await ask(simulator, path);
    const { data } = (await response.json()) as { data?: unknown };
    // Refused: it wants values that its stream is configured with.
    if (data !== undefined) wrong.push(...checkShape(data, shape, path));
  }
  expect(wrong, "answers of simulator/ against test/facts/endpoints.json").toEqual([]);
});
