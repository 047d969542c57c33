import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, type SimulatorOptions, startSimulator } from "../simulator.ts";
import { ask, type Json, read, stillClock } from "./reading.ts";
import { checkShape, facts, type Shape, seen, shapeAt } from "./shape.ts";

const LANE = "/analytics/lane-intelligence";
const VENDOR = "/completeness/vendors/{vendorId}";
const FIGURES = [
  ...["/briefing", "/exposure", "/items/facets", "/po/matching-settings", "/po/otif-settings"],
  ...["cash-flow", "facets", "payment-funnel", "stats", "vendors"].map(name => `/reconciliation/${name}`),
];
const paths = facts
  .map(({ path }) => path)
  .filter(path => (path.startsWith("/analytics/") && path !== LANE) || FIGURES.includes(path));
const simulators: Simulator[] = [];
afterAll(async () => {
  for (const simulator of simulators) await simulator.close();
});

const SMALL = { orders: 60, invoices: 80, items: 20, findings: 10, ingested: 40 };

async function start(seed: number, sizes = {}, options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator({ seed, sizes, now: stillClock().now, historyDays: 200, ...options });
  simulators.push(simulator);
  return simulator;
}

function checkAll(simulator: Simulator): string[] {
  const check = (template: string, path = template): string[] =>
    checkShape(simulator.truth.get(path), shapeAt(template), template);
  const windows = (name: string, values: readonly number[]): string[] =>
    facts
      .filter(({ path, query }) => paths.includes(path) && query.includes(name))
      .flatMap(({ path }) => values.flatMap(value => check(path, `${path}?${name}=${value}`)));
  return [
    ...paths.flatMap(path => check(path)),
    ...windows("period", [7, 365]),
    ...windows("months", [1, 24]),
    ...["LTL", "FTL"].flatMap(mode => check(LANE, `${LANE}?origin_zip=43604&dest_zip=90802&mode=${mode}`)),
    ...["0001", "0002", "0007", "0012"].flatMap(vendor => check(VENDOR, `/completeness/vendors/VND-${vendor}`)),
  ];
}

const wrong: string[] = [];

beforeAll(async () => {
  for (let seed = 1; seed < 64; seed += 1) {
    const simulator = await start(seed, seed < 3 ? {} : SMALL);
    wrong.push(...checkAll(simulator));
    if (seed >= 3) continue;
    for (const stream of ["contract_reviews", "savings_entries", "invoices", "purchase_orders"]) {
      simulator.update(stream, 3);
      simulator.insert(stream, 2);
      simulator.delete(stream, 1);
    }
    wrong.push(...checkAll(simulator));
  }
});

test("there is an answer for each endpoint of the area", () => {
  expect(paths.length).toBe(16 + FIGURES.length);
});

test("every answer has the documented fields and types, after changes too", () => {
  expect(wrong).toEqual([]);
});

test("over all of them every nullable field is sometimes null, and every loose number comes as number and as string", () => {
  const missing: string[] = [];
  const visit = (shape: Shape, place: string): void => {
    if (shape.kind === "array") visit(shape.items, `${place}[]`);
    if (shape.kind !== "object") return;
    for (const field of shape.fields) {
      const at = `${place}.${field.name}`;
      const types = field.types.includes("any") ? [] : field.types.map(type => (type === "i" ? "n" : type));
      for (const kind of [...types, ...(field.nullable ? ["null"] : [])])
        if (seen.get(at)?.has(kind) !== true) missing.push(`${at} is never ${kind}`);
      if (field.node !== undefined) visit(field.node, at);
    }
  };
  for (const path of [...paths, LANE, VENDOR]) {
    const shape = shapeAt(path);
    if (shape !== null) visit(shape, path);
  }
  expect(missing).toEqual([]);
});

test("told in the other vocabulary, every answer has the documented shape too", async () => {
  for (let seed = 1; seed < 16; seed += 1)
    expect(checkAll(await start(seed, SMALL, { vocabulary: "other" }))).toEqual([]);
});

test("an empty company has figures of nothing", async () => {
  const simulator = await start(5, { orders: 0, invoices: 0, items: 0, findings: 0, ingested: 0 });
  expect(checkAll(simulator)).toEqual([]);
  expect((await read(simulator, "/analytics/savings-tracker")).data["entries"]).toEqual([]);
  expect((await read(simulator, "/reconciliation/vendors")).data["vendors"]).toEqual([]);
});

test("the same request gives the same answer for the whole day", async () => {
  const clock = stillClock("2026-03-15T01:00:00Z");
  const simulator = await start(6, SMALL, { now: clock.now });
  const answers = async () => {
    const all: Json[] = [];
    for (const path of paths) all.push((await read(simulator, path)).data);
    return all;
  };
  const morning = await answers();
  clock.move("2026-03-15T23:00:00Z");
  expect(await answers()).toEqual(morning);
  clock.move("2026-03-16T01:00:00Z");
  expect((await answers())[0]).toBeDefined();
});

test("what the answers name exists in the rest of the company", async () => {
  const simulator = await start(7);
  const { data } = await read(simulator, "/analytics/spend?period=700");
  const vendors = data["spend_by_vendor"] as Json[];
  expect(vendors.length).toBeGreaterThan(3);
  for (const { vendor_id: id } of vendors) {
    if (id !== null) expect((await read(simulator, `/completeness/vendors/${id}`)).data["vendor_id"]).toBe(id);
  }
  const stats = (await read(simulator, "/reconciliation/stats")).data["reconciliation"] as Json;
  expect(stats["total"]).toBe(simulator.truth.count("invoices"));
  const tracker = (await read(simulator, "/analytics/savings-tracker")).data;
  expect(tracker["entries"]).toEqual([...simulator.truth.rows("savings_entries")]);
  expect((await read(simulator, "/analytics/contract-reviews")).data["history"]).toEqual([
    ...simulator.truth.rows("contract_reviews"),
  ]);
});

test("unknown vendors are not found, and windows and lanes that make no sense are refused", async () => {
  const simulator = await start(8, SMALL);
  for (const id of ["VND-9999", "x", "%20"])
    expect((await ask(simulator, `/completeness/vendors/${id}`)).status).toBe(404);
  for (const query of ["period=0", "period=soon", "period=-1"])
    expect((await ask(simulator, `/analytics/spend?${query}`)).status).toBe(422);
  expect((await ask(simulator, "/analytics/savings?months=1.5")).status).toBe(422);
  expect((await ask(simulator, `${LANE}?origin_zip=43604`)).status).toBe(422);
});
